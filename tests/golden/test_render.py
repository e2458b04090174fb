"""The files that a site is rendered to: some word by word, and what must hold of all of them.

tests/golden/jubl/ holds the expected text of the files that matter most, public keys replaced by KEY. After
a change that is meant, rewrite them and read the difference:

    UPDATE_GOLDEN=1 python -m pytest tests/golden/test_render.py && git diff tests/golden/jubl
"""

import os
import re
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
import yaml

from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.hardware import mac_address
from causeway.render.filesystems.gluster import disk_mib
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import Files

REPO = Path(__file__).parents[2]
GOLDEN = REPO / "tests/golden/jubl"
TOPOLOGY = REPO / "topologies/jubl/site.yaml"
ION = "R00-M0-NC-3"
#: What the I/O nodes get from SN: the site's own tree, the start scripts in it, and the boot image's files.
DIST = "nodes/SN/bgl/dist"
SCRIPTS = f"{DIST}/etc/rc.d/rc3.d"
RAMDISK = "nodes/SN/bgl/BlueLight/ppcfloor/ramdisk"

EXACT = [
    "jubl.clab.yml",
    "nodes/FEN/etc/network/interfaces",
    "nodes/nsd01/etc/network/interfaces",
    "nodes/cn01/etc/network/interfaces",
    "nodes/deisa/etc/network/interfaces",
    "nodes/nsd01/etc/fstab",
    "nodes/nsd01/etc/glusterfs/glusterd.vol",
    "nodes/nsd01/ports",
    "nodes/deisa/ports",
    "nodes/zam870/etc/openvswitch/switch",
    "nodes/deisa/etc/openvswitch/switch",
    "nodes/SN/etc/bind/named.conf",
    "nodes/SN/etc/bind/db.site.example",
    "nodes/SN/etc/bind/db.64.2.10.in-addr.arpa",
    "nodes/SN/etc/hosts",
    "nodes/SN/etc/resolv.conf",
    "nodes/SN/etc/chrony/chrony.conf",
    "nodes/SN/etc/ssh/ssh_known_hosts",
    "nodes/nsd01/etc/ssh/ssh_known_hosts",
    "nodes/SN/root/.ssh/authorized_keys",
    "nodes/SN/etc/sysctl.d/90-site.conf",
    "nodes/SN/etc/fstab",
    "nodes/SN/etc/exports",
    "nodes/SN/etc/dnsmasq.conf",
    "nodes/SN/etc/nfs.conf",
    "nodes/SN/etc/bgl/blocks",
    "nodes/SN/etc/bgl/ionodes",
    f"{SCRIPTS}/S09etc_sysctl_conf",
    f"{SCRIPTS}/S14etc_ntp_conf",
    f"{SCRIPTS}/S14etc_resolv_conf",
    f"{SCRIPTS}/S14routes_to_federation",
    "nodes/deisa/etc/sysctl.d/60-forwarding.conf",
]


def rendered(io: int | None = None, topology: Path = TOPOLOGY) -> tuple[Site, Files]:
    site = load_site(topology, None if io is None else {"io": io})
    return site, render(site, Secrets(site))


@pytest.fixture(scope="module")
def jubl() -> tuple[Site, Files]:
    return rendered()


@pytest.fixture(scope="module")
def full() -> tuple[Site, Files]:
    return rendered(288)


def containerlab(site: Site, files: Files) -> dict[str, Any]:
    topology: dict[str, Any] = yaml.safe_load(files[f"{site.name}.clab.yml"].text)["topology"]
    return topology


def of(site: Site, name: str, path: str) -> str:
    """Where a file of a node of a cluster is rendered: an I/O node's is the one that all of them get from SN."""
    return f"{DIST}/{path}" if name in site.diskless() else f"nodes/{name}/{path}"


def clustered(site: Site) -> dict[str, str]:
    """The nodes that are in a cluster, and which."""
    return {name: node.cluster for name, node in site.nodes.items() if node.cluster is not None}


