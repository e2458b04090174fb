"""Changes of a site as people hand them in: patches, native files, commands."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
import yaml

from causeway.errors import BadInput
from causeway.folders import REPO, site_file, sites
from causeway.lab.deploy import write
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import Route
from causeway.model.yaml_text import Text
from causeway.rehearse.change import Change, read_change
from causeway.rehearse.commands import apply
from causeway.rehearse.interfaces import apply_file, stanzas
from causeway.rehearse.state import Fails, NotPredicted, State
from causeway.render.secrets import Secrets
from causeway.render.site import render
from tests.sites.draw import text as drawn

SMALL = REPO / "topologies" / "small" / "site.yaml"
SITE = load_site(SMALL)
MAKERS = REPO / "tests" / "sites" / "makers.yaml"


def changed(tmp_path: Path, text: str, name: str = "change.txt", site: Path = SMALL) -> Change:
    file = tmp_path / name
    file.write_text(text)
    return read_change(site, None, file)


def after(*commands: str) -> Site:
    """small after commands, each as NODE# COMMAND."""
    state = State(SITE)
    for line in commands:
        node, _, command = line.partition("# ")
        apply(state, node, command)
    return state.site


def routes(site: Site, node: str) -> dict[str, list[str]]:
    return {str(site.destination(r)): [str(v) for v in r.via] for r in site.nodes[node].routes}


# patches


