"""Rates of files that are striped over four servers, and the connections that carry them."""

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from causeway.lab.fio import parse_carried
from causeway.model.load import load_site
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.streams import StreamEnds
from causeway.plan.striping import Share, bound_mb

JUBL = load_site(Path(__file__).parents[2] / "topologies/jubl.yaml")
IONS = [name for name, node in JUBL.nodes.items() if node.role == "ion"]
SERVERS = [f"nsd0{i}" for i in range(1, 5)]
WIRE_MB = tcp_goodput_mbit(1000, 1500) / 8
LINES = """\
ESTAB 0 0 10.2.64.57:49129 10.1.33.205:49172 cubic wscale:7,7 bytes_sent:99 bytes_acked:77 bytes_received:55 segs_out:3
ESTAB 0 0 10.2.64.57:49143 10.1.33.202:24007 cubic bytes_acked:1 bytes_received:2
LISTEN 0 128 0.0.0.0:22 0.0.0.0:*
ESTAB 0 0 10.2.64.57:49145 10.1.33.206:49251 cubic segs_out:3
"""


def writes(node: str, servers: list[str]) -> list[Share]:
    """A third of a file's bytes to each server."""
    own = JUBL.first_leg(node).address
    targets = {server: JUBL.first_leg(server).address for server in servers}
    return [
        Share(StreamEnds(f"{node}>{server}", node, (own, 49100 + i), (target, 49152)), 1 / 3)
        for i, (server, target) in enumerate(targets.items())
    ]


def test_a_node_that_writes_sends_four_thirds_of_its_file_through_its_link() -> None:
    for ions in IONS[:1], IONS[:2]:
        bound = bound_mb(JUBL, {ion: writes(ion, SERVERS) for ion in ions})
        assert bound == pytest.approx(len(ions) * WIRE_MB * 3 / 4)


def test_three_parts_are_the_file_itself() -> None:
    assert bound_mb(JUBL, {IONS[0]: writes(IONS[0], SERVERS[:3])}) == pytest.approx(WIRE_MB)


def test_ss_is_read_for_connections_to_bricks_in_one_direction() -> None:
    one = (IPv4Address("10.2.64.57"), 49129), (IPv4Address("10.1.33.205"), 49172)
    idle = (IPv4Address("10.2.64.57"), 49145), (IPv4Address("10.1.33.206"), 49251)
    assert parse_carried(LINES, "write") == {one: 77, idle: 0}
    assert parse_carried(LINES, "read") == {one: 55, idle: 0}