def without_keys(text: str) -> str:
    return re.sub(r"ssh-ed25519 [A-Za-z0-9+/=]+", "ssh-ed25519 KEY", text)


def test_golden_holds_no_other_files() -> None:
    there = {str(file.relative_to(GOLDEN)) for file in GOLDEN.rglob("*") if file.is_file()}
    assert there == set(EXACT)


@pytest.mark.parametrize("path", EXACT)
def test_rendered_text_is_the_golden_text(path: str, jubl: tuple[Site, Files]) -> None:
    text = without_keys(jubl[1][path].text)
    golden = GOLDEN / path
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_an_io_nodes_own_tree_is_only_its_ports(full: tuple[Site, Files]) -> None:
    site, files = full
    ions = site.diskless()
    trees = tuple(f"nodes/{name}/" for name in ions)
    assert [path for path in files if path.startswith(trees)] == [f"nodes/{name}/ports" for name in ions]


def test_every_private_key_is_for_its_owner_alone(full: tuple[Site, Files]) -> None:
    site, files = full
    private = {path: file for path, file in files.items() if "PRIVATE KEY" in file.text}
    assert private.keys() == {of(site, name, key) for name in clustered(site) for key in PRIVATE_KEYS}
    assert {file.mode for file in private.values()} == {0o600}
    authorized = {path: file for path, file in files.items() if path.endswith("/authorized_keys")}
    assert authorized.keys() == {of(site, name, "root/.ssh/authorized_keys") for name in clustered(site)}
    assert {file.mode for file in authorized.values()} == {0o600}


def test_only_what_is_run_is_executable_and_says_by_what(full: tuple[Site, Files]) -> None:
    site, files = full
    executable = {path: file for path, file in files.items() if file.mode & 0o111}
    switches = {f"nodes/{name}/etc/openvswitch/switch" for name, node in site.nodes.items() if node.switch}
    commands = {p for p in files if p.startswith(("nodes/SN/usr/local/sbin/", "nodes/SN/etc/init.d/"))}
    booting = {f"{RAMDISK}/{path}" for path in ("init", "etc/rc.d/rc.sysinit", "etc/udhcpc.script")}
    assert {path.rpartition("/")[2] for path in commands} >= {"bglallocate", "bgl-boot"}
    assert executable.keys() == switches | commands | booting
    assert all(file.text.startswith("#!/bin/") for file in executable.values())


def test_no_two_ports_share_a_hardware_address(full: tuple[Site, Files]) -> None:
    site, files = full
    macs = [end["mac"] for link in containerlab(site, files)["links"] for end in link["endpoints"]]
    assert len(macs) == 2 * len(site.cables) == 2 * (13 + 4 * 4 + 2 * 2 + 288)
    assert len(set(macs)) == len(macs)
    # locally administered, and of one station, not a group
    assert all(int(mac[:2], 16) & 0b11 == 0b10 for mac in macs)


def test_each_port_of_the_containerlab_file_is_in_its_nodes_ports_file(full: tuple[Site, Files]) -> None:
    site, files = full
    links = containerlab(site, files)["links"]
    plugged = sorted((end["node"], end["interface"]) for link in links for end in link["endpoints"])
    listed = sorted(
        (name, line.split()[0]) for name in site.nodes for line in files[f"nodes/{name}/ports"].text.splitlines()
    )
    assert listed == plugged


def test_a_hardware_address_stays_when_other_nodes_come_and_go(
    jubl: tuple[Site, Files], full: tuple[Site, Files]
) -> None:
    for cable in jubl[0].cables:
        for port in cable.ends:
            assert mac_address(jubl[0], port) == mac_address(full[0], port)


def test_288_io_nodes_are_all_rendered(full: tuple[Site, Files]) -> None:
    site, files = full
    assert len(site.nodes) == 299
    assert {f"nodes/{name}/ports" for name in site.nodes} <= files.keys()


