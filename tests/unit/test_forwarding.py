"""Tables of switches that do not learn: the seed's listing of xe's fabric, and a fabric by hand."""

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fabrics import fabric
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.forwarding import static_switches, table, tree
from causeway.plan.paths import Unreachable, at_rate, path
from causeway.plan.streams import StreamEnds, expect

XE = load_site(Path(__file__).parents[2] / "topologies/xe/site.yaml")
HOSTS = [name for name, node in XE.nodes.items() if node.cluster and "ib0" in node.interfaces]
FABRIC = fabric(XE, "ib", HOSTS)
UPLINKS = [Port(line, f"up{n}") for line in ("line1", "line2") for n in (1, 2, 3)]

#: In ascending order of their LIDs, as the seed's listing of July 2007 has them, and by which spine each is reached.
TO_LINE2 = "x3 1, xe 2, x7 3, x4 1, x8 2, x5 3, x11 1, x17 2, x16 3, x18 1, x19 2, sgi1 3"
TO_LINE1 = "x6 1, x9 2, x1 3, x12 1, x2 2, x13 3, x14 1, x15 2, x10 3, sgi2 1"


def uplinks(switch: str) -> dict[str, str]:
    return {port.node: out for port, out in table(XE, switch).items() if out.startswith("up")}


def as_uplinks(listing: str) -> dict[str, str]:
    return {host: f"up{spine}" for host, spine in (pair.split() for pair in listing.split(", "))}


def test_a_line_chip_deals_out_the_other_chips_lids_over_its_uplinks_in_turn() -> None:
    assert uplinks("line1") == as_uplinks(TO_LINE2) | {"xemds": "up1"}
    assert uplinks("line2") == as_uplinks(TO_LINE1) | {"voltaire": "up2"}


def test_a_line_chips_own_hosts_are_at_their_ports() -> None:
    tables = {line: table(XE, line) for line in ("line1", "line2")}
    for line, others in (("line1", as_uplinks(TO_LINE1)), ("line2", as_uplinks(TO_LINE2))):
        assert all(tables[line][Port(host, "ib0")] == host for host in others)


def test_a_spine_chip_sends_to_the_chip_that_a_host_is_at() -> None:
    for spine in ("spine1", "spine2", "spine3"):
        leads = {port.node: out for port, out in table(XE, spine).items()}
        assert leads == {
            host: "line1" if host in as_uplinks(TO_LINE1) or host == "voltaire" else "line2" for host in leads
        }
        assert len(leads) == 24


def test_every_way_through_the_tables_ends_at_its_host() -> None:
    switches = static_switches(XE, "ib")
    far_end = {a: b for cable in XE.cables for a, b in (cable.ends, cable.ends[::-1])}
    for switch in switches:
        for host in table(XE, switch):
            here, passed = switch, 0
            while here in switches:
                there = far_end[Port(here, table(XE, here)[host])]
                here, passed = there.node, passed + 1
                assert passed <= 3
            assert there == host


def test_a_frame_for_all_reaches_every_host_once() -> None:
    ports = tree(XE, "ib")
    far_end = {a: b for cable in XE.cables for a, b in (cable.ends, cable.ends[::-1])}

    def flood(switch: str, came_in_by: str) -> list[str]:
        found = []
        for port in ports[switch]:
            if port != came_in_by:
                there = far_end[Port(switch, port)]
                found += flood(there.node, there.device) if there.node in ports else [there.node]
        return found

    heard = flood("line1", "x12")
    assert len(heard) == len(set(heard)) == 23  # all but x12


def test_a_fabric_is_its_line_switches_with_their_hosts_by_lid() -> None:
    assert FABRIC.lines == {
        "line1": ["x6", "x9", "x1", "x12", "x2", "x13", "x14", "x15", "x10"],
        "line2": ["x3", "xe", "x7", "x4", "x8", "x5", "x11", "x17", "x16", "x18", "x19"],
    }
    assert FABRIC.uplinks == {"line1": ["up1", "up2", "up3"], "line2": ["up1", "up2", "up3"]}
    assert FABRIC.cables == UPLINKS
    assert (FABRIC.line_of("x12"), FABRIC.line_of("xe")) == ("line1", "line2")
    assert [f"{a}>{b}" for a, b in FABRIC.inside(6)] == ["x6>x9", "x3>xe", "x1>x12", "x7>x4", "x2>x13", "x8>x5"]


def test_the_seeds_eight_pairs_are_those_in_the_order_of_lids() -> None:
    eight = "x6>x3 x9>xe x1>x7 x12>x4 x2>x8 x13>x5 x14>x11 x15>x17"
    assert " ".join(f"{a}>{b}" for a, b in FABRIC.across(8)) == eight
    assert [b for _, b in FABRIC.by_one_uplink(4)] == ["x3", "x4", "x11", "x18"]


def test_paths_follow_the_tables() -> None:
    (hop,) = path(XE, "x1", XE.address("x7", "ib")).hops
    assert hop.switches == ("line1", "spine3", "line2")
    assert [str(segment.cables[0]) for segment in hop.segments] == [
        "x1:ib0>line1:x1",
        "line1:up3>spine3:line1",
        "spine3:line2>line2:up3",
        "line2:x7>x7:ib0",
    ]
    (inside,) = path(XE, "x12", XE.address("x13", "ib")).hops
    assert inside.switches == ("line1",)


