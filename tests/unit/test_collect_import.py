"""A site made of what nodes said: small's real outputs give small, and what is changed in them shows."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from causeway.cli.app import main
from causeway.collect.draft import Draft
from causeway.collect.importing import import_site
from causeway.errors import EXIT_BAD_INPUT, BadInput
from causeway.folders import site_file
from causeway.model.load import load_site
from causeway.model.site import Site
from tests.sites.seen import differences, tell_clusters

#: What tests/lab/plays/collected.py wrote on the nodes of small.
SAID = Path(__file__).parent / "collected" / "small"
SMALL = load_site(site_file("small"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """small's outputs, and what its people say of its clusters."""
    shutil.copytree(SAID, tmp_path / "said")
    tell_clusters(SMALL, tmp_path / "said")
    return tmp_path / "said"


def imported(folder: Path) -> tuple[Site, Draft]:
    to = folder.parent / "mine"
    draft = import_site(folder, to)
    return load_site(to / "site.yaml"), draft


def change(folder: Path, node: str, old: str, new: str) -> None:
    file = folder / node
    text = file.read_text()
    assert old in text, f"{old!r} is not in what {node} said"
    file.write_text(text.replace(old, new))


def test_what_small_says_is_small(folder: Path) -> None:
    site, draft = imported(folder)
    assert differences(SMALL, site, SMALL.nodes) == []
    assert draft.questions == {}
    assert site.name == "mine"
    assert [name for name, network in site.topology.networks.items()] == ["sea", "land"]


@pytest.mark.parametrize(
    ("node", "old", "new", "seen"),
    [
        ("gull", '"gateway":"10.20.0.12"', '"gateway":"10.20.0.11"', "node gull route to 10.30.0.12/32"),
        ("gull", '"dst":"10.30.0.0/24","gateway"', '"dst":"10.30.0.0/25","gateway"', "node gull route to 10.30.0.0/25"),
        ("wren", '"local":"10.20.0.32"', '"local":"10.20.0.42"', "node wren interface eth0"),
        ("quay1", "Transmit Hash Policy: layer3+4 (1)", "Transmit Hash Policy: layer2 (0)", "channel basin:quay1"),
        ("pier", "eth0 1000", "eth0 100", "cable lock:pier - pier:eth0"),
        ("lock", "ip_forward:1", "ip_forward:0", "node lock forwards"),
        ("pier", "pier.small.example pier", "jetty.small.example jetty", "node pier interface eth0"),
        ("lark", "nameserver 10.20.0.31", "nameserver 10.20.0.32", None),
        ("basin", '"balance-slb"', '"balance-tcp"', "channel basin:quay1"),
        ("pier", "net.ipv4.tcp_rmem = 4096 262144 8388608", "net.ipv4.tcp_rmem = 4096 262144 1", "node pier tunable"),
    ],
)
def test_what_is_changed_in_an_output_shows(folder: Path, node: str, old: str, new: str, seen: str | None) -> None:
    if "tcp_rmem" in old:
        change(folder, node, "ipv4/tcp_rmem:4096\t262144\t8388608", "ipv4/tcp_rmem:4096\t262144\t1")
    else:
        change(folder, node, old, new)
    site, draft = imported(folder)
    found = differences(SMALL, site, SMALL.nodes)
    if seen is None:
        assert any("ask" in finding for finding in draft.findings)
    else:
        assert [line for line in found if line.startswith(seen)], found


def test_without_a_search_path_the_domain_is_that_of_long_names(folder: Path) -> None:
    for node in SMALL.nodes:
        file = folder / node
        file.write_text(file.read_text().replace(" search small.example\n", ""))
    assert imported(folder)[0].topology.domain == "small.example"


def test_several_name_servers_are_taken_in_their_order(folder: Path) -> None:
    for node in SMALL.members("Fleet"):
        change(folder, node, " nameserver 10.20.0.31\n", " nameserver 10.30.0.11\n nameserver 10.20.0.31\n")
    assert imported(folder)[0].topology.clusters["Fleet"].dns == ["quay1", "lark"]


def test_a_smaller_mtu_shows_at_its_interface(folder: Path) -> None:
    file = folder / "pier"
    file.write_text(re.sub(r'("ifname":"eth0",.*?"mtu":)1500', r"\g<1>1400", file.read_text()))
    site, _ = imported(folder)
    assert site.nodes["pier"].interfaces["eth0"].mtu == 1400


#: What a member of a Linux bond says of its partner's port.
PARTNER = re.compile(r"(oper key: \d+\n +port priority: \d+\n +port number: )(\d+)")


def partners(folder: Path) -> list[str]:
    """The numbers that basin's ports have for quay1."""
    return [number for _, number in PARTNER.findall((folder / "quay1").read_text())]


