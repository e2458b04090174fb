"""Paths of the jubl topology as the Redpaper's routing section tells them, and of small sites."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path as File

import pytest

from causeway.model.document import Topology
from causeway.model.load import load_site
from causeway.model.site import Site, build_site
from causeway.model.thing import Port
from causeway.model.topology import Route
from causeway.plan.paths import (
    Ambiguous,
    DirectedCable,
    Hop,
    Segment,
    Unreachable,
    Ways,
    path,
    without_member,
    without_routes,
)

JUBL = load_site(File(__file__).parents[2] / "topologies/jubl/site.yaml")


def address(name: str, site: Site = JUBL) -> IPv4Address:
    return next(leg.address for node in site.nodes.values() for leg in node.interfaces.values() if name in leg.names)


def hops(source: str, destination: str, site: Site = JUBL) -> tuple[Hop, ...]:
    return path(site, source, address(destination, site)).hops


def cables(segment: Segment) -> list[str]:
    return [f"{cable.sender} {cable.receiver}" for cable in segment.cables]


def with_routes(node: str, *routes: tuple[str, str], forwards: bool = False) -> Site:
    added = [Route(to=IPv4Address(to), via=IPv4Address(via)) for to, via in routes]
    old = JUBL.nodes[node]
    new = old.model_copy(update={"routes": added, "forwards": forwards})
    return replace(JUBL, nodes=JUBL.nodes | {node: new})


def test_sn_reaches_an_nsd_servers_f_address_directly_over_both_channels() -> None:
    (hop,) = hops("SN", "nsd01f")
    assert (hop.network, hop.sender, hop.receiver) == ("b", Port("SN", "bond0"), Port("nsd01", "bond0"))
    assert hop.next_hop == address("nsd01b")
    assert hop.switches == ("zam870",)
    to_switch, to_server = hop.segments
    assert cables(to_switch) == ["SN:eth6 zam870:SN-1", "SN:eth7 zam870:SN-2"]
    assert cables(to_server) == [f"zam870:nsd01-{n} nsd01:eth{n + 1}" for n in range(1, 5)]


def test_a_write_is_decided_by_the_client_and_then_by_the_switch() -> None:
    # Redpaper, Figure 3: FEN write is controlled by the FEN's setup and by the switch's 4x channel
    (hop,) = hops("FEN", "nsd02f")
    ends = [segment.decided_by for segment in hop.segments]
    assert [(end.node, end.name, end.hash_policy) for end in ends if end] == [
        ("FEN", "bond0", "layer2"),
        ("zam870", "nsd02", "balance-slb"),
    ]


def test_a_read_is_decided_by_the_server_and_then_by_the_switch() -> None:
    (hop,) = hops("nsd02", "FEN-b")
    ends = [segment.decided_by for segment in hop.segments]
    assert [(end.node, end.name, end.hash_policy) for end in ends if end] == [
        ("nsd02", "bond0", "layer3+4"),
        ("zam870", "FEN", "balance-slb"),
    ]


def test_sn_reaches_a_compute_nodes_f_address_through_deisa() -> None:
    first, second = hops("SN", "cn01f")
    assert (first.next_hop, first.receiver) == (address("deisa-b"), Port("deisa", "eth0"))
    assert cables(first.segments[1]) == ["zam870:deisa deisa:eth0"]
    assert first.segments[1].decided_by is None
    assert (second.network, second.sender, second.receiver) == (
        "m",
        Port("deisa", "br-m"),
        Port("cn01", "eth1"),
    )
    assert second.next_hop == address("cn01m")
    assert [cables(segment) for segment in second.segments] == [["deisa:cn01 cn01:eth1"]]


def test_cn01_reaches_sn_through_deisa_m() -> None:
    first, second = hops("cn01", "SN-b")
    assert (first.network, first.next_hop, first.receiver) == (
        "m",
        address("deisa-m"),
        Port("deisa", "br-m"),
    )
    assert [cables(segment) for segment in first.segments] == [["cn01:eth1 deisa:cn01"]]
    assert (second.network, second.sender, second.receiver) == (
        "b",
        Port("deisa", "eth0"),
        Port("SN", "bond0"),
    )
    assert second.next_hop == address("SN-b")
    assert cables(second.segments[1]) == ["zam870:SN-1 SN:eth6", "zam870:SN-2 SN:eth7"]


def test_a_server_reaches_an_io_node_directly() -> None:
    (hop,) = hops("nsd01", "R00-M0-NC-3")
    assert hop.switches == ("zam870",)
    from_server, to_ion = hop.segments
    assert cables(from_server) == [f"nsd01:eth{n + 1} zam870:nsd01-{n}" for n in range(1, 5)]
    assert cables(to_ion) == ["zam870:R00-M0-NC-3 R00-M0-NC-3:eth0"]
    assert to_ion.decided_by is None


def test_an_io_node_reaches_servers_directly_and_compute_nodes_through_deisa() -> None:
    assert [hop.receiver.node for hop in hops("R00-M0-NF-4", "nsd04f")] == ["nsd04"]
    assert [hop.receiver.node for hop in hops("R00-M0-NF-4", "cn02f")] == ["deisa", "cn02"]


def test_jump_nodes_talk_over_the_federation_switch_only() -> None:
    (hop,) = hops("cn01", "nsd01f")
    assert (hop.network, hop.switches) == ("f", ("federation",))


def test_the_m_network_passes_deisa_as_a_switch() -> None:
    (hop,) = hops("nsd01", "cn01m")
    assert hop.switches == ("deisa",)
    assert [cables(segment) for segment in hop.segments] == [
        ["nsd01:eth1 deisa:nsd01"],
        ["deisa:cn01 cn01:eth1"],
    ]


def test_without_its_host_route_sn_reaches_the_f_address_through_deisa() -> None:
    network_route = [route for route in JUBL.nodes["SN"].routes if route.to == "f"]
    sn = JUBL.nodes["SN"].model_copy(update={"routes": network_route})
    site = replace(JUBL, nodes=JUBL.nodes | {"SN": sn})
    assert [hop.receiver for hop in hops("SN", "nsd01f", site)] == [
        Port("deisa", "eth0"),
        Port("nsd01", "eth1"),
    ]


def test_the_longest_prefix_wins_whatever_the_order_of_the_routes() -> None:
    sn = JUBL.nodes["SN"]
    backwards = sn.model_copy(update={"routes": sn.routes[::-1]})
    site = replace(JUBL, nodes=JUBL.nodes | {"SN": backwards})
    for name in "nsd01f", "cn01f":
        assert hops("SN", name, site) == hops("SN", name)


def test_a_host_route_bends_even_a_connected_network() -> None:
    site = with_routes("SN", (str(address("nsd01b")), str(address("deisa-b"))))
    assert [hop.receiver.node for hop in hops("SN", "nsd01b", site)] == ["deisa", "nsd01"]


def test_a_nodes_own_address_takes_no_hop() -> None:
    assert hops("nsd01", "nsd01f") == ()


def test_an_address_without_a_route_is_unreachable() -> None:
    with pytest.raises(Unreachable, match=r"SN has no route to 10\.1\.44\.11"):
        path(JUBL, "SN", address("cn01m"))


def test_an_address_that_nobody_has_is_unreachable() -> None:
    with pytest.raises(Unreachable, match=r"nobody in network b has the address 10\.2\.67\.9"):
        path(JUBL, "nsd01", IPv4Address("10.2.67.9"))


def test_a_server_does_not_forward() -> None:
    site = with_routes("SN", (str(address("cn01f")), str(address("nsd01b"))))
    with pytest.raises(Unreachable, match=r"nsd01 gets packets for .* and does not forward"):
        hops("SN", "cn01f", site)


def test_routes_in_a_circle_are_unreachable() -> None:
    far = IPv4Address("192.0.2.1")
    site = with_routes("cn01", (str(far), str(address("deisa-m"))), forwards=True)
    deisa = JUBL.nodes["deisa"].model_copy(update={"routes": [Route(to=far, via=address("cn01m"))]})
    site = replace(site, nodes=site.nodes | {"deisa": deisa})
    with pytest.raises(Unreachable, match="come back to cn01"):
        path(site, "cn01", far)


def test_a_cut_cable_makes_its_node_unreachable() -> None:
    cut = DirectedCable(Port("deisa", "eth0"), Port("zam870", "deisa"))
    rest = tuple(cable for cable in JUBL.cables if cable.ends != (cut.sender, cut.receiver))
    assert len(rest) == len(JUBL.cables) - 1
    with pytest.raises(Unreachable, match="no cables lead from SN:bond0 to deisa:eth0"):
        hops("SN", "cn01f", replace(JUBL, cables=rest))


def test_a_links_rate_is_its_networks() -> None:
    assert JUBL.sends_mbit(Port("cn01", "eth0")) == 16000
    assert JUBL.sends_mbit(Port("federation", "cn01")) == 16000
    assert JUBL.sends_mbit(Port("zam870", "SN-2")) == 1000


def test_a_bond_has_no_link_rate_of_its_own() -> None:
    with pytest.raises(ValueError, match="SN:bond0 carries no cable"):
        JUBL.sends_mbit(Port("SN", "bond0"))


def small_site(nodes: Mapping[str, object], *links: str, networks: dict[str, str] | None = None) -> Site:
    networks = networks or {"n": "10.0.0.0/24"}
    return build_site(
        Topology.model_validate(
            {
                "lab": "small",
                "domain": "site.example",
                "networks": {name: {"subnet": subnet} for name, subnet in networks.items()},
                "clusters": {},
                "nodes": nodes,
                "links": [{"ends": link.split()} for link in links],
            }
        )
    )


def host(*legs: tuple[str, str], routes: tuple[dict[str, str], ...] = ()) -> dict[str, object]:
    interfaces = {f"eth{n}": {"network": net, "address": own} for n, (net, own) in enumerate(legs)}
    return {"role": "server", "interfaces": interfaces, "routes": routes}


LEFT_RIGHT: dict[str, object] = {"left": host(("n", "10.0.0.1")), "right": host(("n", "10.0.0.2"))}
SWITCH = {"role": "switch", "switch": "n"}


def test_two_nodes_back_to_back_need_no_switch() -> None:
    site = small_site(LEFT_RIGHT, "left:eth0 right:eth0")
    (hop,) = path(site, "left", IPv4Address("10.0.0.2")).hops
    assert hop.switches == ()
    assert [cables(segment) for segment in hop.segments] == [["left:eth0 right:eth0"]]


def test_a_frame_passes_two_switches_in_a_row() -> None:
    nodes = LEFT_RIGHT | {"sw1": SWITCH, "sw2": SWITCH}
    site = small_site(nodes, "left:eth0 sw1:p1", "sw1:p2 sw2:p2", "sw2:p1 right:eth0")
    (hop,) = path(site, "right", IPv4Address("10.0.0.1")).hops
    assert hop.switches == ("sw2", "sw1")
    assert [cables(segment) for segment in hop.segments] == [
        ["right:eth0 sw2:p1"],
        ["sw2:p2 sw1:p2"],
        ["sw1:p1 left:eth0"],
    ]


def test_of_several_ways_through_the_switches_the_shortest_is_taken() -> None:
    nodes = LEFT_RIGHT | dict.fromkeys(("sw1", "sw2", "near", "far1", "far2"), SWITCH)
    long_way = ["sw1:p2 far1:p1", "far1:p2 far2:p1", "far2:p2 sw2:p2"]
    short_way = ["sw1:p1 near:p1", "near:p2 sw2:p1"]
    for between in long_way + short_way, short_way + long_way:
        site = small_site(nodes, "left:eth0 sw1:p0", *between, "sw2:p0 right:eth0")
        (hop,) = path(site, "left", IPv4Address("10.0.0.2")).hops
        assert hop.switches == ("sw1", "near", "sw2")


def test_of_overlapping_networks_the_smaller_holds_the_gateway() -> None:
    route = {"to": "192.0.2.1", "via": "10.0.5.2"}
    nodes = {
        "left": host(("wide", "10.0.0.1"), ("narrow", "10.0.5.1"), routes=(route,)),
        "right": host(("narrow", "10.0.5.2"), ("far", "192.0.2.1")),
    }
    networks = {"wide": "10.0.0.0/16", "narrow": "10.0.5.0/24", "far": "192.0.2.0/24"}
    site = small_site(nodes, "left:eth1 right:eth0", networks=networks)
    for destination in "192.0.2.1", "10.0.5.2":
        (hop,) = path(site, "left", IPv4Address(destination)).hops
        assert (hop.network, hop.sender) == ("narrow", Port("left", "eth1"))


def test_an_address_is_not_found_in_another_network_of_the_same_prefix() -> None:
    nodes = {"left": host(("one", "10.0.0.1")), "right": host(("two", "10.0.0.2"))}
    site = small_site(nodes, networks={"one": "10.0.0.0/24", "two": "10.0.0.0/24"})
    with pytest.raises(Unreachable, match="nobody in network one has"):
        path(site, "left", IPv4Address("10.0.0.2"))


def test_a_node_without_its_route_is_reached_by_none_of_the_other_cluster_and_by_all_of_its_own() -> None:
    nodes = [name for name, node in JUBL.nodes.items() if node.cluster]
    lacking = without_routes(JUBL, ["cn01"], ["b"])
    ways, left = Ways(JUBL), Ways(lacking)
    cut = {other for other in nodes if other != "cn01" and not left.reaches("cn01", other)}
    assert cut == {name for name in nodes if JUBL.nodes[name].cluster == "JUBL"}
    assert all(ways.reaches(a, b) for a in nodes for b in nodes if a != b)


def test_without_the_host_routes_the_way_to_a_servers_f_address_is_through_deisa() -> None:
    nsd01f = IPv4Address("10.1.33.202")
    lacking = without_routes(JUBL, ["SN"], [nsd01f])
    assert [hop.receiver.node for hop in path(JUBL, "SN", nsd01f).hops] == ["nsd01"]
    assert [hop.receiver.node for hop in path(lacking, "SN", nsd01f).hops] == ["deisa", "nsd01"]


def test_a_channel_whose_cable_is_pulled_has_its_other_members_on_both_ends() -> None:
    fewer = without_member(JUBL, Port("nsd01", "eth3"))
    ends = {end.node: end.members for _, end, other in fewer.channel_ends() if "nsd01" in (end.name, end.node)}
    assert ends == {"nsd01": ["eth2", "eth4", "eth5"], "zam870": ["nsd01-1", "nsd01-3", "nsd01-4"]}
    assert len(fewer.cables) == len(JUBL.cables) - 1


def pairs_that_cannot_talk(site: Site, rp_filter: int) -> list[str]:
    hosts = [name for name, node in site.nodes.items() if node.interfaces and node.cluster]
    ways = Ways(site)
    return [f"{a} > {b}" for a in hosts for b in hosts if a != b and not ways.reaches(a, b, rp_filter)]


@pytest.mark.parametrize("rp_filter", [0, 1, 2])
def test_where_the_ways_there_and_back_are_the_same_no_reverse_path_filter_drops_anything(rp_filter: int) -> None:
    assert pairs_that_cannot_talk(JUBL, rp_filter) == []


@pytest.mark.parametrize(("rp_filter", "dropping"), [(0, ""), (1, "nsd01"), (2, "")])
def test_answers_through_the_router_are_dropped_by_a_strict_filter_only(rp_filter: int, dropping: str) -> None:
    lacking = without_routes(JUBL, ["FEN"], [address("nsd01f")])
    fen, server = address("FEN"), address("nsd01f")
    assert Ways(lacking).filtered_by("FEN", fen, server, rp_filter) == dropping
    assert Ways(lacking).filtered_by("nsd01", server, fen, rp_filter) == ""
    pairs = ["nsd01 > FEN", "FEN > nsd01"] if dropping else []
    assert pairs_that_cannot_talk(lacking, rp_filter) == pairs


@pytest.mark.parametrize(("rp_filter", "dropping"), [(0, ""), (1, "FEN"), (2, "FEN")])
def test_a_source_to_which_there_is_no_route_is_dropped_by_either_filter(rp_filter: int, dropping: str) -> None:
    assert Ways(JUBL).filtered_by("cn01", address("cn01m"), address("FEN"), rp_filter) == dropping


def test_a_filter_on_a_way_that_there_is_not_is_unreachable_all_the_same() -> None:
    with pytest.raises(Unreachable):
        Ways(JUBL).filtered_by("FEN", address("FEN"), address("cn01m"), 0)


def test_what_no_other_route_leads_to_takes_the_default_route() -> None:
    nodes = {
        "left": host(("n", "10.0.0.1"), routes=({"to": "default", "via": "10.0.0.2"},)),
        "right": host(("n", "10.0.0.2"), ("far", "192.0.2.1")),
    }
    site = small_site(nodes, "left:eth0 right:eth0", networks={"n": "10.0.0.0/24", "far": "192.0.2.0/24"})
    assert [hop.next_hop for hop in path(site, "left", IPv4Address("192.0.2.1")).hops] == [IPv4Address("10.0.0.2")]


def two_ways(*routes: dict[str, object]) -> Site:
    """left with two neighbours, each of whom has a leg in the network `far`."""
    nodes = {
        "left": host(("n", "10.0.0.1"), routes=routes),  # type: ignore[arg-type]
        "one": host(("n", "10.0.0.2"), ("far", "192.0.2.1")) | {"forwards": True},
        "other": host(("n", "10.0.0.3"), ("far", "192.0.2.2")) | {"forwards": True},
        "sw": SWITCH,
    }
    networks = {"n": "10.0.0.0/24", "far": "192.0.2.0/24"}
    return small_site(
        nodes, "left:eth0 sw:a", "one:eth0 sw:b", "other:eth0 sw:c", "one:eth1 other:eth1", networks=networks
    )


def first_hop(site: Site) -> str:
    return path(site, "left", IPv4Address("192.0.2.1")).hops[0].receiver.node


@pytest.mark.parametrize(("metrics", "due"), [((0, 1), "one"), ((2, 1), "other"), ((3, 3), "one")])
def test_of_two_routes_to_one_network_the_smaller_metric_counts(metrics: tuple[int, int], due: str) -> None:
    routes = [{"to": "far", "via": f"10.0.0.{n}", "metric": m} for n, m in zip((2, 3), metrics, strict=True)]
    assert first_hop(two_ways(*routes)) == due


def test_a_longer_prefix_counts_more_than_a_smaller_metric() -> None:
    routes = [{"to": "far", "via": "10.0.0.2"}, {"to": "192.0.2.0/28", "via": "10.0.0.3", "metric": 9}]
    assert first_hop(two_ways(*routes)) == "other"


def test_which_of_several_gateways_a_packet_takes_is_not_made_up() -> None:
    site = two_ways({"to": "far", "via": ["10.0.0.2", "10.0.0.3"]})
    with pytest.raises(Ambiguous, match=r"left sends packets for 192\.0\.2\.1 through any of 10\.0\.0\.2, 10\.0\.0\.3"):
        first_hop(site)
    alone = two_ways({"to": "far", "via": ["10.0.0.2", "10.0.0.3"]}, {"to": "192.0.2.1", "via": "10.0.0.3"})
    assert first_hop(alone) == "other"


def test_a_host_passes_packets_on_if_it_says_so() -> None:
    site = two_ways({"to": "far", "via": "10.0.0.3"})
    assert [hop.receiver.node for hop in path(site, "left", IPv4Address("192.0.2.1")).hops] == ["other", "one"]
    idle = site.nodes["other"].model_copy(update={"forwards": False})
    with pytest.raises(Unreachable, match=r"other gets packets for 192\.0\.2\.1 and does not forward"):
        first_hop(replace(site, nodes=site.nodes | {"other": idle}))