def test_every_address_of_288_io_nodes_is_one_nodes_own_and_inside_its_network(
    full: tuple[Site, Files],
) -> None:
    site = full[0]
    legs = [leg for node in site.nodes.values() for leg in node.interfaces.values()]
    addresses = [leg.address for leg in legs]
    assert len(set(addresses)) == len(addresses)
    assert all(leg.address in site.topology.networks[leg.network].subnet for leg in legs)
    ions = [site.nodes[name].interfaces["eth0"].address for name in site.diskless()]
    assert min(ions) == IPv4Address("10.2.64.33")
    assert not {int(address) & 0xFF for address in ions} & {0, 255}


PRIVATE_KEYS = ("etc/ssh/ssh_host_ed25519_key", "root/.ssh/id_ed25519")
NAME_SERVERS = {"nsd01": "JUMP", "SN": "JUBL"}


def zone_records(files: Files, server: str, kind: str) -> list[tuple[str, str]]:
    """(fully qualified name, value) of every record of a kind in a name server's zones of the site."""
    records = []
    for path, file in files.items():
        if path.startswith(f"nodes/{server}/etc/bind/db.") and not path.endswith("/db.root"):
            zone = path.rpartition("/db.")[2]
            for line in file.text.splitlines():
                words = line.split()
                if words[1:3] == ["IN", kind]:
                    records.append((f"{words[0]}.{zone}.", words[3]))
    return records


@pytest.mark.parametrize("server", NAME_SERVERS)
@pytest.mark.parametrize("which", ["jubl", "full"])
def test_every_name_resolves_forward_and_every_address_back(
    which: str, server: str, request: pytest.FixtureRequest
) -> None:
    site, files = request.getfixturevalue(which)
    forward = dict(zone_records(files, server, "A"))
    back = dict(zone_records(files, server, "PTR"))
    assert len(forward) == len(zone_records(files, server, "A"))
    assert len(back) == len(zone_records(files, server, "PTR"))
    legs = [leg for node in site.nodes.values() for leg in node.interfaces.values()]
    assert forward == {f"{n}.site.example.": str(leg.address) for leg in legs for n in leg.names}
    assert back == {f"{leg.address.reverse_pointer}.": f"{leg.names[0]}.site.example." for leg in legs}
    assert all(forward[back[f"{leg.address.reverse_pointer}."]] == str(leg.address) for leg in legs)


@pytest.mark.parametrize("server", NAME_SERVERS)
def test_every_zone_that_named_serves_is_rendered(server: str, full: tuple[Site, Files]) -> None:
    _, files = full
    named = files[f"nodes/{server}/etc/bind/named.conf"].text
    zones = re.findall(r'zone "([^"]+)" \{ type primary; file "([^"]+)"; \};', named)
    rendered_zones = {path for path in files if path.startswith(f"nodes/{server}/etc/bind/db.")}
    assert {f"nodes/{server}{file}" for _, file in zones} == rendered_zones
    assert len(zones) == 1 + 1 + 1 + 4 + 1  # the domain, f, m, a /22 in four parts, and the root


@pytest.mark.parametrize("server", NAME_SERVERS)
def test_the_root_zone_has_the_address_of_its_own_server_and_no_other(server: str, full: tuple[Site, Files]) -> None:
    # without it named does not load the zone, and what is in no zone is no longer "no such name"
    root = full[1][f"nodes/{server}/etc/bind/db.root"].text
    name = f"{server}.site.example."
    assert re.findall(r"^(\S+)\tIN\tA\t(\S+)$", root, re.MULTILINE) == [
        (name, dict(zone_records(full[1], server, "A"))[name])
    ]


def test_no_other_node_has_zones(full: tuple[Site, Files]) -> None:
    assert {path.split("/")[1] for path in full[1] if "/etc/bind/" in path} == set(NAME_SERVERS)


def test_each_zone_names_the_server_that_it_stands_on(full: tuple[Site, Files]) -> None:
    for server in NAME_SERVERS:
        for path, file in full[1].items():
            if path.startswith(f"nodes/{server}/etc/bind/db."):
                assert re.findall(r"\tIN\tNS\t(\S+)", file.text) == [f"{server}.site.example."], path


