"""What bounds a node beside its wire: kept by the shapers at both ends of its cable, and known to what is computed."""

from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
import yaml

from causeway.errors import BadInput
from causeway.lab.faults.links import link_rate
from causeway.lab.lab import Lab
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.bounds import bounds, leaves_mbit
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.streams import StreamEnds, expect
from causeway.rehearse.compare import reach_moves
from causeway.rehearse.reach import Reach
from causeway.render.network import ports

TOPOLOGIES = Path(__file__).parents[2] / "topologies"
JUBL = load_site(TOPOLOGIES / "jubl/site.yaml")
SMALL = load_site(TOPOLOGIES / "small/site.yaml")
IONS = JUBL.diskless()
ION = IONS[0]
#: Mbit/s of a wire that TCP fills with 846 and 795 Mbit/s of payload: 1538 bytes carry 1448.
RECEIVES_WIRE, SENDS_WIRE = 846 * 1538 / 1448, 795 * 1538 / 1448


def small(folder: Path, of: str = "boat", **keys: Any) -> Site:
    """small with more keys at a pool, or at a node that stands by itself."""
    data = yaml.safe_load((TOPOLOGIES / "small/site.yaml").read_text())
    place = data["pools"] if of in data["pools"] else data["nodes"]
    place[of] |= keys
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return load_site(file)


def stream(site: Site, sender: str, receiver: str, port: int = 5101) -> StreamEnds:
    here, there = (site.known_by(name).address for name in (sender, receiver))
    return StreamEnds(f"{sender}>{receiver}", sender, (here, port), (there, 5011))


def test_the_redpapers_numbers_are_jubls() -> None:
    assert {(JUBL.nodes[ion].receive_mbit, JUBL.nodes[ion].send_mbit) for ion in IONS} == {(846, 795)}
    assert JUBL.nodes["nsd01"].receive_mbit is None


def test_a_bound_is_kept_by_the_shaper_of_who_sends_to_the_node_or_by_its_own() -> None:
    assert leaves_mbit(JUBL, Port("zam870", ION)) == pytest.approx(RECEIVES_WIRE)
    assert leaves_mbit(JUBL, Port(ION, "eth0")) == pytest.approx(SENDS_WIRE)
    assert leaves_mbit(JUBL, Port("FEN", "eth6")) == 1000
    assert ports(JUBL, ION) == f"eth0 1000 1500 host 844.413 0 zam870:{ION}\n"
    assert f"{ION} 1000 1500 switch 898.5829 0 {ION}:eth0\n" in ports(JUBL, "zam870")


def test_a_bound_says_whose_it_is() -> None:
    assert [str(bound) for bound in bounds(JUBL, Port("zam870", ION))] == [f"{ION} receives at most 846"]
    assert [str(bound) for bound in bounds(JUBL, Port(ION, "eth0"))] == [f"{ION} sends at most 795"]


def test_a_stream_alone_gets_what_the_node_can_and_is_told_whose_bound_that_is() -> None:
    for ends, rate, bound in (
        (stream(JUBL, "nsd01", ION), 846, f"{ION} receives at most 846"),
        (stream(JUBL, ION, "nsd01"), 795, f"{ION} sends at most 795"),
        (stream(JUBL, ION, IONS[1]), 795, f"{ION} sends at most 795"),
    ):
        expected = expect(JUBL, [ends])
        assert expected.rates[ends.label] == pytest.approx(rate)
        assert expected.bounds[ends.label] == expected.bounding_node(ends.label) == bound


def test_where_a_link_is_shared_the_link_bounds_and_what_the_node_leaves_the_others_get() -> None:
    """The Redpaper's eight streams, split 1-1-2-4: two at what an I/O node receives, two halves, four quarters."""
    wire, split = tcp_goodput_mbit(1000, 1500), {"eth2": 1, "eth3": 1, "eth4": 2, "eth5": 4}
    ends: list[StreamEnds] = []
    left = dict(split)
    for port in range(5101, 9000, 2):
        if not any(left.values()):
            break
        ion = next(ion for ion in IONS if ion not in {e.label for e in ends})
        source, target = (IPv4Address("10.2.64.202"), port), (JUBL.known_by(ion).address, 5011)
        one = StreamEnds(ion, "nsd01", source, target)
        member = expect(JUBL, [one]).member(ion, "nsd01")
        if left[member]:
            left[member] -= 1
            ends.append(one)
    expected = expect(JUBL, ends)
    rates = sorted(round(rate, 2) for rate in expected.rates.values())
    assert rates == pytest.approx([wire / 4] * 4 + [wire / 2] * 2 + [846, 846], abs=0.01)
    held = {label for label in expected.rates if expected.bounding_node(label)}
    assert {label for label in expected.rates if expected.rates[label] > 800} == held


