"""The catalogue of faults, mistakes in their parameters, and how their undos are kept. Nothing here starts a lab."""

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from causeway.cli import inside
from causeway.cli.app import main
from causeway.errors import BadInput, LabBroken
from causeway.lab.changes.change import Change, Step
from causeway.lab.faults import ledger, links
from causeway.lab.faults.catalogue import FAULTS, find
from causeway.lab.lab import Lab
from causeway.model.load import load_site

REPO = Path(__file__).parents[2]
SITE = load_site(REPO / "topologies/jubl/site.yaml")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_says_what_it_is_its_parameters_how_it_is_made_what_it_triggers_and_how_to_look(name: str) -> None:
    fault = FAULTS[name]
    for text in (fault.state, fault.injected, fault.triggers, fault.look):
        assert text.endswith(".") and (text[0].isupper() or text[0] == "`"), text
    assert fault.state.count(".") == 1  # one sentence, for the list
    assert fault.parameters and all(parameter.kind.meaning for parameter in fault.parameters)
    for told in (name.replace("_", " "), *name.split("_")[1:]):
        assert told not in fault.look.split(), "the hint gives the fault away"


GOOD = {
    "link_lossy node=nsd01 device=eth3 percent=2.5": {"node": "nsd01", "device": "eth3", "percent": 2.5},
    "link_down node=zam870 device=nsd01-1": {"node": "zam870", "device": "nsd01-1"},
    "route_missing node=SN to=10.1.33.202": {"node": "SN", "to": "10.1.33.202"},
    "clock_wrong node=FEN seconds=-3": {"node": "FEN", "seconds": -3.0},
    "port_mtu node=zam870 device=FEN-1 mtu=8192": {"node": "zam870", "device": "FEN-1", "mtu": 8192},
    "name_missing server=SN name=FEN-b": {"server": "SN", "name": "FEN-b"},
    "address_twice node=cn01 address=10.1.44.12": {"node": "cn01", "address": "10.1.44.12"},
    "snooping_on switch=zam870": {"switch": "zam870"},
}


@pytest.mark.parametrize("typed", GOOD)
def test_what_is_typed_becomes_the_faults_values(typed: str) -> None:
    name, *words = typed.split()
    assert find(name).read(words, SITE) == GOOD[typed]


BAD = {
    "link_down": ["node is missing: a node", "device is missing: what the cable is in"],
    "link_down nsd01": ["nsd01: say PARAM=VALUE", "node is missing"],
    "link_down node=nsd1 device=eth3": ["node: there is no node nsd1; use nsd01"],
    "link_down node=nsd01 device=eth9": ["device: there is no cable at nsd01:eth9; use nsd01:eth"],
    "link_down node=nsd01 device=bond0": ["device: there is no cable at nsd01:bond0"],
    "link_lossy node=x device=eth3 percent=101": ["node: there is no node x", "percent: 101 is out of range"],
    "link_lossy node=nsd01 device=eth3 percent=nan": ["percent: nan is out of range"],
    "link_rate node=nsd01 device=eth3 rate_mbit=fast": ["rate_mbit: 'fast' is no number"],
    "port_mtu node=zam870 device=FEN-1 mtu=20": ["mtu: 20 is out of range; use more than 67, up to 9216"],
    "link_delayed node=nsd01 device=eth3 delay_ms=0": ["delay_ms: 0 is out of range; use more than 0, up to 10000"],
    "route_missing node=nsd01 to=10.2.64.0/22": ["to: there is no static route of nsd01 to 10.2.64.0/22"],
    "route_wrong node=SN to=10.1.33.202 via=10.1.33.203": ["via: 10.1.33.203 is no neighbour of SN; use an address in"],
    "route_wrong node=SN to=10.1.33.202 via=FEN": ["via: FEN is no neighbour of SN"],
    "name_missing server=FEN name=nobody": [
        "server: there is no name server FEN",
        "name: there is no host name nobody",
    ],
    "name_missing server=SN name=SN": ["name: SN is the zone's own name server, and named takes no zone whose server"],
    "clock_wrong node=SN seconds=0": ["node: there is no node that takes its time from another SN", "seconds: 0 is"],
    "service_stopped node=SN service=a;b": ["service: 'a;b' is no daemon's name"],
    "service_slow node=SN service=named seconds=0": ["seconds: 0 is out of range"],
    "address_twice node=cn01 address=10.9.9.9": ["address: 10.9.9.9 is no neighbour of cn01; use an address in"],
    "snooping_on switch=FEN": ["switch: there is no switch that learns FEN; use"],
    "export_moved path=bgl": ["path: bgl is no whole path"],
    "host_key_wrong node=zam870": ["node: there is no node with a root user zam870"],
    "host_key_wrong node=SN colour=red": ["colour: host_key_wrong has no such parameter"],
}


@pytest.mark.parametrize("typed", BAD)
def test_every_mistake_is_named_at_once_with_the_usage(typed: str) -> None:
    name, *words = typed.split()
    with pytest.raises(BadInput) as caught:
        find(name).read(words, SITE)
    *said, usage = str(caught.value).splitlines()
    assert len(said) >= len(BAD[typed])
    for part in BAD[typed]:
        assert any(line.startswith(part) for line in said), said
    assert usage.startswith(f"usage: causeway fault inject {name} ")


