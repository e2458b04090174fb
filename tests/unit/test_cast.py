"""Whom scenarios are given by a site, and what they say of one that has nobody for them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from causeway.errors import Unsupported
from causeway.folders import REPO
from causeway.model.load import load_site
from causeway.model.site import Site, build_site
from causeway.scenario import runner
from causeway.scenario.cast import Ask

FILE = REPO / "topologies/jubl/site.yaml"
JUBL = load_site(FILE)
ION, OTHER_ION = "R00-M0-NC-3", "R00-M0-NC-4"
#: A scenario, and some of those that play it on jubl, by their names in its cast.
ON_JUBL = {
    "boot_order": {"server": "SN", "nodes": [ION, OTHER_ION]},
    "dhcp_outage": {"server": "SN", "nodes": [ION, OTHER_ION], "caller": "FEN"},
    "dns_or_hosts": {"node": ION, "administrator": "SN", "names": "SN"},
    "ntp_server_unrouted": {"nodes": [ION, OTHER_ION], "server": "SN", "time_server": "SN"},
    "ntp_route_lost": {"node": ION},
    "ssh_authorized_missing": {"node": ION, "host": "SN", "other": "FEN"},
    "ssh_known_hosts_wildcard": {"server": "SN", "host": "FEN", "address": "10.2.64.221", "pattern": "10.2.64.*"},
    "ssh_personal_vs_system": {"node": ION, "server": "SN", "hosts": ["SN", "FEN"]},
    "ssh_prompt_blocks": {"client": "SN", "host": "FEN"},
    "stale_node_state": {"node": ION, "server": "SN"},
    "startup_touch_file": {"nodes": [ION, OTHER_ION], "server": "SN", "quorum": "SN"},
}


def cast(name: str, site: Site) -> Any:
    (found,) = runner.load(name).cast_by(Ask(site))
    return found


def otherwise(folder: Path, **sections: Any) -> Site:
    """Jubl with other sections; one that is None is left out."""
    data = yaml.safe_load(FILE.read_text()) | sections
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump({key: value for key, value in data.items() if value is not None}, sort_keys=False))
    return load_site(file)


def lacking(name: str, site: Site) -> str:
    with pytest.raises(Unsupported) as caught:
        cast(name, site)
    return str(caught.value)


@pytest.fixture
def plain(tmp_path: Path) -> Site:
    """Jubl without its Blue Gene and its filesystems."""
    data = yaml.safe_load(FILE.read_text())
    pools = {name: pool for name, pool in data["pools"].items() if pool.get("platform", "plain") == "plain"}
    clusters = {name: {k: v for k, v in about.items() if k != "mounts"} for name, about in data["clusters"].items()}
    return otherwise(tmp_path, pools=pools, clusters=clusters, filesystems=None)


@pytest.fixture
def two_hosts(tmp_path: Path) -> Site:
    """Two hosts of one cluster at a switch, and nothing else."""
    file = tmp_path / "two.yaml"
    file.write_text("""
lab: two
domain: two.example
networks:
  n: {subnet: 192.168.5.0/24}
clusters:
  c: {}
nodes:
  here: {role: host, cluster: c, interfaces: {eth0: {network: n, address: 192.168.5.1, names: [here]}}}
  there: {role: host, cluster: c, interfaces: {eth0: {network: n, address: 192.168.5.2, names: [there]}}}
  between: {role: switch, switch: n}
links:
  - ends: [here:eth0, between:p1]
  - ends: [there:eth0, between:p2]
