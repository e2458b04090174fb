"""What a site answers: rates by direction, pools written out, clusters that own and mount, and how nodes are known."""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest
import yaml

from causeway.errors import BadInput
from causeway.model.load import counted_pools, load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import Filesystem
from causeway.render.filesystems.gluster import disk_mib

TOPOLOGIES = Path(__file__).parents[2] / "topologies"
SMALL = load_site(TOPOLOGIES / "small/site.yaml")
JUBL = load_site(TOPOLOGIES / "jubl/site.yaml")


def changed(folder: Path, **sections: Any) -> Site:
    """small with other sections; a mapping is added to what is there."""
    data = yaml.safe_load((TOPOLOGIES / "small/site.yaml").read_text())
    for name, value in sections.items():
        data[name] = data.get(name, {}) | value if isinstance(value, dict) else value
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return load_site(file)


def test_a_links_own_rate_comes_before_its_networks() -> None:
    assert SMALL.sends_mbit(Port("lock", "eth0")) == SMALL.sends_mbit(Port("basin", "lock")) == 500
    assert SMALL.sends_mbit(Port("lark", "eth0")) == 1000
    with pytest.raises(ValueError, match="quay1:bond0 carries no cable"):
        SMALL.sends_mbit(Port("quay1", "bond0"))


def test_a_link_may_carry_more_one_way_than_back(tmp_path: Path) -> None:
    links = [
        {"ends": ["pier:eth0", "lock:pier"], "rate_mbit": [100, 40]},
        {"ends": ["lock:eth0", "basin:lock"]},
    ]
    site = changed(tmp_path, links=links)
    assert site.sends_mbit(Port("pier", "eth0")) == 100
    assert site.sends_mbit(Port("lock", "pier")) == 40
    cable = site.cable_at(Port("lock", "pier"))
    assert (cable.network, cable.rate_mbit, cable.both_ways) == ("land", (100, 40), [100, 40])


def test_pools_links_and_channels_may_have_rates_of_their_own(tmp_path: Path) -> None:
    data = yaml.safe_load((TOPOLOGIES / "small/site.yaml").read_text())["pools"]
    data["quay"]["channels"]["bond0"]["rate_mbit"] = [10, 20]
    data["boat"]["interfaces"]["eth0"]["rate_mbit"] = 30
    site = changed(tmp_path, pools=data)
    assert {site.sends_mbit(Port(f"quay{n}", f"eth{m}")) for n in (1, 2) for m in (1, 2, 3)} == {10}
    assert {site.sends_mbit(Port("basin", f"quay{n}-{m}")) for n in (1, 2) for m in (1, 2, 3)} == {20}
    assert site.sends_mbit(Port("wren", "eth0")) == site.sends_mbit(Port("basin", "wren")) == 30


def test_a_pool_is_written_out_by_number() -> None:
    quay = SMALL.nodes["quay2"]
    assert (quay.cluster, quay.role, quay.forwards) == ("Harbour", "server", False)
    assert {d: (leg.network, str(leg.address), leg.names) for d, leg in quay.interfaces.items()} == {
        "eth0": ("land", "10.30.0.12", ["quay2-land", "quay2"]),
        "bond0": ("sea", "10.20.0.12", ["quay2-sea"]),
    }
    end, other = SMALL.end_of("quay2", "basin"), SMALL.end_of("basin", "quay2")
    assert (end.name, end.members, end.hash_policy) == ("bond0", ["eth1", "eth2", "eth3"], "layer3+4")
    assert (other.name, other.members, other.hash_policy) == ("quay2", ["quay2-1", "quay2-2", "quay2-3"], "balance-slb")
    with pytest.raises(LookupError, match="lark has no channel to basin"):
        SMALL.end_of("lark", "basin")


def test_nodes_and_cables_come_in_the_order_that_is_promised() -> None:
    assert list(SMALL.nodes) == ["quay1", "quay2", "lark", "wren", "gull", "basin", "lock", "pier"]
    ends = [" ".join(map(str, cable.ends)) for cable in SMALL.cables]
    assert ends[:7] == [
        "quay1:eth0 lock:quay1",
        "quay2:eth0 lock:quay2",
        "lark:eth0 basin:lark",
        "wren:eth0 basin:wren",
        "gull:eth0 basin:gull",
        "pier:eth0 lock:pier",
        "lock:eth0 basin:lock",
    ]
    assert ends[7:] == [f"quay{n}:eth{m} basin:quay{n}-{m}" for n in (1, 2) for m in (1, 2, 3)]
    assert [channel.ends[0].node for channel in JUBL.channels] == ["nsd01", "nsd02", "nsd03", "nsd04", "SN", "FEN"]


def test_a_count_makes_more_nodes_and_the_others_stay_as_they_are() -> None:
    file = TOPOLOGIES / "small/site.yaml"
    assert counted_pools(file) == ["quay"]
    four = load_site(file, {"quay": 4})
    assert four.nodes_of("quay") == ["quay1", "quay2", "quay3", "quay4"]
    assert {name: four.nodes[name] for name in SMALL.nodes} == SMALL.nodes
    assert set(SMALL.cables) < set(four.cables)
    with pytest.raises(BadInput, match="5 nodes, and room for 4; use 1 to 4"):
        load_site(file, {"quay": 5})