def test_who_has_no_lid_is_not_reached() -> None:
    leg = XE.nodes["sgi1"].interfaces["ib0"].model_copy(update={"lid": None})
    gone = XE.nodes["sgi1"].model_copy(update={"interfaces": {"ib0": leg}})
    site = Site(XE.topology, XE.nodes | {"sgi1": gone}, XE.cables, XE.channels)
    with pytest.raises(Unreachable, match="no cables lead from x1:ib0 to sgi1:ib0"):
        path(site, "x1", site.address("sgi1", "ib"))


def shares(pairs: list[tuple[str, str]], site: Site = XE) -> list[float]:
    """The Mbit/s of streams that run at once."""
    ends = [
        StreamEnds(f"{i}", a, (site.address(a, "ib"), 6000), (site.address(b, "ib"), 5011))
        for i, (a, b) in enumerate(pairs)
    ]
    return [round(rate, 1) for rate in expect(site, ends).rates.values()]


def sdr(site: Site = XE) -> Site:
    for port in UPLINKS:
        site = at_rate(site, port, 750)
    return site


def hosts_at(rate_mbit: int, site: Site = XE) -> Site:
    for host in HOSTS:
        site = at_rate(site, Port(host, "ib0"), rate_mbit)
    return site


def test_pairs_inside_a_chip_have_all_that_a_host_has() -> None:
    assert shares(FABRIC.inside(6), sdr()) == [1138.5] * 6


def test_the_shares_of_pairs_across_are_the_specified_ones() -> None:
    three_three_two = [495.0, 495.0, 742.5, 495.0, 495.0, 742.5, 495.0, 495.0]
    assert shares(FABRIC.across(8)) == three_three_two
    assert round(sum(three_three_two) / 8 / 1138.5, 3) == 0.489
    assert shares(FABRIC.across(8), hosts_at(1500)) == three_three_two
    assert round(sum(three_three_two) / 8 / 1485.1, 3) == 0.375  # the seed's 8:3
    assert shares(FABRIC.across(6), sdr()) == [371.3] * 6
    assert shares(FABRIC.across(8), sdr()) == [247.5, 247.5, 371.3, 247.5, 247.5, 371.3, 247.5, 247.5]
    assert shares(FABRIC.across(9)) == [495.0] * 9
    assert shares(FABRIC.by_one_uplink(4)) == [371.3] * 4
    assert shares(FABRIC.across(4)) == [742.5, 1138.5, 1138.5, 742.5]


def test_groups_are_two_classes_with_slow_uplinks_only() -> None:
    others = [host for host in HOSTS if host != "x12"]
    assert {shares([("x12", host)])[0] for host in others} == {1138.5}
    slow = {host: shares([("x12", host)], sdr())[0] for host in others}
    assert {host for host, rate in slow.items() if rate == 742.5} == {
        "xe",
        *(f"x{n}" for n in (3, 4, 5, 7, 8, 11, 16, 17, 18, 19)),
    }
    assert set(slow.values()) == {742.5, 1138.5}


def test_a_cable_at_another_rate_is_that_in_both_directions() -> None:
    site = at_rate(XE, Port("line1", "up1"), 750)
    assert (site.sends_mbit(Port("line1", "up1")), site.sends_mbit(Port("spine1", "line1"))) == (750, 750)
    assert site.sends_mbit(Port("line1", "up2")) == 1500
    assert XE.sends_mbit(Port("line1", "up1")) == 1500


def test_a_host_of_xe_gives_what_the_seed_measured_in_tenths() -> None:
    assert round(tcp_goodput_mbit(1150, 9000), 1) == 1138.5
    assert round(tcp_goodput_mbit(750, 9000) / tcp_goodput_mbit(1150, 9000), 3) == 0.652
    assert XE.address("x12", "ib") == IPv4Address("192.168.1.12")


def test_twelve_hosts_a_chip_have_a_quarter_each_and_with_slow_uplinks_an_eighth(tmp_path: Path) -> None:
    pool = "{{role: host, names: '{0}{{}}', count: 12, hosts: {1}, interfaces: {{ib0: {{network: ib, switch: {2}, "
    pool += "lids: {3}}}}}}}"
    lids = [list(range(1, 24, 2)), list(range(2, 25, 2))]
    file = tmp_path / "site.yaml"
    file.write_text(
        "lab: full\ndomain: site.example\nclusters: {}\n"
        "networks: {ib: {subnet: 192.168.0.0/16, rate_mbit: 1500, mtu: 9000}}\n"
        f"pools:\n  a: {pool.format('a', 1, 'line1', lids[0])}\n  b: {pool.format('b', 101, 'line2', lids[1])}\n"
        "nodes:\n"
        + "".join(
            f"  {name}: {{role: switch, switch: ib, forwarding: static}}\n"
            for name in ("line1", "line2", "spine1", "spine2", "spine3")
        )
        + "links:\n"
        + "".join(f"  - ends: [line{line}:up{n}, spine{n}:line{line}]\n" for line in (1, 2) for n in (1, 2, 3))
    )
    site = load_site(file)
    full = fabric(site, "ib", list(site.nodes))
    assert set(shares(full.across(12), site)) == {round(1485.1 / 4, 1)}
    for port in full.cables:
        site = at_rate(site, port, 750)
    assert set(shares(full.across(12), site)) == {round(1485.1 / 8, 1)}