def test_what_one_receives_less_the_other_on_its_link_gets(tmp_path: Path) -> None:
    data = yaml.safe_load((TOPOLOGIES / "small/site.yaml").read_text())
    data["pools"]["boat"] |= {"names": ["wren", "gull"]}
    boat = data["nodes"]["lark"] = {
        **{key: data["pools"]["boat"][key] for key in ("cluster", "role", "routes")},
        "interfaces": {"eth0": {"network": "sea", "address": "10.20.0.41", "names": ["lark"]}},
        "receive_mbit": 100,
    }
    data["links"].append({"ends": ["lark:eth0", "basin:lark"]})
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    site = load_site(file)
    assert boat["receive_mbit"] == site.nodes["lark"].receive_mbit
    both = [stream(site, "pier", "lark"), stream(site, "pier", "wren")]  # through the lock's 500 Mbit/s
    rates = expect(site, both).rates
    assert rates == pytest.approx({"pier>lark": 100, "pier>wren": tcp_goodput_mbit(500, 1500) - 100})


def test_a_bound_above_the_wires_rate_bounds_nothing(tmp_path: Path) -> None:
    site = small(tmp_path, receive_mbit=5000)
    ends = stream(site, "quay1", "lark")
    expected = expect(site, [ends])
    assert expected.rates == expect(SMALL, [ends]).rates
    assert expected.bounding_node(ends.label) == ""
    assert leaves_mbit(site, Port("basin", "lark")) == 1000


def test_a_bound_is_said_in_packets_of_1500_and_smaller_ones_carry_less(tmp_path: Path) -> None:
    site = small(tmp_path, send_mbit=500)
    site = replace(site, mtus={Port("lark", "eth0"): 1400})
    assert leaves_mbit(site, Port("lark", "eth0")) == pytest.approx(500 * 1538 / 1448)
    ends = stream(site, "lark", "wren")
    expected = expect(site, [ends])
    assert expected.rates[ends.label] == pytest.approx(500 * 1538 / 1448 * 1348 / 1438)
    assert expected.bounds[ends.label] == "lark sends at most 500 in packets of 1500"


def test_a_node_that_stands_by_itself_may_have_one(tmp_path: Path) -> None:
    site = small(tmp_path, "pier", send_mbit=300)
    ends = stream(site, "pier", "quay1")
    assert expect(site, [ends]).bounds[ends.label] == "pier sends at most 300"


@pytest.mark.parametrize(
    ("of", "key", "what"),
    [
        ("quay", "receive_mbit", "pools.quay.receive_mbit: quay1 has 4 cables"),
        ("lock", "send_mbit", "nodes.lock.send_mbit: lock has 4 cables"),
    ],
)
def test_a_node_with_several_cables_has_no_bound_of_its_own(of: str, key: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        small(tmp_path, of, **{key: 500})
    (problem,) = caught.value.problems
    assert f"{what}, and nothing in a lab bounds what it has of all of them together" in str(problem)
    assert str(problem).endswith("give its cables a `rate_mbit` instead")


@pytest.mark.parametrize(
    ("rate_mbit", "own", "switchs"), [(100, "100", "100"), (890, "844.413", "890"), (2000, "844.413", "898.5829")]
)
def test_a_slower_wire_is_slower_and_a_faster_one_does_not_make_the_node_so(
    rate_mbit: float, own: str, switchs: str, tmp_path: Path
) -> None:
    change = link_rate(Lab(JUBL, tmp_path), ION, "eth0", rate_mbit)

    def shaped(steps: Any) -> dict[str, str]:
        return {step.node: step.argv[step.argv.index("rate") + 1] for step in steps}

    assert shaped(change.there) == {ION: f"{own}mbit", "zam870": f"{switchs}mbit"}
    assert shaped(change.back) == {ION: "844.413mbit", "zam870": "898.5829mbit"}


def test_a_change_of_a_bound_is_predicted_with_its_name(tmp_path: Path) -> None:
    moves = reach_moves(Reach(SMALL), Reach(small(tmp_path, receive_mbit=400)))
    (move,) = (move for move in moves if any("lark" in pair for pairs in move.pairs.values() for pair in pairs)
               and "wren" in move.pairs and move.about == "one stream")  # fmt: skip
    assert (move.turn, move.before, move.after) == ("worse", "941.5 Mbit/s", "400.0 Mbit/s ({b} receives at most 400)")