@pytest.mark.parametrize(
    ("value", "patch", "due"),
    [  # RFC 7396, appendix A
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({"a": "foo"}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_patch_merges_as_rfc_7396_says(tmp_path: Path, value: object, patch: object, due: object) -> None:
    files = tmp_path / "value.yaml", tmp_path / "patch.yaml"
    for file, data in zip(files, (value, patch), strict=True):
        file.write_text(yaml.safe_dump(data))
    assert Text(files[0]).patched(Text(files[1])).data == due


def test_a_patched_site_is_the_site_with_what_differs(tmp_path: Path) -> None:
    patch = "networks: {sea: {mtu: 9000}}\nnodes: {pier: null}\nlinks: [{ends: [lock:eth0, basin:lock]}]"
    change = changed(tmp_path, patch, "patch.yaml")
    assert change.before == SITE
    assert change.after.topology.networks["sea"].mtu == 9000
    assert SITE.nodes.keys() - change.after.nodes.keys() == {"pier"}


def test_mistakes_of_a_patch_stand_in_the_patch_and_those_that_it_causes_in_the_site(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        changed(tmp_path, "networks:\n  sea: {mtu: 90000}\nnodes: {pier: null}\n", "patch.yaml")
    found = {(Path(p.file).name, p.line, p.path) for p in caught.value.problems}
    lines = SMALL.read_text().splitlines()
    link = next(number for number, line in enumerate(lines, 1) if "pier:eth0" in line)
    assert found == {("patch.yaml", 2, "networks.sea.mtu"), ("site.yaml", link, "links[0].ends[0]")}


def test_another_version_of_the_file_is_a_change_and_another_site_is_none(tmp_path: Path) -> None:
    text = SMALL.read_text()
    assert changed(tmp_path, text, "site.yaml").after == SITE
    with pytest.raises(BadInput, match="this is site other, and"):
        changed(tmp_path, text.replace("lab: small", "lab: other"), "site.yaml")


# commands


def test_a_file_of_commands_names_nodes_and_patterns(tmp_path: Path) -> None:
    change = changed(tmp_path, "# raise it\n\nquay?# ip link set bond0 mtu 9000\nlark# ip link set eth0 mtu 9000\n")
    assert [(step.line, step.nodes) for step in change.steps] == [(3, ["quay1", "quay2"]), (4, ["lark"])]
    assert change.after.mtu(Port("quay2", "eth1")) == change.after.mtu(Port("lark", "eth0")) == 9000
    assert change.steps[0].after.mtu(Port("lark", "eth0")) == 1500


def test_every_line_that_is_no_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        changed(tmp_path, "ip route\nnobody# ip route\nlark# ip route\n")
    assert [(p.line, p.what) for p in caught.value.problems] == [
        (1, "this is no command of a node"),
        (2, "no node is called nobody"),
    ]
    with pytest.raises(BadInput, match="there is no command in it"):
        changed(tmp_path, "# nothing\n")


def test_what_fails_and_what_is_not_predicted_is_said_with_its_line(tmp_path: Path) -> None:
    change = changed(
        tmp_path, "lark# ip route del 10.99.0.0/16\nwren# tc qdisc del dev eth0 root\ngull# ip route show\n"
    )
    assert change.after == SITE
    assert [text.partition("change.txt:")[2] for text in change.fails] == [
        "1: lark# ip route del 10.99.0.0/16 fails: RTNETLINK answers: No such process"
    ]
    assert [text.partition("change.txt:")[2] for text in change.unpredicted] == [
        "2: wren# tc qdisc del dev eth0 root: what tc does"
    ]


def test_routes_come_and_go() -> None:
    was = routes(SITE, "lark")
    assert routes(after("lark# ip route del 10.30.0.12"), "lark") == {k: v for k, v in was.items() if "0.12" not in k}
    new = after("lark# ip route add 10.40.0.0/16 via 10.20.0.11 metric 5 mtu 1400 src 10.20.0.31")
    added = Route(to=IPv4Network("10.40.0.0/16"), via=[IPv4Address("10.20.0.11")], metric=5, mtu=1400,
                  src=IPv4Address("10.20.0.31"))  # fmt: skip
    assert new.nodes["lark"].routes[-1] == added
    moved = after("lark# ip ro replace 10.30.0.0/24 via 10.20.0.12 dev eth0")
    assert routes(moved, "lark")["10.30.0.0/24"] == ["10.20.0.12"]
    both = after("lark# ip route replace 10.30.0.0/24 nexthop via 10.20.0.1 nexthop via 10.20.0.12")
    assert routes(both, "lark")["10.30.0.0/24"] == ["10.20.0.1", "10.20.0.12"]
    assert routes(after("lark# ip route change 10.30.0.12 via 10.20.0.1"), "lark")["10.30.0.12/32"] == ["10.20.0.1"]


def test_a_member_that_is_taken_out_and_put_back_leaves_no_trace() -> None:
    out = "quay1# echo -eth2 > /sys/class/net/bond0/bonding/slaves"
    ends = {end.node: end.members for _, end, other in after(out).channel_ends() if "quay1" in (end.node, end.name)}
    assert ends == {"quay1": ["eth1", "eth3"], "basin": ["quay1-1", "quay1-3"]}
    assert after(out) == after("quay1# ip link set dev eth2 down")
    assert after(out, "quay1# echo +eth2 > /sys/class/net/bond0/bonding/slaves") == SITE
    assert after("basin# ip link set quay1-2 down", "basin# ip link set quay1-2 up") == SITE


def test_each_end_of_a_channel_has_its_own_policy() -> None:
    site = after(
        "quay1# echo layer2 > /sys/class/net/bond0/bonding/xmit_hash_policy",
        "basin# ovs-vsctl set port quay1 bond_mode=balance-tcp",
    )
    ends = {end.node: end.hash_policy for _, end, other in site.channel_ends() if "quay1" in (end.node, end.name)}
    assert ends == {"quay1": "layer2", "basin": "balance-tcp"}


def test_another_makers_policy_is_set_by_its_program() -> None:
    state = State(load_site(MAKERS))
    apply(state, "aix", "bond-policy bond0 src_port")
    apply(state, "cat", 'bond-policy aix "ip source"')
    apply(state, "cat", "bond-policy other")  # asks
    assert [(end.node, end.hash_policy) for end in state.site.channels[0].ends] == [
        ("aix", "src_port"),
        ("cat", "ip source"),
    ]
    for node, bond, policy in (("aix", "bond0", "ip source"), ("cat", "aix", "src_port")):
        with pytest.raises(Fails):
            apply(state, node, f'bond-policy {bond} "{policy}"')


@pytest.mark.parametrize(("node", "mode"), [("aix", "802.3ad"), ("other", "balance-xor"), ("other", "balance-rr")])
def test_one_end_alone_of_another_mode_is_not_predicted(node: str, mode: str) -> None:
    bond = f"auto bond0\niface bond0 inet static\n address 10.40.0.11/24\n bond-slaves eth1\n bond-mode {mode}\n"
    state = State(load_site(MAKERS))
    said = list(apply_file(state, node, bond))
    assert any(f"a bond of mode {mode}, where its channel's ends are of protocol" in line for line in said)


def test_mtus_by_three_tools_and_tunables() -> None:
    by = ("lark# ip link set eth0 mtu 1400", "lark# echo 1400 > /sys/class/net/eth0/mtu")
    assert [after(command).mtu(Port("lark", "eth0")) for command in by] == [1400, 1400]
    site = after("basin# ovs-vsctl set interface quay1-1 mtu_request=9000", "lark# sysctl -w net.ipv4.ip_forward=1",
                 "lark# sysctl -w net.ipv4.tcp_sack=0")  # fmt: skip
    assert site.mtu(Port("basin", "quay1-1")) == 9000
    assert site.nodes["lark"].forwards
    assert site.nodes["lark"].sysctl == {"net.ipv4.tcp_sack": "0"}


def test_an_address_and_an_interface_go_with_their_routes_and_come_back_without_them() -> None:
    gone = after("lark# ip addr del 10.20.0.31/24 dev eth0")
    assert (gone.nodes["lark"].interfaces, gone.nodes["lark"].routes) == ({}, [])
    back = after("lark# ip addr del 10.20.0.31/24 dev eth0", "lark# ip addr add 10.20.0.31/24 dev eth0")
    assert back.nodes["lark"].interfaces == SITE.nodes["lark"].interfaces
    assert back.nodes["lark"].routes == []
    down = after("lark# ip link set eth0 down")
    assert (down.down, down.nodes["lark"].routes) == ({Port("lark", "eth0")}, [])


@pytest.mark.parametrize(
    "line",
    [
        "lark# ip route add 10.30.0.0/24 via 10.20.0.12",  # there already
        "lark# ip route add 10.20.0.0/24 via 10.20.0.12",  # connected
        "lark# ip route add 10.40.0.0/16 via 10.30.0.1",  # the gateway is not near
        "lark# ip route add 10.40.0.0/16 via 10.20.0.31",  # its own address
        "lark# ip route add 10.40.0.0/16 via 10.20.0.1 src 10.20.0.32",
        "lark# ip route add 10.40.0.0/16 via 10.20.0.1 dev eth9",
        "lark# ip route add 10.40.0.300 via 10.20.0.1",
        "lark# ip route add",
        "lark# ip route change 10.40.0.0/16 via 10.20.0.1",
        "lark# ip link set eth7 mtu 9000",
        "lark# ip link set eth0 mtu 20",
        "lark# ip addr del 10.20.0.32/24 dev eth0",
        "quay1# echo +eth9 > /sys/class/net/bond7/bonding/slaves",
        "quay1# echo -eth9 > /sys/class/net/bond0/bonding/slaves",
        "quay1# echo layer5 > /sys/class/net/bond0/bonding/xmit_hash_policy",
        "basin# ovs-vsctl set port quay1 bond_mode=layer2",
    ],
)
def test_what_a_node_would_refuse_fails_and_changes_nothing(line: str) -> None:
    state = State(SITE)
    node, _, command = line.partition("# ")
    with pytest.raises(Fails):
        apply(state, node, command)
    assert state.site == SITE


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /", "ip route add 10.40.0.0/16 dev eth0", "ip route flush cache", "ip rule add from all table 7",
        "ip route add 10.40.0.0/16 via 10.20.0.1 table 7", "ip link set eth0 master br0", "ip link add x type dummy",
        "ip addr add 10.20.0.77/24 dev eth0", "ip link set eth0 mtu 1400; reboot", "echo 1 > /proc/x",
        "cat > /etc/hosts",
        "sysctl -p", "ovs-vsctl add-br x", "ovs-vsctl set port quay1 lacp=off", "ip 'route",
        "for i in 1; do ip link set eth0 mtu 1400", "ip route append default via 10.20.0.1", "ip tunnel show",
    ],
)  # fmt: skip
def test_what_is_not_interpreted_is_said_and_changes_nothing(command: str) -> None:
    state = State(SITE)
    with pytest.raises(NotPredicted):
        apply(state, "lark", command)
    assert state.site == SITE


@pytest.mark.parametrize("command", ["ip route show", "ip a", "cat /proc/net/bonding/bond0", "ping -c 1 10.20.0.1", ""])
def test_who_only_looks_changes_nothing(command: str) -> None:
    state = State(SITE)
    apply(state, "lark", command)
    assert state.site == SITE


def test_a_policy_of_which_the_member_is_a_random_number_is_not_predicted() -> None:
    with pytest.raises(NotPredicted, match="encap3"):
        after("quay1# echo encap3+4 > /sys/class/net/bond0/bonding/xmit_hash_policy")


# native files


def overlay(tmp_path: Path, site: Site, *nodes: str) -> Path:
    """What is rendered for nodes, as a folder of the user's own files."""
    folder = tmp_path / "mine"
    files = render(site, Secrets(site)).items()
    mine = {path.removeprefix("nodes/"): f for path, f in files if path.startswith(tuple(f"nodes/{n}/" for n in nodes))}
    write({path: f for path, f in mine.items() if not path.endswith("/ports")}, folder)
    return folder


@pytest.mark.parametrize("source", [*sites(), str(MAKERS), *range(12)])
def test_rendered_files_as_an_overlay_are_no_change(source: str | int, tmp_path: Path) -> None:
    file = site_file(source) if isinstance(source, str) else tmp_path / "site.yaml"
    if isinstance(source, int):
        file.write_text(drawn(source))
    site = load_site(file)
    diskless = set(site.diskless())
    change = read_change(file, None, overlay(tmp_path, site, *(name for name in site.nodes if name not in diskless)))
    assert [text for text in change.unpredicted if "not interpreted" not in text] == change.fails == []
    interpreted = "network/interfaces", "sysctl.d/"
    assert not any(path in text for text in change.unpredicted for path in interpreted)
    for name, node in site.nodes.items():
        now = change.after.nodes[name]
        assert now.interfaces == node.interfaces
        assert routes(change.after, name) == routes(site, name)
        assert now.forwards == node.forwards
    assert change.after.channels == site.channels
    assert {port: site.mtu(port) for port in change.after.mtus} == change.after.mtus


def test_an_edited_interfaces_file_is_that_change(tmp_path: Path) -> None:
    folder = overlay(tmp_path, SITE, "quay1", "lark")
    file = folder / "quay1/etc/network/interfaces"
    file.write_text(file.read_text().replace("layer3+4", "layer2").replace("mtu 1500", "mtu 9000").replace(" eth3", ""))
    (folder / "lark/etc/network/interfaces").write_text(
        "auto eth0\niface eth0 inet static\n  address 10.20.0.31\n  netmask 255.255.255.0\n  gateway 10.20.0.1\n"
        "  up ip route add 10.99.0.0/16 via 10.77.0.1\n  hwaddress 02:00:00:00:00:01\n"
    )
    change = read_change(SMALL, None, folder)
    end = change.after.end_of("quay1", "basin")
    assert (end.hash_policy, end.members) == ("layer2", ["eth1", "eth2"])
    assert change.after.mtu(Port("quay1", "eth1")) == 9000
    assert routes(change.after, "lark") == {"0.0.0.0/0": ["10.20.0.1"]}
    assert [text.partition("interfaces: ")[2] for text in change.fails] == [
        "eth0: up ip route add 10.99.0.0/16 via 10.77.0.1 fails: Error: Nexthop has invalid gateway."
    ]
    assert "lark: /etc/network/interfaces: eth0: hwaddress is not interpreted" in change.unpredicted


def test_what_does_not_come_up_by_itself_is_gone() -> None:
    found, strange = stanzas("auto lo eth1\niface lo inet loopback\niface eth0 inet static\niface eth1 inet static\n"
                             " address 10.0.0.1/24\nsource /etc/x\niface eth1 inet6 auto\n")  # fmt: skip
    assert [(stanza.device, stanza.options) for stanza in found] == [("lo", []), ("eth1", [("address", "10.0.0.1/24")])]
    assert strange == ["source /etc/x", "iface eth1 inet6 auto"]


def test_of_tunables_the_last_file_counts_and_one_that_is_gone_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "lock" / "etc" / "sysctl.d"
    folder.mkdir(parents=True)
    (folder / "60-forwarding.conf").write_text("# nothing\n")
    (folder / "99-x.conf").write_text("net/ipv4/conf/all/rp_filter=1\n")
    change = read_change(SMALL, None, tmp_path / "mine")
    assert change.after.nodes["lock"].sysctl == {"net.ipv4.conf.all.rp_filter": "1"}
    assert change.unpredicted == ["lock: net.ipv4.ip_forward is set no more, and its default is not known"]
    (folder / "60-forwarding.conf").write_text("net.ipv4.ip_forward = 0\n")
    assert not read_change(SMALL, None, tmp_path / "mine").after.nodes["lock"].forwards


def test_an_overlay_for_strangers_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "mine" / "nobody").mkdir(parents=True)
    with pytest.raises(BadInput, match="nobody: no such node"):
        read_change(SMALL, None, tmp_path / "mine")


def test_a_file_of_another_kind_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "lark" / "etc"
    folder.mkdir(parents=True)
    (folder / "passwd").write_text("x")
    (folder / "blob").write_bytes(b"\xff\xfe\x00")
    assert read_change(SMALL, None, tmp_path / "mine").unpredicted == [
        "lark: /etc/blob: this is no text",
        "lark: /etc/passwd: a file of its kind is not interpreted",
    ]


def test_sites_that_a_plan_changes_have_their_own_mtus() -> None:
    site = replace(SITE, mtus={Port("quay1", "bond0"): 4000, Port("quay1", "eth2"): 2000})
    assert [site.mtu(Port("quay1", device)) for device in ("bond0", "eth1", "eth2")] == [4000, 4000, 2000]
    assert site.mtu(Port("lock", "br-land")) == 1500
