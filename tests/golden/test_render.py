"""The files that a site is rendered to: some word by word, and what must hold of all of them.

tests/golden/jubl/ holds the expected text of the files that matter most, public keys replaced by KEY. After
a change that is meant, rewrite them and read the difference:

    UPDATE_GOLDEN=1 python -m pytest tests/golden/test_render.py && git diff tests/golden/jubl
"""

import os
import re
from ipaddress import IPv4Address
from pathlib import Path
from time import monotonic

import pytest
import yaml

from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.plan.hardware import mac_address
from causeway.render.files import Files, render
from causeway.render.secrets import Secrets

REPO = Path(__file__).parents[2]
GOLDEN = REPO / "tests/golden/jubl"
TOPOLOGY = REPO / "topologies/jubl.yaml"
ION = "R00-M0-NC-3"

EXACT = [
    "jubl.clab.yml",
    "nodes/FEN/etc/network/interfaces",
    "nodes/nsd01/etc/network/interfaces",
    "nodes/cn01/etc/network/interfaces",
    "nodes/deisa/etc/network/interfaces",
    f"nodes/{ION}/etc/network/interfaces",
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
    f"nodes/{ION}/etc/chrony/chrony.conf",
    "nodes/SN/etc/ssh/ssh_known_hosts",
    "nodes/nsd01/etc/ssh/ssh_known_hosts",
    "nodes/SN/root/.ssh/authorized_keys",
    "nodes/SN/etc/sysctl.d/90-site.conf",
    "nodes/deisa/etc/sysctl.d/60-forwarding.conf",
]


def rendered(io_nodes: int | None = None, topology: Path = TOPOLOGY) -> tuple[Site, Files]:
    site = load_site(topology, io_nodes)
    return site, render(site, Secrets(site))


@pytest.fixture(scope="module")
def jubl() -> tuple[Site, Files]:
    return rendered()


@pytest.fixture(scope="module")
def full() -> tuple[Site, Files]:
    return rendered(288)


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


def test_every_private_key_is_for_its_owner_alone(full: tuple[Site, Files]) -> None:
    private = {path: file for path, file in full[1].items() if "PRIVATE KEY" in file.text}
    assert len(private) == 2 * sum(node.cluster is not None for node in full[0].nodes.values())
    assert {file.mode for file in private.values()} == {0o600}
    assert {path.rpartition("/")[2] for path in private} == {"ssh_host_ed25519_key", "id_ed25519"}
    authorized = [file for path, file in full[1].items() if path.endswith("/authorized_keys")]
    assert {file.mode for file in authorized} == {0o600}


def test_only_what_is_run_is_executable(full: tuple[Site, Files]) -> None:
    executable = {path for path, file in full[1].items() if file.mode & 0o111}
    switches = [name for name, node in full[0].nodes.items() if node.switch]
    assert executable == {f"nodes/{name}/etc/openvswitch/switch" for name in switches}


def test_no_two_ports_share_a_hardware_address(full: tuple[Site, Files]) -> None:
    site, files = full
    links = yaml.safe_load(files["jubl.clab.yml"].text)["topology"]["links"]
    macs = [end["mac"] for link in links for end in link["endpoints"]]
    assert len(macs) == 2 * len(site.cables) == 2 * (13 + 4 * 4 + 2 * 2 + 288)
    assert len(set(macs)) == len(macs)
    # locally administered, and of one station, not a group
    assert all(int(mac[:2], 16) & 0b11 == 0b10 for mac in macs)


def test_each_port_of_the_containerlab_file_is_in_its_nodes_ports_file(full: tuple[Site, Files]) -> None:
    site, files = full
    links = yaml.safe_load(files["jubl.clab.yml"].text)["topology"]["links"]
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


def test_288_io_nodes_are_rendered_in_seconds() -> None:
    begun = monotonic()
    site, files = rendered(288)
    assert len(site.nodes) == 299
    assert len(files) > 288 * 10
    assert monotonic() - begun < 5


def test_every_address_of_288_io_nodes_is_one_nodes_own_and_inside_its_network(
    full: tuple[Site, Files],
) -> None:
    site = full[0]
    legs = [leg for node in site.nodes.values() for leg in node.interfaces.values()]
    addresses = [leg.address for leg in legs]
    assert len(set(addresses)) == len(addresses)
    assert all(leg.address in site.topology.networks[leg.network].subnet for leg in legs)
    ions = [n.interfaces["eth0"].address for n in site.nodes.values() if n.role == "ion"]
    assert min(ions) == IPv4Address("10.2.64.33")
    assert not {int(address) & 0xFF for address in ions} & {0, 255}


NAME_SERVERS = {"nsd01": "JUMP", "SN": "JUBL"}


def zone_records(files: Files, server: str, kind: str) -> list[tuple[str, str]]:
    """(fully qualified name, value) of every record of a kind in a name server's zones."""
    records = []
    for path, file in files.items():
        if path.startswith(f"nodes/{server}/etc/bind/db."):
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
    assert len(zones) == 1 + 1 + 1 + 4  # the domain, f, m, and a /22 in four parts


def test_no_other_node_has_zones(full: tuple[Site, Files]) -> None:
    assert {path.split("/")[1] for path in full[1] if "/etc/bind/" in path} == set(NAME_SERVERS)