def test_an_unknown_fault_is_refused_with_the_names() -> None:
    with pytest.raises(BadInput, match=r"there is no fault link; the faults are address_twice, .*snooping_on"):
        find("link")


def test_the_list_needs_no_lab_and_as_json_is_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fault", "list"]) == 0
    text = capsys.readouterr().out
    assert main(["fault", "list", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert [row["name"] for row in rows] == list(FAULTS) and err == ""
    for row in rows:
        assert set(row) == {"name", "state", "parameters", "look"}
        assert row["name"] in text and row["look"] in " ".join(text.split())


def test_link_faults_restore_the_queues_that_adapters_makes() -> None:
    adapters = (REPO / "nodes/base/adapters").read_text()
    assert f"qdisc replace dev $device {links.FAIR_QUEUE}" in adapters
    assert f"qdisc replace dev $device {links.SHAPER.replace('{rate}', '${rate}')}" in adapters


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """The steps that were taken, in place of running them; one whose command is `false` fails."""
    steps: list[Step] = []

    def take(step: Step, _: Lab) -> str:
        steps.append(step)
        if step.argv == ("false",):
            raise LabBroken("it failed")
        return ""

    monkeypatch.setattr(Step, "take", take)
    return steps


def test_an_injection_that_fails_half_way_is_undone_at_once(taken: list[Step], tmp_path: Path) -> None:
    there, back = Step("SN", ("there",)), Step("SN", ("back",))
    with pytest.raises(LabBroken, match="it failed"):
        Change("half", (there, Step("SN", ("false",)), there), (back,)).make(Lab(SITE, tmp_path))
    assert [step.argv for step in taken] == [("there",), ("false",), ("back",)]


def test_an_undo_is_kept_as_it_is_readable_by_its_owner_alone(taken: list[Step], tmp_path: Path) -> None:
    lab = Lab(SITE, tmp_path)
    steps = (Step("SN", ("sh", "-c", "cat"), stdin="a key\n"), Step("FEN", ("ip", "link"), plugged=True))
    assert ledger.inject(lab, "host_key_wrong", Change("a key", (), steps)) == 1
    assert ledger.entries(lab) == [ledger.Entry(1, "host_key_wrong", steps)]
    assert stat.S_IMODE((tmp_path / "faults/1.json").stat().st_mode) == 0o600
    ledger.clear(lab, ledger.entries(lab)[0])
    assert taken == list(steps)


def test_faults_are_cleared_by_id_or_all_the_last_one_first(taken: list[Step], tmp_path: Path) -> None:
    lab = Lab(SITE, tmp_path)
    for number in range(1, 13):
        ledger.inject(lab, "link_down", Change("down", (), (Step("SN", (f"undo{number}",)),)))
    ledger.clear(lab, ledger.choose(lab, "3")[0])
    assert [entry.id for entry in ledger.choose(lab, "all")] == [12, 11, 10, 9, 8, 7, 6, 5, 4, 2, 1]
    ledger.clear(lab, ledger.choose(lab, "3")[0])  # a second time
    assert [step.argv for step in taken] == [("undo3",)]
    with pytest.raises(BadInput, match="there is no fault 13; there are: 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12"):
        ledger.choose(lab, "13")
    assert ledger.inject(lab, "link_down", Change("down", (), ())) == 13  # an id is never given again


def test_what_a_later_fault_has_changed_too_is_not_cleared_before_it(tmp_path: Path) -> None:
    lab = Lab(SITE, tmp_path)
    for via in ("10.2.64.202", "10.2.64.203"):
        step = Step("SN", ("ip", "route", "replace", "10.1.33.202", "via", via), plugged=True)
        ledger.inject(lab, "route_wrong", Change("astray", (), (step,)))
    with pytest.raises(BadInput, match="fault 2 has since changed the same thing as 1; clear that first"):
        ledger.choose(lab, "1")
    assert [entry.id for entry in ledger.choose(lab, "2")] == [2]


def test_a_fault_that_could_not_be_made_is_cleared_and_one_that_could_not_be_undone_is_left_to_be(
    taken: list[Step], tmp_path: Path
) -> None:
    lab, back, fails = Lab(SITE, tmp_path), Step("SN", ("back",)), Step("SN", ("false",))
    with pytest.raises(LabBroken, match="it failed"):
        ledger.inject(lab, "link_down", Change("down", (fails,), (back,)))
    assert ledger.choose(lab, "all") == [] and back in taken
    with pytest.raises(LabBroken, match="it failed"):
        ledger.inject(lab, "link_down", Change("down", (fails,), (fails, back)))
    assert [entry.id for entry in ledger.choose(lab, "all")] == [2]


def test_no_run_plays_while_a_fault_is_in(taken: list[Step], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(SITE, tmp_path)
    ledger.inject(lab, "link_down", Change("a link", (), (Step("SN", ("back",)),)))
    monkeypatch.setattr(Lab, "find", lambda: lab)
    monkeypatch.setattr(inside, "play_all", lambda *_: pytest.fail("it plays"))
    with pytest.raises(BadInput, match=r"fault 1 \(link_down\) is in jubl; first: causeway fault clear"):
        inside.run(["single_stream"], 1, datetime.now(UTC), None, print, (1, 1), as_json=False)
    ledger.clear(lab, ledger.entries(lab)[0])
    ledger.refuse(lab)
    assert taken