def say_partners(folder: Path, instead: dict[str, str]) -> None:
    text = (folder / "quay1").read_text()
    (folder / "quay1").write_text(PARTNER.sub(lambda said: said[1] + instead.get(said[2], said[2]), text))


def test_the_address_of_a_bridge_is_that_of_the_adapter_in_it(folder: Path) -> None:
    file = folder / "pier"
    text = file.read_text()
    (line,) = (line for line in text.split("\n") if '"ifname":"eth0"' in line and "addr_info" in line)
    entries = json.loads(line)
    (eth0,) = (entry for entry in entries if entry.get("ifname") == "eth0")
    bridge = eth0 | {"ifname": "br0", "linkinfo": {"info_kind": "bridge"}}
    eth0 |= {"addr_info": [], "master": "br0", "linkinfo": {}}
    file.write_text(text.replace(line, f" {json.dumps([*entries, bridge])}"))
    site, draft = imported(folder)
    assert differences(SMALL, site, SMALL.nodes) == []
    assert "pier:br0: a bridge; its address is given to eth0 itself" in draft.findings


def test_tunables_are_taken_where_they_are_set_or_not_what_linux_begins_with(folder: Path) -> None:
    change(folder, "gull", "tcp_sack:1\n", "tcp_sack:0\n")
    change(folder, "gull", "rmem_default:212992", "rmem_default:300000")
    site, draft = imported(folder)
    assert site.nodes["gull"].sysctl == {"net.ipv4.tcp_sack": 0}
    assert "net.core.rmem_default" not in site.topology.sysctl
    for node in SMALL.nodes:
        change(folder, node, "tcp_timestamps:1\n", "tcp_timestamps:0\n")
    shutil.rmtree(folder.parent / "mine")
    site, draft = imported(folder)
    assert site.topology.sysctl["net.ipv4.tcp_timestamps"] == 0
    (folder / "gull").write_text((folder / "gull").read_text().replace("rmem_max:8388608", "rmem_max:99999"))
    shutil.rmtree(folder.parent / "mine")
    site, draft = imported(folder)
    assert site.topology.sysctl["net.core.rmem_max"] == 8388608
    assert any("net.core.rmem_max differs among the nodes" in finding for finding in draft.findings)


def test_crossed_members_are_seen_by_lacp(folder: Path) -> None:
    """eth1 and eth2 of quay1 have changed places, and both ends say so."""
    one, other, _ = partners(folder)
    say_partners(folder, {one: other, other: one})
    basin = (folder / "basin").read_text()
    parts = re.split(r"(?= member: )", basin)
    for index, part in enumerate(parts):
        if part.startswith((" member: quay1-1:", " member: quay1-2:")):
            parts[index] = re.sub(
                r"partner port_id: (\d)", lambda found: f"partner port_id: {3 - int(found[1])}", part, count=1
            )
    (folder / "basin").write_text("".join(parts))
    site, draft = imported(folder)
    assert draft.questions == {}
    assert any(line.startswith("cable basin:quay1-1 - quay1:eth2") for line in differences(SMALL, site, SMALL.nodes))


def test_ends_that_deny_each_other_are_told_and_asked(folder: Path) -> None:
    one, other, _ = partners(folder)
    say_partners(folder, {other: one})
    _, draft = imported(folder)
    assert any(finding.startswith("LACP: quay1:eth2 says that it is wired to") for finding in draft.findings)
    assert "which of its members are wired to which?" in draft.questions["channels", 0]


def test_a_node_behind_another_port_is_plugged_in_there(folder: Path) -> None:
    """gull and wren have changed places at basin."""
    text = (folder / "basin").read_text()
    macs = {name: mac_of(folder, name) for name in ("gull", "wren")}
    text = text.replace(macs["gull"], "MAC").replace(macs["wren"], macs["gull"]).replace("MAC", macs["wren"])
    (folder / "basin").write_text(text)
    site, _ = imported(folder)
    links = [sorted(map(str, link.ends)) for link in site.topology.links]
    assert ["basin:wren", "gull:eth0"] in links and ["basin:gull", "wren:eth0"] in links


def mac_of(folder: Path, node: str) -> str:
    line = next(line for line in (folder / node).read_text().split("\n") if '"ifname":"eth0"' in line)
    return next(str(entry["address"]) for entry in json.loads(line) if entry.get("ifname") == "eth0")


# what nobody said


def test_without_a_switch_one_is_guessed_and_the_site_is_sound(folder: Path) -> None:
    (folder / "basin").unlink()
    site, draft = imported(folder)
    assert draft.questions["nodes", "switch-10-20-0-0"] == "what switches this network? nobody collected it"
    assert draft.questions["networks", "net1"].startswith("what is it called?")
    ends = [end.node for channel in site.channels for end in channel.ends]
    assert ends.count("switch-10-20-0-0") == 2
    text = (folder.parent / "mine" / "site.yaml").read_text()
    assert "switch-10-20-0-0: {role: switch, switch: net1}  # ? what switches" in text
    assert "# ? where is this plugged in?" in text


