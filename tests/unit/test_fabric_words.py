"""What scenarios say of a fabric: classes of hosts, and slow uplinks as a site."""

from pathlib import Path
from typing import Any, cast

from causeway.lab.lab import Lab
from causeway.model.load import load_site
from causeway.model.thing import Port
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import classes, host_mbit, slower
from causeway.scenario.words.streams import Lone

XE = load_site(Path(__file__).parents[2] / "topologies/xe/site.yaml")


class AStage:
    """A stage with a site, on which nothing is done."""

    site = XE
    lab = Lab(XE, Path("/nowhere"))


STAGE = cast(Stage, AStage())


def lone(rate: float) -> Lone:
    return Lone(rate, "", rate, cast(Any, None))


def test_hosts_that_are_as_fast_but_for_a_little_are_one_class() -> None:
    rates = {"a": 1138.5, "b": 742.4, "c": 1130.0, "d": 742.9}
    assert classes({host: lone(rate) for host, rate in rates.items()}) == [["a", "c"], ["d", "b"]]
    assert classes({"a": lone(1138.0), "b": lone(1138.5)}) == [["b", "a"]]
    assert classes({}) == []


def test_slow_uplinks_are_a_change_of_both_ends_of_each_cable_and_another_site() -> None:
    fabric = Ask(XE).fabric()
    change, site = slower(STAGE, fabric.cables, 750, "slow")
    assert [(step.node, step.argv[4]) for step in change.there[:2]] == [("line1", "up1"), ("spine1", "line1")]
    assert len(change.there) == len(change.back) == 12
    assert all("750mbit" in step.argv for step in change.there)
    assert all("1500mbit" in step.argv for step in change.back)
    assert {site.sends_mbit(port) for port in fabric.cables} == {750}
    assert site.sends_mbit(Port("x1", "ib0")) == 1150


def test_what_a_host_sends_is_its_cables_payload() -> None:
    assert round(host_mbit(STAGE, Ask(XE).fabric()), 1) == 1138.5


def test_a_site_without_such_switches_says_what_it_lacks() -> None:
    small = load_site(Path(__file__).parents[2] / "topologies/small/site.yaml")
    said = Ask(small).maybe(Ask(small).fabric)
    assert said is None
