"""What is rendered of what jubl does not have: several who write one file, rates by direction, routes of all kinds."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from causeway.errors import BadInput
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import File, Files, together

TOPOLOGIES = Path(__file__).parents[2] / "topologies"


def load(folder: Path, data: dict[str, Any]) -> Site:
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return load_site(file)


def read(lab: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((TOPOLOGIES / lab / "site.yaml").read_text())
    return data


def rendered(site: Site) -> Files:
    return render(site, Secrets(site))


def test_a_path_rendered_twice_is_a_mistake_of_ours() -> None:
    one: Files = {"etc/hosts": File("a\n")}
    with pytest.raises(ValueError, match="etc/hosts is rendered twice"):
        together(one, {"etc/motd": File("b\n")}, one)


def test_a_boot_server_that_serves_a_filesystem_has_its_disks_and_its_trees(tmp_path: Path) -> None:
    data = read("jubl")
    data["filesystems"]["home1"] |= {"owner": "JUBL", "servers": ["SN"], "layout": "whole", "parity": 0}
    files = rendered(load(tmp_path, data))
    table = [line.split() for line in files["nodes/SN/etc/fstab"].text.splitlines() if not line.startswith("#")]
    mounted = [line[1] for line in table]
    assert mounted[0] == "/disks/home1"
    assert mounted[1:] == [
        line.split()[1]
        for line in rendered(load_site(TOPOLOGIES / "jubl/site.yaml"))["nodes/SN/etc/fstab"].text.splitlines()
        if not line.startswith("#")
    ]
    assert files["nodes/SN/etc/fstab"].text.count("size=1536m") == 1


def test_each_end_of_a_link_sends_at_its_own_rate(tmp_path: Path) -> None:
    data = read("small")
    data["links"][0]["rate_mbit"] = [100, 40]
    files = rendered(load(tmp_path, data))
    assert "eth0 100 1500 host 100 0 lock:pier\n" in files["nodes/pier/ports"].text
    assert "pier 40 1500 switch 40 0 pier:eth0\n" in files["nodes/lock/ports"].text


def test_a_host_may_have_a_smaller_mtu_than_its_switchs_port(tmp_path: Path) -> None:
    data = read("small")
    data["nodes"]["pier"]["interfaces"]["eth0"]["mtu"] = 1400
    files = rendered(load(tmp_path, data))
    assert "eth0 1000 1400 host 1000 0 lock:pier\n" in files["nodes/pier/ports"].text
    assert "pier 1000 1500 switch 1000 0 pier:eth0\n" in files["nodes/lock/ports"].text
    assert "    mtu 1400\n" in files["nodes/pier/etc/network/interfaces"].text


def routes(files: Files, node: str) -> dict[str, list[str]]:
    """The routes of each interface of a node, as `ip route add` takes them."""
    found = {}
    for stanza in files[f"nodes/{node}/etc/network/interfaces"].text.split("\niface ")[1:]:
        lines = [line.strip() for line in stanza.splitlines()]
        found[stanza.split()[0]] = [line.removeprefix("up ip route add ") for line in lines if line.startswith("up ")]
    return found


def test_routes_of_all_kinds_are_iproute2s(tmp_path: Path) -> None:
    data = read("small")
    data["nodes"]["pier"]["routes"] = [
        {"to": "default", "via": "10.30.0.1", "metric": 5},
        {"to": "sea", "via": ["10.30.0.11", "10.30.0.12"], "mtu": 1400, "src": "10.30.0.21"},
        {"to": "192.0.2.0/24", "via": "10.30.0.1"},
    ]
    assert routes(rendered(load(tmp_path, data)), "pier")["eth0"] == [
        "default via 10.30.0.1 metric 5",
        "10.20.0.0/24 mtu 1400 src 10.30.0.21 nexthop via 10.30.0.11 nexthop via 10.30.0.12",
        "192.0.2.0/24 via 10.30.0.1",
    ]


def test_a_route_waits_for_the_last_interface_that_it_needs(tmp_path: Path) -> None:
    data = read("small")
    data["pools"]["quay"]["routes"] = [{"to": "192.0.2.0/24", "via": ["10.20.0.31", "10.30.0.1"]}]
    shown = routes(rendered(load(tmp_path, data)), "quay1")
    assert shown["eth0"] == []
    assert shown["bond0"] == ["192.0.2.0/24 nexthop via 10.20.0.31 nexthop via 10.30.0.1"]


def test_diskless_nodes_have_the_commands_that_they_know_for_routes(tmp_path: Path) -> None:
    data = read("jubl")
    more = [{"to": "default", "via": "10.2.64.1"}, {"to": "m", "via": "10.2.64.1", "metric": 7}]
    data["pools"]["io"]["routes"] = data["pools"]["io"]["routes"][:2] + more
    script = rendered(load(tmp_path, data))["nodes/SN/bgl/dist/etc/rc.d/rc3.d/S14routes_to_federation"].text
    assert [line for line in script.splitlines() if "route" in line and not line.startswith("#")] == [
        "/sbin/route add -net 10.1.33.0/24 gw 10.2.64.1",
        "/sbin/route add -host 10.1.33.202 gw 10.2.64.202",
        "/usr/sbin/ip route add default via 10.2.64.1",
        "/usr/sbin/ip route add 10.1.44.0/24 via 10.2.64.1 metric 7",
    ]


def test_tunables_are_the_sites_then_the_clusters_then_the_nodes_own(tmp_path: Path) -> None:
    data = read("small")
    data["sysctl"] = {"net.ipv4.tcp_sack": 1, "net.ipv4.tcp_fack": 1, "net.ipv4.tcp_dsack": 1}
    data["clusters"]["Fleet"]["sysctl"] = {"net.ipv4.tcp_fack": 2, "net.ipv4.tcp_dsack": 2}
    data["pools"]["boat"]["sysctl"] = {"net.ipv4.tcp_dsack": 3}
    data["nodes"]["lock"]["sysctl"] = {"net.ipv4.tcp_dsack": 4}
    files = rendered(load(tmp_path, data))
    path = "etc/sysctl.d/90-site.conf"
    assert files[f"nodes/wren/{path}"].text == (
        "net.ipv4.tcp_sack = 1\nnet.ipv4.tcp_fack = 2\nnet.ipv4.tcp_dsack = 3\n"
    )
    assert files[f"nodes/quay1/{path}"].text.splitlines()[-1] == "net.ipv4.tcp_dsack = 1"
    assert files[f"nodes/lock/{path}"].text == "net.ipv4.tcp_dsack = 4\n"
    assert f"nodes/basin/{path}" not in files


def test_a_node_that_gives_one_cluster_the_time_may_take_it_from_another(tmp_path: Path) -> None:
    data = read("small")
    data["clusters"]["Harbour"]["ntp"] = "lark"
    data["clusters"]["Fleet"]["ntp"] = "quay1"
    files = rendered(load(tmp_path, data))
    lark = files["nodes/lark/etc/chrony/chrony.conf"].text
    assert lark.startswith("server 10.30.0.11 iburst\nallow 10.30.0.0/24\nallow 10.20.0.0/24\n")
    assert "local stratum" not in lark
    assert files["nodes/pier/etc/chrony/chrony.conf"].text.startswith("server 10.20.0.31 iburst\n")


def test_two_pools_that_boot_have_their_own_keys_and_servers(tmp_path: Path) -> None:
    data = read("jubl")
    other = data["pools"]["io"] | {"locations": [{"racks": ["R10"], "connectors": [3]}], "first": "R10-M0-N0-3"}
    other |= {"blocks": {"B": "R10*"}, "booted": "B", "addresses_from": "10.2.66.1", "count": 2}
    data["pools"]["more"] = other | {"boot": {"server": "FEN"}}
    site = load(tmp_path, data)
    files = rendered(site)
    assert site.diskless()[-2:] == ["R10-M0-N0-3", "R10-M0-N1-3"]
    key = "bgl/dist/etc/ssh/ssh_host_ed25519_key"
    assert files[f"nodes/SN/{key}"].text != files[f"nodes/FEN/{key}"].text
    assert len(files["nodes/FEN/etc/bgl/ionodes"].text.splitlines()) == 2
    known = [line.split() for line in files["nodes/SN/etc/ssh/ssh_known_hosts"].text.splitlines()]
    assert [patterns for patterns, *_ in known if "R10-M0-N1-3" in patterns.split(",")] == [
        "R10-M0-N0-3,R10-M0-N0-3.site.example,R10-M0-N1-3,R10-M0-N1-3.site.example"
    ]
    assert "?" not in "".join(patterns for patterns, *_ in known)


def test_a_server_boots_one_pool(tmp_path: Path) -> None:
    data = read("jubl")
    other = data["pools"]["io"] | {"locations": [{"racks": ["R10"], "connectors": [3]}], "first": "R10-M0-N0-3"}
    data["pools"]["more"] = other | {"blocks": {"B": "R10*"}, "booted": "B", "addresses_from": "10.2.66.1"}
    with pytest.raises(BadInput, match="SN boots pool io already; give each pool a server of its own"):
        load(tmp_path, data)