def test_without_the_router_a_gateway_is_guessed_and_who_is_missing_is_told(folder: Path) -> None:
    (folder / "lock").unlink()
    site, draft = imported(folder)
    assert site.nodes["lock-land"].forwards and site.nodes["lock-sea"].forwards
    assert "what else is it connected to?" in draft.questions["nodes", "lock-sea"]
    assert any("10.30.0.1 (lock-land lock) stands in hosts files" in finding for finding in draft.findings)


def test_without_a_word_on_clusters_they_are_who_trusts_the_same_keys(folder: Path) -> None:
    (folder / "clusters.yaml").unlink()
    site, draft = imported(folder)
    groups = [site.members(cluster) for cluster in site.topology.clusters]
    assert sorted(map(sorted, groups)) == [["gull", "lark", "wren"], ["pier", "quay1", "quay2"]]
    assert "root trusts the same keys" in draft.questions["clusters", "cluster1"]


def test_without_keys_clusters_are_groups_of_names(folder: Path) -> None:
    (folder / "clusters.yaml").unlink()
    for file in folder.iterdir():
        file.write_text(re.sub(r"^ sha256 .*\n", "", file.read_text(), flags=re.MULTILINE))
    site, draft = imported(folder)
    assert site.members("quay") == ["quay1", "quay2"]
    assert draft.questions["clusters", "quay"].startswith("is this a cluster?")


def test_a_switch_that_people_tell_of_is_as_good_as_one_that_says(folder: Path) -> None:
    (folder / "basin").unlink()
    hosts = {node: f"{node}:eth0" for node in ("gull", "lark", "lock", "wren")}
    members = {f"{quay}-{i}": f"{quay}:eth{i}" for quay in ("quay1", "quay2") for i in (1, 2, 3)}
    bonds = {
        quay: {"members": [f"{quay}-{i}" for i in (1, 2, 3)], "hash_policy": "balance-slb"}
        for quay in ("quay1", "quay2")
    }
    told = {"basin": {"network": "10.20.0.0/24", "mtu": 1500, "ports": hosts | members, "channels": bonds}}
    (folder / "switches.yaml").write_text(yaml.safe_dump(told))
    site, draft = imported(folder)
    assert differences(SMALL, site, SMALL.nodes) == []
    assert draft.questions.keys() == {("networks", "net1")}


def test_ports_of_other_makers_are_called_as_a_site_can_have_them(folder: Path) -> None:
    (folder / "basin").unlink()
    told = {"basin": {"network": "10.20.0.0/24", "ports": {"1/0/1": "gull:eth0"}}}
    (folder / "switches.yaml").write_text(yaml.safe_dump(told))
    site, _ = imported(folder)
    assert "basin:p1-0-1" in [str(end) for link in site.topology.links for end in link.ends]


# bad input


def mistakes(folder: Path) -> list[str]:
    to = folder.parent / "mine"
    with pytest.raises(BadInput) as caught:
        import_site(folder, to)
    assert not to.exists()
    return [str(problem) for problem in caught.value.problems]


def test_all_mistakes_are_told_at_once_and_nothing_is_written(folder: Path) -> None:
    (folder / "gull").write_text((folder / "gull").read_text().replace("== end", ""))
    (folder / "notes").write_text("call Peter\n")
    shutil.copy(folder / "lark", folder / "again")
    change(folder, "wren", " wren\n", " wren_1\n")
    (folder / "switches.yaml").write_text("left: {network: 10.20.0.0/33, ports: {}}\n")
    said = mistakes(folder)
    for words in (
        "gull:1: -: its end is missing; collect it again",
        "notes:1: -: it does not begin with 'causeway collect 1'; leave only outputs",
        "lark:1: hostname: again is of lark, too; leave one output of each node",
        "wren:1: hostname: the node is called 'wren_1', which a site's file cannot; give it",
        "switches.yaml:1: left.network: input is not a valid IPv4 network; docs/collect.md has the form",
    ):
        assert any(words in line for line in said), (words, said)


