"""Rates of files that lie on several servers, by layout and parity, and the connections that carry them."""

from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from causeway.lab.filesystems.gluster import NO_HANDSHAKE, NOT_GRANTED, parse_ports, refusal
from causeway.lab.probes.connections import parse_carried
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import Share, bound_mb, done_s, each_mb, spread
from causeway.plan.filesystems.spread import Direction
from causeway.plan.streams import StreamEnds, expect

JUBL = load_site(Path(__file__).parents[2] / "topologies/jubl/site.yaml")
IONS = JUBL.diskless()
SERVERS = [f"nsd0{i}" for i in range(1, 5)]
#: All that JUMP has, for filesystems of more servers.
JUMP = [*SERVERS, "cn01", "cn02"]
#: What an I/O node sends and receives (Redpaper: 795 and 846 Mbit/s), in MB/s.
SENDS_MB, RECEIVES_MB = 795 / 8, 846 / 8
WIRE_MB = tcp_goodput_mbit(1000, 1500) / 8
LINES = """\
ESTAB 0 0 10.2.64.57:49129 10.1.33.205:49172 cubic wscale:7,7 bytes_sent:99 bytes_acked:77 bytes_received:55 segs_out:3
ESTAB 0 0 10.2.64.57:49143 10.1.33.202:24007 cubic bytes_acked:1 bytes_received:2
LISTEN 0 128 0.0.0.0:22 0.0.0.0:*
ESTAB 0 0 10.2.64.57:49145 10.1.33.206:49251 cubic segs_out:3
"""
#: As `gluster volume status work --xml` says it, shortened.
STATUS = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<cliOutput><opRet>0</opRet><volStatus><volumes><volume><volName>work</volName><nodeCount>4</nodeCount>
<node><hostname>nsd01f</hostname><path>/disks/work/brick</path><status>1</status><port>49172</port></node>
<node><hostname>nsd02f</hostname><path>/disks/work/brick</path><status>1</status><port>49251</port></node>
<node><hostname>nsd03f</hostname><path>/disks/work/brick</path><status>0</status><port>N/A</port></node>
<node><hostname>Self-heal Daemon</hostname><path>localhost</path><status>1</status><port>N/A</port></node>
</volume></volumes></volStatus></cliOutput>
"""
#: layout, parity, servers -> connections and part of a byte on each, written; connections, read
SPREADS: dict[tuple[str, int, int], tuple[int, float, int]] = {
    ("whole", 0, 1): (1, 1, 1),
    ("whole", 0, 2): (1, 1, 1),
    ("whole", 0, 6): (1, 1, 1),
    ("stripe", 1, 3): (3, 1 / 2, 2),
    ("stripe", 1, 4): (4, 1 / 3, 3),
    ("stripe", 1, 5): (5, 1 / 4, 4),
    ("stripe", 2, 5): (5, 1 / 3, 3),
    ("stripe", 1, 6): (6, 1 / 5, 5),
    ("stripe", 2, 6): (6, 1 / 4, 4),
}


def site(layout: str, parity: int, servers: int) -> Site:
    """jubl with another `work`."""
    about = {"layout": layout, "parity": parity, "servers": JUMP[:servers]}
    work = JUBL.topology.filesystems["work"].model_copy(update=about)
    return replace(JUBL, topology=JUBL.topology.model_copy(update={"filesystems": {"work": work}}))


def goes(on: Site, node: str, direction: Direction) -> list[Share]:
    """The connections of a node that carry a file of work, those to the first servers where it is not all."""
    own = on.known_by(node).address
    due = spread(on, "work", direction)
    shares = []
    for i, server in enumerate(on.servers("work")[: due.connections]):
        here, there = (own, 49100 + i), (on.known_by(server).address, 49152)
        ends = (node, here, there) if direction == "write" else (server, there, here)
        shares.append(Share(StreamEnds(f"{node}>{server}", *ends), due.part))
    return shares


def calls(layout: str, parity: int, servers: int) -> float:
    """What goes over the network for each byte of data, with all that calls take: 0.6 % for each part with data."""
    return 1 + 0.006 * (servers - parity if layout == "stripe" else 1)


@pytest.mark.parametrize(("layout", "parity", "servers"), SPREADS)
def test_a_file_is_spread_as_its_layout_says(layout: str, parity: int, servers: int) -> None:
    connections, part, read_from = SPREADS[layout, parity, servers]
    written, read = (spread(site(layout, parity, servers), "work", way) for way in ("write", "read"))
    assert (written.connections, read.connections) == (connections, read_from)
    assert written.part == read.part == pytest.approx(part * calls(layout, parity, servers))
    assert written.turns is read.turns is (layout == "stripe")
    carried = calls(layout, parity, servers)
    assert read.carried == pytest.approx(carried), "who reads gets the file's own bytes, and what calls take"


@pytest.mark.parametrize(("layout", "parity", "servers"), SPREADS)
def test_a_node_bounds_what_it_writes_by_its_parity_and_what_it_reads_by_nothing(
    layout: str, parity: int, servers: int
) -> None:
    on = site(layout, parity, servers)
    calls_take = calls(layout, parity, servers)
    of_link = ((servers - parity) / servers if layout == "stripe" else 1) / calls_take
    for ions in IONS[:1], IONS[:2]:
        # a server that files lie on whole has a channel of four links, and both files may take the same
        bound = bound_mb(on, {ion: goes(on, ion, "write") for ion in ions})
        if layout == "stripe" and servers <= len(SERVERS):
            assert bound == pytest.approx(len(ions) * SENDS_MB * of_link)
        assert bound <= len(ions) * SENDS_MB * of_link * 1.0001
    assert bound_mb(on, {IONS[0]: goes(on, IONS[0], "write")}) == pytest.approx(SENDS_MB * of_link)
    assert bound_mb(on, {IONS[0]: goes(on, IONS[0], "read")}) == pytest.approx(RECEIVES_MB / calls_take)


def test_ss_is_read_for_what_connections_carried_in_one_direction() -> None:
    one, daemon, idle = (
        ((IPv4Address("10.2.64.57"), own), (IPv4Address(there), port))
        for own, there, port in (
            (49129, "10.1.33.205", 49172),
            (49143, "10.1.33.202", 24007),
            (49145, "10.1.33.206", 49251),
        )
    )
    assert parse_carried(LINES, "write") == {one: 77, daemon: 1, idle: 0}
    assert parse_carried(LINES, "read") == {one: 55, daemon: 2, idle: 0}


def test_the_ports_of_bricks_are_read_and_of_nothing_else() -> None:
    assert parse_ports(STATUS) == {"nsd01f": 49172, "nsd02f": 49251}


def test_files_count_until_the_last_is_done_and_who_is_done_makes_room() -> None:
    on = site("whole", 0, 4)

    def reads(client: str, server: str, port: int) -> list[Share]:
        here, there = (on.known_by(client).address, port), (on.address(server, "b"), 49152)
        return [Share(StreamEnds(f"{client}<{server}", server, there, here), 1.0)]

    def member(read: list[Share]) -> str:
        return expect(on, [read[0].ends]).member(read[0].ends.label, "nsd01")

    one, *others = (reads(IONS[0], "nsd01", 49100), *(reads(IONS[1], "nsd01", port) for port in range(49100, 49200)))
    two = {IONS[0]: one, IONS[1]: next(other for other in others if member(other) == member(one))}
    alone = {IONS[2]: reads(IONS[2], "nsd02", 49100)}
    assert bound_mb(on, two) == pytest.approx(WIRE_MB), "half a link each"
    assert bound_mb(on, alone) == pytest.approx(RECEIVES_MB)
    assert sum(each_mb(on, two | alone).values()) == pytest.approx(WIRE_MB + RECEIVES_MB)
    assert bound_mb(on, two | alone) == pytest.approx(1.5 * WIRE_MB), "three files, and two of them take two of time"
    done = done_s(on, two, {IONS[0]: WIRE_MB, IONS[1]: 3 * WIRE_MB})
    later = 2 + 2 * WIRE_MB / RECEIVES_MB
    assert done == {IONS[0]: pytest.approx(2), IONS[1]: pytest.approx(later)}, "half a link each, then what one takes"


def test_why_a_client_has_not_mounted_is_told_by_its_log_and_by_a_handshake() -> None:
    log = "[2026-01-01] I [main] begun\n[2026-01-01] E [client-handshake.c] SETVOLUME: Authentication failed\n"
    unknown = "read R BLOCK\nSSL routines:ssl3_read_bytes:tlsv1 alert unknown ca\n"
    assert refusal(log, unknown) == NOT_GRANTED
    assert refusal("[2026-01-01] I [main] begun\n", unknown) == NO_HANDSHAKE
    said = refusal("[2026-01-01] E [socket.c] no route\n", "connect: No route to host\n")
    assert said == "not mounted: [2026-01-01] E [socket.c] no route; handshake: connect: No route to host"
