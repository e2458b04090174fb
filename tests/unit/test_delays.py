"""Cables that have a length: kept by what lies below the shapers at both ends, and known to what is computed."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from causeway.lab.changes.change import Step
from causeway.lab.faults import link_delayed, link_lossy, links
from causeway.lab.lab import Lab
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.delays import one_way_ms, round_trip_ms, window_bytes, window_mbit
from causeway.plan.paths import Ways, without_routes
from causeway.plan.streams import StreamEnds, expect
from causeway.rehearse.alike import alike
from causeway.rehearse.compare import reach_moves
from causeway.rehearse.reach import Reach
from causeway.render.drawing.page import ways
from causeway.render.graph import as_data, mermaid
from causeway.render.network import ports

REPO = Path(__file__).parents[2]
DEISA = load_site(REPO / "topologies/deisa/site.yaml")
#: Between JUMP's nodes and RZG's.
TRIP_MS = 6


def known(site: Site, node: str) -> tuple[str, str]:
    return node, str(site.known_by(node).address)


def small(folder: Path, delay: float = 0, of: str = "") -> Site:
    """small with a length of all cables of a network, or, of none, of the cable between its two switches."""
    data = yaml.safe_load((REPO / "topologies/small/site.yaml").read_text())
    if of:
        data["networks"][of]["delay_ms"] = delay
    else:
        data["links"][1]["delay_ms"] = delay
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return load_site(file)


def test_a_cable_has_its_own_length_or_its_networks() -> None:
    lengths = {cable.delay_ms for cable in DEISA.cables if cable.network == "wan"}
    assert lengths == {3} and {cable.delay_ms for cable in DEISA.cables if cable.network != "wan"} == {0}


def test_of_a_network_every_cable_is_as_long_also_in_channels(tmp_path: Path) -> None:
    site = small(tmp_path, 0.25, "sea")
    assert {c.delay_ms for c in site.cables if c.network == "sea"} == {0.25}
    assert site.cable_at(Port("quay1", "eth1")).delay_ms == 0.25
    assert "eth1 1000 1500 host 1000 0.25 basin:quay1-1\n" in ports(site, "quay1")


def test_ports_have_the_length_and_adapters_hold_frames_back_below_the_shaper() -> None:
    assert "eth1 1000 1500 host 1000 3 garching:eth0\n" in ports(DEISA, "deisa")
    assert "eth0 1000 1500 host 1000 0 zam870:deisa\n" in ports(DEISA, "deisa")
    adapters = (REPO / "nodes/base/adapters").read_text()
    assert f"qdisc replace dev $device {links.LONG.replace('{ms:g}', '${delay}')}" in adapters
    assert f"qdisc replace dev $device {links.LONG_QUEUE}" in adapters


@pytest.mark.parametrize(
    ("one", "other", "trip"),
    [("psi01", "nsd01", 6), ("psi01", "FEN", 6), ("cn01", "fs02", 6), ("psi01", "fs01", 0), ("SN", "nsd01", 0)],
)
def test_the_round_trip_between_any_two_nodes_is_known(one: str, other: str, trip: float) -> None:
    ways = Ways(DEISA)
    here, there = (DEISA.known_by(node).address for node in (one, other))
    assert round_trip_ms(ways, one, here, there) == trip == round_trip_ms(ways, other, there, here)
    assert one_way_ms(DEISA, ways.path(one, there)) == trip / 2


def test_a_stream_has_one_window_in_each_round_trip_and_no_more_than_its_wires() -> None:
    ends = ((DEISA.known_by("psi01").address, 6000), (DEISA.known_by("cn01").address, 5011))
    stream = StreamEnds("s", "psi01", *ends)
    alone = expect(DEISA, [stream]).rates["s"]
    assert alone == pytest.approx(941.482, abs=0.001)
    narrow = expect(DEISA, [replace(stream, window=150_000)])
    assert narrow.rates["s"] == pytest.approx(150_000 * 8 / 6000) == pytest.approx(window_mbit(150_000, TRIP_MS))
    assert narrow.bounds["s"] == "s has 150000 bytes under way in each 6 ms"
    assert expect(DEISA, [replace(stream, window=10**7)]).rates["s"] == alone
    assert window_mbit(window_bytes(alone, TRIP_MS), TRIP_MS) == pytest.approx(alone, rel=1e-5)


def test_what_a_narrow_stream_leaves_others_get() -> None:
    address = {node: DEISA.known_by(node).address for node in DEISA.nodes if DEISA.nodes[node].interfaces}
    wide = StreamEnds("wide", "psi01", (address["psi01"], 6000), (address["cn01"], 5011))
    narrow = StreamEnds("narrow", "psi02", (address["psi02"], 6002), (address["cn02"], 5011), window=150_000)
    rates = expect(DEISA, [wide, narrow]).rates
    assert rates["narrow"] == pytest.approx(200) and rates["wide"] == pytest.approx(741.482, abs=0.001)


def test_a_window_bounds_nothing_where_a_round_trip_takes_no_time() -> None:
    ends = ((DEISA.known_by("psi01").address, 6000), (DEISA.known_by("fs01").address, 5011))
    assert expect(DEISA, [StreamEnds("s", "psi01", *ends, window=1000)]).rates["s"] > 900


def test_a_stream_without_a_way_back_is_expected_all_the_same() -> None:
    ends = ((DEISA.known_by("psi01").address, 6000), (DEISA.known_by("cn01").address, 5011))
    assert expect(without_routes(DEISA, ["cn01"], ["rz"]), [StreamEnds("s", "psi01", *ends)]).rates["s"] > 900


def test_a_change_of_length_is_predicted_with_the_window_that_the_rate_takes(tmp_path: Path) -> None:
    before, after = small(tmp_path, 0), small(tmp_path, 4)
    moves = reach_moves(Reach(before), Reach(after))
    assert {(move.about, move.turn, move.before) for move in moves} == {("round trip", "worse", "0 ms")}
    (trip,) = (move for move in moves if "gull:eth0" in move.pairs.get("pier", ()))
    assert trip.after == "8 ms (a window of 460 KiB for the whole rate)"  # 500 Mbit/s of wire
    assert all("gull:eth0" not in move.pairs.get("wren", ()) for move in moves)


def test_nodes_whose_cables_differ_in_length_are_not_alike(tmp_path: Path) -> None:
    data = yaml.safe_load((REPO / "topologies/small/site.yaml").read_text())
    boat = data["pools"].pop("boat")
    for number, name in enumerate(boat["names"]):
        leg = {"network": "sea", "address": f"10.20.0.{31 + number}", "names": [name]}
        data["nodes"][name] = {"cluster": "Fleet", "role": "client", "interfaces": {"eth0": leg}}
        data["links"].append({"ends": [f"{name}:eth0", f"basin:{name}"]})
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump(data))
    assert ["gull", "lark", "wren"] in alike(load_site(file))
    data["links"][2]["delay_ms"] = 1
    file.write_text(yaml.safe_dump(data))
    assert ["gull", "wren"] in alike(load_site(file))


def test_drawings_and_data_have_the_length() -> None:
    assert '"wan, 1 Gbit/s, 3 ms"' in mermaid(DEISA)
    assert {link["delay_ms"] for link in as_data(DEISA)["links"] if link["network"] == "wan"} == {3}
    found = ways(DEISA)
    assert found["cn01"]["psi01"]["hops"][-1] == "under way for 3 ms"
    assert "under way" not in "".join(found["cn01"]["FEN"]["hops"])


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was typed, in place of running it."""
    typed: list[str] = []

    def take(step: Step, _: Lab) -> str:
        typed.append(" ".join(step.argv))
        return ""

    monkeypatch.setattr(Step, "take", take)
    return typed


def test_a_fault_leaves_a_long_cable_its_length_and_gives_it_back(taken: list[str], tmp_path: Path) -> None:
    lab = Lab(DEISA, tmp_path)
    link_delayed(lab, "deisa", "eth1", 2).make(lab)()
    assert "tc qdisc replace dev eth1 parent 1: handle 21: netem limit 10000000 delay 5ms" in taken
    assert taken[-2:] == [
        "tc qdisc replace dev eth0 parent 1: handle 20: netem limit 10000000 delay 3ms",
        "tc qdisc replace dev eth0 parent 20: handle 30: fq_codel flows 16384",
    ]
    taken.clear()
    link_lossy(lab, "deisa", "eth1", 1).make(lab)
    assert "tc qdisc replace dev eth1 parent 1: handle 21: netem limit 10000000 delay 3ms loss 1%" in taken