@pytest.mark.parametrize(
    ("spoil", "words"),
    {
        "an address twice": (
            lambda folder: change(folder, "wren", '"local":"10.20.0.32"', '"local":"10.20.0.31"'),
            "10.20.0.31 of wren:eth0 is lark:eth0's address, too",
        ),
        "another prefix": (
            lambda folder: change(folder, "wren", '"prefixlen":24', '"prefixlen":25'),
            "10.20.0.0/25 (at wren:eth0) overlaps 10.20.0.0/24",
        ),
        "a network that no site has": (
            lambda folder: [
                change(folder, node, '"prefixlen":24', '"prefixlen":8')
                for node in ("lark", "wren", "gull", "quay1", "quay2", "lock", "pier")
            ],
            "10.0.0.0/8: a site's networks are from /16 to /30",
        ),
        "no JSON": (
            lambda folder: change(folder, "wren", '== ip-rule\n [{"pri', '== ip-rule\n [{"pri"'),
            "section 'ip-rule' is no JSON",
        ),
        "no ip -j": (lambda folder: change(folder, "wren", "== ip-address", "== ip-addr"), "it has no ip-address"),
        "another form": (lambda folder: change(folder, "wren", '"mtu":', '"size":'), "it has not the form"),
        "a cluster of nobody": (
            lambda folder: (folder / "clusters.yaml").write_text("A: [wrem]\n"),
            "no node is called 'wrem'; did you mean wren?",
        ),
        "a node in two clusters": (
            lambda folder: (folder / "clusters.yaml").write_text("A: [wren]\nB: ['w*']\n"),
            "B: wren is in A, too; name each node in one cluster",
        ),
        "somebody else's administrator": (
            lambda folder: (folder / "clusters.yaml").write_text("A: {nodes: [wren], administrator: lark}\n"),
            "A.administrator: its administrator's node lark is not in it",
        ),
        "a switch that says who it is": (
            lambda folder: (folder / "switches.yaml").write_text("basin: {network: 10.20.0.0/24, ports: {}}\n"),
            "basin: basin was collected; leave it out here",
        ),
        "nobody at a port": (
            lambda folder: (folder / "switches.yaml").write_text(
                "s: {network: 10.20.0.0/24, ports: {a: nobody:eth0, b: wren:eth7, c: gull:eth0, d: gull:eth0}}\n"
            ),
            "s.ports.b: wren has no device 'eth7'",
        ),
        "a network of nobody": (
            lambda folder: (folder / "switches.yaml").write_text("s: {network: 10.7.0.0/24, ports: {}}\n"),
            "nobody who was collected has an address in 10.7.0.0/24",
        ),
        "a policy of nobody": (
            lambda folder: (folder / "switches.yaml").write_text(
                "s: {network: 10.20.0.0/24, ports: {}, channels: {x: {members: [a], hash_policy: mac}}}\n"
            ),
            "s.channels.x.hash_policy: 'mac' is no policy of a switch",
        ),
        "two ends that differ": (
            lambda folder: (folder / "switches.yaml").write_text(
                "s: {network: 10.20.0.0/24, ports: {a: t:b}}\nt: {network: 10.20.0.0/24, ports: {}}\n"
            ),
            "s.ports.a: t:b is plugged into nothing by what is said there; say the same at both ends",
        ),
    }.values(),
)
def test_bad_input_is_refused(folder: Path, spoil: Callable[[Path], object], words: str) -> None:
    spoil(folder)
    assert any(words in line for line in mistakes(folder)), mistakes(folder)


def test_an_empty_folder_no_folder_and_a_target_that_is_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "said").mkdir()
    assert "it is empty" in mistakes(tmp_path / "said")[0]
    with pytest.raises(BadInput, match="no such folder"):
        import_site(tmp_path / "none", tmp_path / "mine")
    with pytest.raises(BadInput, match="said:1: -: it exists"):
        import_site(tmp_path / "said", tmp_path / "said")
    with pytest.raises(BadInput, match="no name for a lab"):
        import_site(tmp_path / "said", tmp_path / "My Site")


def test_what_strangers_say_neither_ends_a_comment_nor_reaches_the_terminal(folder: Path) -> None:
    evil = "eth3\\nlab: other\\u001b[2J"  # as JSON has a line's end and an escape
    text = (folder / "quay1").read_text()
    (folder / "quay1").write_text(
        text.replace("== mounts", "== mounts\n far:/x /x\x1b[2J nfs rw 0 0\n far:/x /x nfs rw 0 0")
    )
    change(folder, "wren", '"dst":"10.30.0.0/24","gateway":"10.20.0.1"', f'"dst":"10.30.0.0/24","type":"{evil}"')
    site, draft = imported(folder)
    about = (folder.parent / "mine" / "about.md").read_text()
    assert site.name == "mine" and "of type eth3?lab: other?[2J" in "".join(draft.findings)
    assert "\x1b" not in about and "/x, nfs of far: 1 node\n" in about


def test_the_command_writes_the_site_and_says_what_it_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "basin").unlink()
    to = folder.parent / "mine"
    assert main(["import", str(folder), "--to", str(to)]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "8 nodes into" in said and "questions" in said
    about = (to / "about.md").read_text()
    assert "- `nodes.switch-10-20-0-0`: what switches this network?" in about
    assert "## Not seen" in about
    assert main(["import", str(folder), "--to", str(to)]) == EXIT_BAD_INPUT
    assert "it exists" in " ".join(capsys.readouterr().err.split())