def test_numbers_have_as_many_digits_as_the_pattern_says(tmp_path: Path) -> None:
    pool = {"role": "desk", "count": 11, "hosts": 100, "interfaces": {"eth0": {"network": "land", "switch": "lock"}}}
    site = changed(tmp_path, pools={"d": pool | {"names": "d{:02}x"}})
    assert site.nodes_of("d")[:2] == ["d01x", "d02x"] and site.nodes_of("d")[-1] == "d11x"
    assert str(site.address("d11x", "land")) == "10.30.0.110"
    assert site.pool_name("d11x") == "d" and site.pool_of("pier") is None


def test_a_node_is_known_by_its_clusters_network_or_by_its_first_interface(tmp_path: Path) -> None:
    assert SMALL.known_by("quay1").names == ["quay1-land", "quay1"]
    clusters = {"Fleet": {"known_by": "sea"}, "Harbour": {}}
    nodes = {
        "pier": {
            "cluster": "Fleet",
            "role": "desk",
            "interfaces": {
                "eth0": {"network": "land", "address": "10.30.0.21"},
                "eth1": {"network": "sea", "address": "10.20.0.21"},
            },
        }
    }
    links = [
        {"ends": ["pier:eth0", "lock:pier"]},
        {"ends": ["pier:eth1", "basin:pier"]},
        {"ends": ["lock:eth0", "basin:lock"]},
    ]
    site = changed(tmp_path, clusters=clusters, nodes=nodes, links=links)
    assert str(site.known_by("pier").address) == "10.20.0.21"
    assert str(site.known_by("quay1").address) == "10.30.0.11"
    assert site.address("pier", "land") == IPv4Address("10.30.0.21")
    with pytest.raises(KeyError, match="lark has no address in land"):
        site.address("lark", "land")
    with pytest.raises(LookupError, match="basin has no interface in any network"):
        site.known_by("basin")


def test_who_answers_for_names_and_time() -> None:
    assert {node: SMALL.name_servers(node) for node in ("quay2", "wren", "lark", "lock")} == {
        "quay2": ["quay1"],
        "wren": ["lark"],
        "lark": ["lark"],
        "lock": [],
    }
    assert SMALL.all_name_servers() == ["quay1", "lark"]
    assert {node: SMALL.time_server(node) for node in ("quay2", "wren", "lark")} == {
        "quay2": None,
        "wren": "lark",
        "lark": None,
    }
    assert SMALL.switches() == ["basin", "lock"]


def owning(folder: Path) -> Site:
    """small with a filesystem of each cluster: Harbour mounts both, Fleet the other's."""
    clusters = {
        "Harbour": {"administrator": "pier", "dns": "quay1", "mounts": ["logs", "maps"]},
        "Fleet": {"administrator": "lark", "dns": "lark", "mounts": ["logs"]},
    }
    filesystems = {
        "logs": {"owner": "Harbour", "servers": ["quay"], "layout": "whole", "size_mib": 64, "mount_point": "/logs"},
        "maps": {"owner": "Fleet", "servers": ["lark", "wren", "gull"], "size_mib": 64, "mount_point": "/maps"},
    }
    return changed(folder, clusters=clusters, filesystems=filesystems)


def test_a_cluster_may_own_and_mount(tmp_path: Path) -> None:
    site = owning(tmp_path)
    assert site.owners() == ["Harbour", "Fleet"]
    assert site.clients() == ["Harbour", "Fleet"]
    assert (site.clients("Harbour"), site.clients("Fleet")) == (["Fleet"], ["Harbour"])
    assert list(site.mounts("Harbour")) == ["logs", "maps"]
    assert (JUBL.owners(), JUBL.clients(), JUBL.clients("JUMP")) == (["JUMP"], ["JUBL"], ["JUBL"])


def test_a_quorum_is_the_administrators_node_and_the_servers(tmp_path: Path) -> None:
    site = owning(tmp_path)
    assert site.servers("logs") == ["quay1", "quay2"]
    assert site.quorum("Harbour") == ["pier", "quay1", "quay2"]
    assert site.quorum("Fleet") == ["lark", "wren", "gull"]
    assert (JUBL.quorum("JUMP"), JUBL.quorum("JUBL")) == (["nsd01", "nsd02", "nsd03", "nsd04"], ["SN"])


def test_what_has_parity_by_itself_and_what_each_disk_holds(tmp_path: Path) -> None:
    site = owning(tmp_path)
    filesystems = site.topology.filesystems
    assert {name: f.parity for name, f in filesystems.items()} == {"logs": 0, "maps": 1}
    assert disk_mib(filesystems["logs"], 2) == disk_mib(filesystems["maps"], 3) == 32
    six = Filesystem(owner="a", servers=["b"], parity=2, size_mib=100, mount_point="/c")
    assert disk_mib(six, 6) == 25


def test_diskless_nodes_are_those_of_pools_that_boot() -> None:
    assert JUBL.diskless() == JUBL.nodes_of("io") and len(JUBL.diskless()) == 8
    assert SMALL.diskless() == [] and SMALL.boot_pool() is None
    pool = JUBL.boot_pool()
    assert pool is not None and pool.boot.server == "SN"


def test_routes_lead_to_networks_prefixes_hosts_and_everywhere() -> None:
    to_land, to_quay, _ = SMALL.nodes["lark"].routes
    (everywhere,) = SMALL.nodes["pier"].routes
    assert SMALL.destination(to_land) == IPv4Network("10.30.0.0/24")
    assert SMALL.destination(to_quay) == IPv4Network("10.30.0.11/32")
    assert SMALL.destination(everywhere) == IPv4Network("0.0.0.0/0")