""")
    return load_site(file)


@pytest.mark.parametrize(("name", "players"), ON_JUBL.items())
def test_on_jubl_each_is_played_by_the_same_nodes_as_ever(name: str, players: Mapping[str, Any]) -> None:
    found = cast(name, JUBL)
    assert {role: getattr(found, role) for role in players} == players


def test_on_jubl_the_routes_are_those_of_the_redpaper() -> None:
    asymmetric = cast("route_asymmetric", JUBL)
    assert (asymmetric.pair.client, asymmetric.pair.server, asymmetric.pair.gateway) == ("FEN", "nsd01", "deisa")
    assert asymmetric.stranger == ("cn01", JUBL.address("cn01", "m"))
    assert (len(asymmetric.hosts), asymmetric.forwarders) == (16, ["deisa"])
    pairs = cast("route_network_only", JUBL)
    assert [(pair.client, pair.server) for pair in pairs] == [(ION, "nsd01"), (OTHER_ION, "nsd02")]
    lacking = cast("route_return_missing", JUBL).lacking
    assert (lacking.node, lacking.to) == ("cn01", "b")


def test_on_jubl_a_server_without_a_clients_route_could_serve_time() -> None:
    away = cast("ntp_route_lost", JUBL).away
    assert (away.host, away.name, away.network, away.near) == ("nsd01", "nsd01m", "m", "cn01")
    assert away.gateway == JUBL.address("deisa", "b")
    assert cast("ntp_server_unrouted", JUBL).away == away


def test_whoever_plays_is_named_once_and_in_the_order_of_the_questions() -> None:
    ask = Ask(JUBL)
    assert ask.colleagues(3) == ["SN", "FEN", ION]
    assert ask.caller("SN", but=[ION]) == "FEN"
    assert ask.players == ["SN", "FEN", ION]


@pytest.mark.parametrize(
    "name",
    ["boot_order", "dhcp_outage", "ntp_server_unrouted", "ssh_personal_vs_system", "ssh_known_hosts_wildcard"],
)
def test_what_takes_diskless_nodes_says_so_where_there_are_none(name: str, plain: Site) -> None:
    assert "bluegene" in lacking(name, plain)


def test_without_a_blue_gene_plain_hosts_play_what_is_about_routes_keys_and_time(plain: Site) -> None:
    assert cast("ssh_prompt_blocks", plain).client == "nsd01"
    assert cast("ntp_route_lost", plain).node == "FEN"
    assert cast("route_asymmetric", plain).pair.client == "FEN"
    assert cast("route_return_missing", plain).lacking.node == "cn01"
    assert [pair.client for pair in cast("route_network_only", plain)] == ["FEN", "SN"]
    host = cast("ssh_authorized_missing", plain)
    assert len({host.node, host.host, host.other}) == 3


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (
            "dns_or_hosts",
            "two has no node in a cluster that mounts filesystems and whose quorum is its administrator's",
        ),
        ("ntp_route_lost", "two has no node that takes its time from another, and somebody to give it by a route"),
        ("route_asymmetric", "two has no host with a host route beside a longer way"),
        ("route_network_only", "two has no host with a host route beside a longer way"),
        ("route_return_missing", "two has no host that answers others by a static route"),
        ("ssh_authorized_missing", "two has not three hosts of one cluster that all talk with each other"),
        ("stale_node_state", "two has no node of platform bluegene booting over the network"),
    ],
)
def test_a_site_of_two_hosts_says_what_it_lacks(name: str, what: str, two_hosts: Site) -> None:
    assert lacking(name, two_hosts).startswith(what)


def test_two_hosts_of_one_cluster_are_enough_for_a_question_that_nobody_answers(two_hosts: Site) -> None:
    found = cast("ssh_prompt_blocks", two_hosts)
    assert (found.client, found.host) == ("here", "there")


def test_who_administers_or_serves_is_no_member_that_can_be_missed() -> None:
    with pytest.raises(Unsupported, match="no filesystem for SN in a cluster"):
        Ask(JUBL).member("SN")
    with pytest.raises(Unsupported, match="no filesystem for cn01 in a cluster that mounts"):
        Ask(JUBL).member("cn01")


def test_who_is_asked_for_names_is_no_member_that_can_be_missed() -> None:
    assert Ask(JUBL).member("FEN").node == "FEN"
    clusters = JUBL.topology.clusters
    asked = {name: cluster.model_copy(update={"dns": ["FEN"]}) for name, cluster in clusters.items()}
    site = build_site(JUBL.topology.model_copy(update={"clusters": asked}))
    with pytest.raises(Unsupported, match="no filesystem for FEN in a cluster"):
        Ask(site).member("FEN")


def test_a_node_without_a_server_for_names_or_time_has_none() -> None:
    with pytest.raises(Unsupported, match="no time server for nsd01"):
        Ask(JUBL).time_server("nsd01")
    with pytest.raises(Unsupported, match="no time server for SN"):
        Ask(JUBL).time_server("SN")
    assert Ask(JUBL).name_server("cn01") == "nsd01"


def test_what_a_scenario_can_do_without_is_none_where_there_is_none(two_hosts: Site) -> None:
    ask = Ask(two_hosts)
    assert ask.maybe(lambda: ask.stranger("here")) is None