def test_each_zone_names_the_server_that_it_stands_on(full: tuple[Site, Files]) -> None:
    for server in NAME_SERVERS:
        for path, file in full[1].items():
            if path.startswith(f"nodes/{server}/etc/bind/db."):
                assert re.findall(r"\tIN\tNS\t(\S+)", file.text) == [f"{server}.site.example."], path


def test_each_node_asks_its_own_clusters_name_server(full: tuple[Site, Files]) -> None:
    site, files = full
    asks = {
        name: files[f"nodes/{name}/etc/resolv.conf"].text.split("nameserver ")[1].strip()
        for name, node in site.nodes.items()
        if node.cluster is not None
    }
    address = {"JUMP": "10.1.33.202", "JUBL": "10.2.64.220"}  # nsd01f, SN-b
    assert asks == {name: address[node.cluster] for name, node in site.nodes.items() if node.cluster is not None}


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
    lines = files["nodes/nsd01/etc/hosts"].text.splitlines()
    hosts = {f"{name}.": line.split()[0] for line in lines for name in line.split()[1:] if "." in name}
    for server in NAME_SERVERS:
        assert hosts == dict(zone_records(files, server, "A"))


def test_all_io_nodes_share_one_host_key_and_others_have_their_own(full: tuple[Site, Files]) -> None:
    site, files = full
    for key in ("etc/ssh/ssh_host_ed25519_key", "root/.ssh/id_ed25519"):
        of = {name: files[f"nodes/{name}/{key}"].text for name, node in site.nodes.items() if node.cluster}
        ions = {of[name] for name in of if site.nodes[name].role == "ion"}
        others = [of[name] for name in of if site.nodes[name].role != "ion"]
        assert len(ions) == 1
        assert len({*others, *ions}) == len(others) + 1


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
    known = {
        cluster: [line.split() for line in files[f"nodes/{node}/etc/ssh/ssh_known_hosts"].text.splitlines()]
        for cluster, node in (("JUMP", "nsd01"), ("JUBL", "SN"))
    }
    for name, node in site.nodes.items():
        for leg in node.interfaces.values():
            for host in (str(leg.address), *leg.names, *(f"{n}.site.example" for n in leg.names)):
                for cluster, lines in known.items():
                    keys = [
                        f"{kind} {key}"
                        for patterns, kind, key, _ in lines
                        if any(matches(p, host) for p in patterns.split(","))
                    ]
                    own = files.get(f"nodes/{name}/etc/ssh/ssh_host_ed25519_key.pub")
                    if cluster == node.cluster:
                        assert own is not None
                        assert keys == [" ".join(own.text.split()[:2])], host
                    else:
                        assert keys == [], host


def test_root_of_each_node_may_log_in_on_every_node_of_its_cluster_only(jubl: tuple[Site, Files]) -> None:
    site, files = jubl
    clustered = {name: node for name, node in site.nodes.items() if node.cluster}
    for name, node in clustered.items():
        authorized = files[f"nodes/{name}/root/.ssh/authorized_keys"].text.splitlines()
        for other, its in clustered.items():
            public = files[f"nodes/{other}/root/.ssh/id_ed25519.pub"].text.strip()
            assert (public in authorized) == (its.cluster == node.cluster), (name, other)


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
            if mtu := re.search(r"^    mtu (\d+)$", stanza, re.MULTILINE):
                found[f"interface {name}:{stanza.split()[0]}"] = mtu.group(1)
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
    }
    jumbo = {*ports, *legs, "switch zam870:br-b"}
    assert len(ports) == 2 * (1 + 20 + 8)
    assert {"interface nsd01:bond0", "interface deisa:eth0", f"interface {ION}:eth0"} <= legs
    changed = {where: mtu for where, mtu in after.items() if mtu != before[where]}
    assert changed == dict.fromkeys(jumbo, "9000")
    assert after.keys() == before.keys()


def test_an_mtu_of_a_bonds_own_is_that_of_its_members_too(tmp_path: Path) -> None:
    _, files = rendered(topology=back_to_back(tmp_path))
    for name in ("a", "b"):
        assert "    mtu 9000\n" in files[f"nodes/{name}/etc/network/interfaces"].text
        ports = files[f"nodes/{name}/ports"].text.splitlines()
        assert [line.split()[2] for line in ports] == ["9000", "9000"]


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
    text = TOPOLOGY.read_text().replace("subnet: 10.2.64.0/22", "subnet: 10.2.64.192/27")
    text = text.replace("10.2.64.1,", "10.2.64.193,").replace("via: 10.2.64.1}", "via: 10.2.64.193}")
    text = text.replace("addresses_from: 10.2.64.33", "addresses_from: 10.2.64.215").replace(
        "first: R00-M0-NC-3", "first: R00-M0-N0-3"
    )
    file.write_text(text)
    ions = [node for node in load_site(file, 6).nodes.values() if node.role == "ion"]
    # SN and FEN have 220 and 221
    last_octets = [int(node.interfaces["eth0"].address) & 0xFF for node in ions]
    assert last_octets == [215, 216, 217, 218, 219, 222]