def test_each_node_asks_its_own_clusters_name_server(full: tuple[Site, Files]) -> None:
    site, files = full
    address = {"JUMP": "10.1.33.202", "JUBL": "10.2.64.220"}  # nsd01f, SN-b
    for name, cluster in clustered(site).items():
        ion = name in site.diskless()
        text = files[f"{SCRIPTS}/S14etc_resolv_conf" if ion else f"nodes/{name}/etc/resolv.conf"].text
        assert re.findall(r"\bnameserver ([\d.]+)", text) == [address[cluster]], name


def test_several_name_servers_are_asked_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(TOPOLOGY.read_text().replace("dns: SN", "dns: [nsd01, SN]"))
    _, files = rendered(topology=file)
    for path in ("nodes/FEN/etc/resolv.conf", f"{SCRIPTS}/S14etc_resolv_conf"):
        assert re.findall(r"\bnameserver ([\d.]+)", files[path].text) == ["10.1.33.202", "10.2.64.220"]


def test_the_zones_name_server_has_an_address_also_when_its_first_name_is_another(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(TOPOLOGY.read_text().replace("names: [SN-b, SN]", "names: [SN-b]"))
    _, files = rendered(topology=file)
    zone = files["nodes/SN/etc/bind/db.site.example"].text
    assert "\tIN\tNS\tSN-b.site.example.\n" in zone
    assert "\nSN-b\tIN\tA\t10.2.64.220\n" in zone


def test_a_switch_can_hash_addresses_and_ports_at_one_channel(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    end = "members: [SN-1, SN-2], hash_policy: "
    file.write_text(TOPOLOGY.read_text().replace(f"{end}balance-slb", f"{end}balance-tcp"))
    _, files = rendered(topology=file)
    switch = files["nodes/zam870/etc/openvswitch/switch"].text
    modes = re.findall(r"add-bond br-b (\S+) .*?bond_mode=(\S+)", switch, re.DOTALL)
    assert dict(modes) == dict.fromkeys(("nsd01", "nsd02", "nsd03", "nsd04", "FEN"), "balance-slb") | {
        "SN": "balance-tcp"
    }


def test_hosts_says_the_same_as_dns(full: tuple[Site, Files]) -> None:
    _, files = full
    for path in ("nodes/nsd01/etc/hosts", f"{DIST}/etc/hosts"):
        lines = files[path].text.splitlines()
        hosts = {f"{name}.": line.split()[0] for line in lines for name in line.split()[1:] if "." in name}
        for server in NAME_SERVERS:
            assert hosts == dict(zone_records(files, server, "A"))


def test_all_io_nodes_share_one_host_key_and_others_have_their_own(full: tuple[Site, Files]) -> None:
    site, files = full
    hosts = [name for name in clustered(site) if name not in site.diskless()]
    for key in PRIVATE_KEYS:
        others = [files[f"nodes/{name}/{key}"].text for name in hosts]
        assert len({*others, files[f"{DIST}/{key}"].text}) == len(hosts) + 1


def without_comments(keys: str) -> list[str]:
    """The kind and the key itself of each line of public keys."""
    return [" ".join(line.split()[:2]) for line in keys.splitlines()]


def matches(pattern: str, host: str) -> bool:
    """As OpenSSH matches a pattern of known_hosts: ? and *, whatever the case."""
    expression = re.escape(pattern).replace(r"\?", ".").replace(r"\*", ".*")
    return re.fullmatch(expression, host, re.IGNORECASE) is not None


@pytest.mark.parametrize("which", ["jubl", "full"])
def test_each_name_and_address_of_a_cluster_has_exactly_its_own_host_key(
    which: str, request: pytest.FixtureRequest
) -> None:
    # Redpaper, "Making the SSH daemons' public keys known": no "duplicate public key matches"
    site, files = request.getfixturevalue(which)
    known = [
        (cluster, [line.split() for line in files[path].text.splitlines()])
        for cluster, path in (
            ("JUMP", "nodes/nsd01/etc/ssh/ssh_known_hosts"),
            ("JUBL", "nodes/SN/etc/ssh/ssh_known_hosts"),
            ("JUBL", f"{DIST}/etc/ssh/ssh_known_hosts"),
            ("JUBL", f"{DIST}/root/.ssh/known_hosts"),
        )
    ]
    for name, node in site.nodes.items():
        for leg in node.interfaces.values():
            for host in (str(leg.address), *leg.names, *(f"{n}.site.example" for n in leg.names)):
                for cluster, lines in known:
                    keys = [
                        f"{kind} {key}"
                        for patterns, kind, key, _ in lines
                        if any(matches(p, host) for p in patterns.split(","))
                    ]
                    own = files.get(of(site, name, "etc/ssh/ssh_host_ed25519_key.pub"))
                    if cluster == node.cluster:
                        assert own is not None
                        assert keys == without_comments(own.text), host
                    else:
                        assert keys == [], host


def test_root_of_each_node_may_log_in_on_every_node_of_its_cluster_only(jubl: tuple[Site, Files]) -> None:
    site, files = jubl
    for name, cluster in clustered(site).items():
        authorized = without_comments(files[of(site, name, "root/.ssh/authorized_keys")].text)
        for other, its in clustered(site).items():
            (public,) = without_comments(files[of(site, other, "root/.ssh/id_ed25519.pub")].text)
            assert (public in authorized) == (its == cluster), (name, other)


def test_keys_are_other_ones_in_each_rendering(jubl: tuple[Site, Files]) -> None:
    path = "nodes/SN/etc/ssh/ssh_host_ed25519_key"
    assert rendered()[1][path].text != jubl[1][path].text


def mtus(site: Site, files: Files) -> dict[str, str]:
    """Every MTU that is rendered, by where it stands."""
    found = {}
    for name, node in site.nodes.items():
        for line in files[f"nodes/{name}/ports"].text.splitlines():
            device, _, mtu, *_ = line.split()
            found[f"port {name}:{device}"] = mtu
        interfaces = files.get(f"nodes/{name}/etc/network/interfaces")
        for stanza in (interfaces.text if interfaces else "").split("\niface ")[1:]:
            if stated := re.search(r"^    mtu (\d+)$", stanza, re.MULTILINE):
                found[f"interface {name}:{stanza.split()[0]}"] = stated[1]
        if node.switch:
            text = files[f"nodes/{name}/etc/openvswitch/switch"].text
            (found[f"switch {name}:br-{node.switch}"],) = re.findall(r"mtu_request=(\d+)", text)
    return found


def test_one_key_makes_every_part_of_the_io_network_jumbo_and_of_the_others_none(
    tmp_path: Path, jubl: tuple[Site, Files]
) -> None:
    text = TOPOLOGY.read_text()
    assert text.count("mtu: 1500") == 1
    file = tmp_path / "jumbo.yaml"
    file.write_text(text.replace("mtu: 1500", "mtu: 9000"))
    site, files = rendered(topology=file)
    before, after = mtus(*jubl), mtus(site, files)
    assert set(before.values()) == {"1500"}
    ports = {f"port {port}" for cable in site.cables if cable.network == "b" for port in cable.ends}
    legs = {
        f"interface {name}:{device}"
        for name, node in site.nodes.items()
        for device, leg in node.interfaces.items()
        if leg.network == "b"
        and name not in site.diskless()  # which has the MTU of its port, and no file that says another
    }
    jumbo = {*ports, *legs, "switch zam870:br-b"}
    assert len(ports) == 2 * (1 + 20 + 8)
    assert {"interface nsd01:bond0", "interface deisa:eth0", f"port {ION}:eth0"} <= jumbo
    changed = {where: mtu for where, mtu in after.items() if mtu != before[where]}
    assert changed == dict.fromkeys(jumbo, "9000")
    assert after.keys() == before.keys()


def test_an_mtu_of_a_bonds_own_is_that_of_its_members_too(tmp_path: Path) -> None:
    _, files = rendered(topology=back_to_back(tmp_path))
    for name in ("a", "b"):
        assert "    mtu 9000\n" in files[f"nodes/{name}/etc/network/interfaces"].text
        ports = files[f"nodes/{name}/ports"].text.splitlines()
        assert [line.split()[2] for line in ports] == ["9000", "9000"]


def test_each_server_has_a_disk_for_each_filesystem_and_every_node_the_daemons_ports(
    full: tuple[Site, Files],
) -> None:
    site, files = full
    filesystems = site.topology.filesystems
    assert filesystems
    tables = {path for path in files if path.endswith("/etc/fstab") and path.startswith("nodes/nsd")}
    assert tables == {f"nodes/{server}/etc/fstab" for name in filesystems for server in site.servers(name)}
    for path in tables:
        disks = [line.split() for line in files[path].text.splitlines() if not line.startswith("#")]
        assert [disk[1:4] for disk in disks] == [
            [f"/disks/{name}", "tmpfs", f"size={disk_mib(f, 4)}m,nr_inodes={64 * disk_mib(f, 4)},x-mount.mkdir"]
            for name, f in filesystems.items()
        ]
    daemons = {path for path in files if path.endswith("etc/glusterfs/glusterd.vol")}
    assert daemons == {of(site, name, "etc/glusterfs/glusterd.vol") for name in clustered(site)}
    assert len({files[path].text for path in daemons}) == 1


def test_three_of_four_disks_hold_what_users_can_store(jubl: tuple[Site, Files]) -> None:
    sizes = {name: (f.size_mib, disk_mib(f, 4)) for name, f in jubl[0].topology.filesystems.items()}
    assert sizes == {"home1": (1536, 512), "work": (6144, 2048)}
    work = jubl[0].topology.filesystems["work"]
    assert [disk_mib(work.model_copy(update={"size_mib": size}), 4) for size in (16, 17, 18, 19)] == [6, 6, 6, 7]
    assert [disk_mib(work.model_copy(update={"parity": p}), n) for n, p in ((3, 1), (5, 2), (6, 2))] == [
        3072,
        2048,
        1536,
    ]
    whole = work.model_copy(update={"layout": "whole", "parity": 0})
    assert [disk_mib(whole, n) for n in (1, 2, 4)] == [6144, 3072, 1536]


def test_a_site_without_filesystems_has_neither_disks_nor_daemons(tmp_path: Path, jubl: tuple[Site, Files]) -> None:
    file = tmp_path / "site.yaml"
    text = TOPOLOGY.read_text()
    begin, end = text.index("filesystems:\n"), text.index("sysctl:\n")
    file.write_text((text[:begin] + text[end:]).replace(", mounts: [home1, work]", ""))
    _, files = rendered(topology=file)
    gone = {path for path in jubl[1] if "glusterfs" in path} | {f"nodes/nsd0{n}/etc/fstab" for n in (1, 2, 3, 4)}
    assert jubl[1].keys() - files.keys() == gone
    assert not files.keys() - jubl[1].keys()


def back_to_back(folder: Path) -> Path:
    """A site of two hosts and a channel between them, with an MTU of the bond's own."""
    nodes = {
        name: {"role": "server", "interfaces": {"bond0": {"network": "n", "address": ip, "mtu": 9000}}}
        for name, ip in (("a", "10.0.0.1"), ("b", "10.0.0.2"))
    }
    end = {"name": "bond0", "members": ["eth0", "eth1"], "hash_policy": "layer2"}
    site = {
        "lab": "two",
        "domain": "two.example",
        "networks": {"n": {"subnet": "10.0.0.0/24"}},
        "clusters": {},
        "nodes": nodes,
        "channels": [{"ends": [{"node": name} | end for name in nodes]}],
    }
    file = folder / "two.yaml"
    file.write_text(yaml.safe_dump(site))
    return file


def test_addresses_end_before_a_small_networks_broadcast_address(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    text = (REPO / "tests/golden/by_hand.yaml").read_text().replace("subnet: 10.2.64.0/22", "subnet: 10.2.64.192/27")
    text = text.replace("10.2.64.1,", "10.2.64.193,").replace("via: 10.2.64.1}", "via: 10.2.64.193}")
    text = text.replace("addresses_from: 10.2.64.33", "addresses_from: 10.2.64.215")
    text = text.replace("first: R00-M0-NC-3", "first: R00-M0-N0-3").replace("R000_NCDEF_FAT\n", "R000_N0123\n")
    file.write_text(text)
    site = load_site(file, {"io": 6})
    # SN and FEN have 220 and 221
    last_octets = [int(site.known_by(name).address) & 0xFF for name in site.diskless()]
    assert last_octets == [215, 216, 217, 218, 219, 222]


@pytest.mark.parametrize("which", ["jubl", "full"])
def test_each_io_node_is_known_by_its_adapter_and_gets_its_own_address_and_name(
    which: str, request: pytest.FixtureRequest
) -> None:
    site, files = request.getfixturevalue(which)
    ions = {name: site.nodes[name].interfaces["eth0"].address for name in site.diskless()}
    assert files["nodes/SN/etc/bgl/ionodes"].text.splitlines() == [
        f"{mac_address(site, Port(name, 'eth0'))},{address},{name}" for name, address in ions.items()
    ]
    # where a booting node finds its name in capitals: the third word
    hosts = [line.split() for line in files[f"{DIST}/etc/hosts"].text.splitlines()]
    assert {words[2]: words[0] for words in hosts if words[-1] in ions} == {n: str(a) for n, a in ions.items()}


def test_service_node_and_io_nodes_share_power_lines_and_consoles_and_have_what_booting_takes(
    full: tuple[Site, Files],
) -> None:
    site, files = full
    nodes = containerlab(site, files)["nodes"]
    assert nodes.keys() == site.nodes.keys()
    for name, node in site.nodes.items():
        own: dict[str, Any] = {"binds": [f"nodes/{name}:/site:ro"], "labels": {"role": node.role}}
        if name == "SN":
            own["binds"] += ["service:/service", "/opt/bglOS/usr:/bglOS/usr:ro"]
        if name in site.diskless():
            own["binds"] += ["service:/service"]
            own |= {"image": "causeway/diskless:latest", "cmd": "/hardware/start"}
        assert nodes[name] == own
    assert {path for path in files if path.startswith("service/")} == {"service/logs/README", "service/power/README"}


def test_a_site_without_io_nodes_has_nothing_to_boot_from(tmp_path: Path) -> None:
    site, files = rendered(topology=back_to_back(tmp_path))
    assert {path.split("/")[0] for path in files} == {"two.clab.yml", "nodes"}
    assert all(node.keys() == {"binds", "labels"} for node in containerlab(site, files)["nodes"].values())


def test_each_block_of_the_shipped_site_has_its_line(jubl: tuple[Site, Files]) -> None:
    site, files = jubl
    pool = site.boot_pool()
    assert pool is not None
    lines = files["nodes/SN/etc/bgl/blocks"].text.splitlines()
    assert [tuple(line.split("\t")) for line in lines if not line.startswith("#")] == list(pool.blocks.items())


def test_what_the_boot_server_can_do_is_the_topologys(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    shipped, other = "nfs_threads: 8, lease_s: 3600, var_mib: 8", "nfs_threads: 3, lease_s: 121, var_mib: 5"
    assert shipped in TOPOLOGY.read_text()
    file.write_text(TOPOLOGY.read_text().replace(shipped, other))
    _, files = rendered(topology=file)
    assert "\nthreads=3\n" in files["nodes/SN/etc/nfs.conf"].text
    assert ",static,255.255.252.0,121\n" in files["nodes/SN/etc/dnsmasq.conf"].text
    assert ",size=5m," in files["nodes/SN/etc/fstab"].text
