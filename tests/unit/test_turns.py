"""Programs that take turns: rings beside the formula, ping-pong beside the cases that can be told by hand."""

import random
from pathlib import Path

import pytest

from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fabrics import fabric
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.paths import at_rate
from causeway.plan.turns import late_mbit, ring_mbit
from causeway.scenario.words.turns import RING, ring_seen_mbit

XE = load_site(Path(__file__).parents[2] / "topologies/xe/site.yaml")
FABRIC = fabric(XE, "ib", [name for name, node in XE.nodes.items() if node.cluster])
HOST, DDR, SDR = (tcp_goodput_mbit(rate, 9000) for rate in (1150, 1500, 750))


def sdr() -> Site:
    site = XE
    for port in FABRIC.cables:
        site = at_rate(site, Port(port.node, port.device), 750)
    return site


def test_the_hosts_of_the_rings_are_the_seeds() -> None:
    assert FABRIC.at_one_line(8) == ["x1", "x2", "x6", "x9", "x10", "x12", "x13", "x14"]
    assert FABRIC.half_and_half(8) == ["x1", "x2", "x4", "x5", "x6", "x7", "x8", "x9"]
    assert FABRIC.first(16) == [f"x{n}" for n in range(1, 17)]


@pytest.mark.parametrize("slow", [False, True])
def test_a_rings_rate_is_that_of_the_uplink_on_which_most_messages_meet(slow: bool) -> None:
    dice = random.Random("rings")
    site, uplink = (sdr(), SDR) if slow else (XE, DDR)
    for nodes in (FABRIC.at_one_line(8), FABRIC.half_and_half(8), FABRIC.first(16)):
        for _ in range(5):
            ring = dice.sample(nodes, len(nodes))
            most = FABRIC.most_on_one_uplink(ring)
            by_formula = HOST * min(1.0, 2 * uplink / (HOST * most) if most else 1.0)
            assert ring_mbit(site, "ib", ring) == pytest.approx(by_formula)


def test_the_natural_rings_are_as_specified() -> None:
    single, halves = FABRIC.at_one_line(8), FABRIC.half_and_half(8)
    assert ring_mbit(sdr(), "ib", single) == pytest.approx(HOST)
    assert ring_mbit(XE, "ib", halves) == pytest.approx(HOST)
    assert round(ring_mbit(sdr(), "ib", halves) / HOST, 2) == 0.65


def test_the_means_of_thirty_random_rings_are_near_the_specified_ones() -> None:
    dice = random.Random(1)

    def mean(site: Site, nodes: list[str]) -> float:
        return sum(ring_mbit(site, "ib", dice.sample(nodes, len(nodes))) for _ in range(30)) / 30 / HOST

    halves, sixteen = FABRIC.half_and_half(8), FABRIC.first(16)
    assert mean(XE, halves) == pytest.approx(0.90, abs=0.05)
    assert mean(sdr(), halves) == pytest.approx(0.53, abs=0.05)
    assert mean(XE, sixteen) == pytest.approx(0.63, abs=0.05)
    assert mean(sdr(), sixteen) == pytest.approx(0.32, abs=0.03)


def test_ping_pong_has_from_half_of_the_cable_to_all_that_one_pair_has() -> None:
    assert [round(late_mbit(SDR, SDR / 2, d), 1) for d in (0, 0.5, 1)] == [371.3, 495.0, 742.5]
    assert [round(late_mbit(HOST, DDR / 2, d), 1) for d in (0, 0.5, 1)] == [742.5, 898.9, 1138.5]
    mean = sum(late_mbit(SDR, SDR / 2, d / 1000) for d in range(1000)) / 1000
    assert round(mean / SDR, 2) == 0.69


def test_a_ring_is_as_fast_as_its_slowest_node_however_far_others_are_ahead() -> None:
    slowest = [1.0, 1.5, 2.0]
    assert ring_seen_mbit(0.5, [slowest, [0.6, 0.8, 1.9]]) == pytest.approx(2 * 3 * RING * 8 / 1e6 / 1.5)
    assert ring_seen_mbit(0.5, [slowest, slowest]) == ring_seen_mbit(0.5, [slowest, [0.9, 1.4, 1.5]])
