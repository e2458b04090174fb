"""A change in the parts in which it is made, and those that nobody can make in a lab that is up."""

from pathlib import Path

import pytest

from causeway.cli.app import main
from causeway.errors import BadInput
from causeway.folders import REPO
from causeway.model.load import load_site
from causeway.play.rehearsal import undoing
from causeway.rehearse.change import read_change, read_commands
from causeway.rehearse.parts import Command, Part, Put, parts, parts_back
from causeway.render.secrets import Secrets
from causeway.render.site import render
from tests.sites import worked
from tests.sites.worked import WORKED

SMALL = REPO / "topologies" / "small" / "site.yaml"
JUBL = REPO / "topologies" / "jubl" / "site.yaml"
CHANGES = REPO / "topologies" / "small" / "changes"
SITE = load_site(SMALL)


def of(tmp_path: Path, text: str, name: str = "change.txt", site: Path = SMALL) -> list[Part]:
    (tmp_path / name).write_text(text)
    return parts(read_change(site, None, tmp_path / name))


def folder(tmp_path: Path, files: dict[str, str]) -> list[Part]:
    for path, text in files.items():
        (tmp_path / "mine" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / path).write_text(text)
    return parts(read_change(SMALL, None, tmp_path / "mine"))


def typed(part: Part) -> list[str]:
    return [str(act) for act in part.acts]


def interfaces(node: str) -> str:
    return render(SITE, Secrets(SITE))[f"nodes/{node}/etc/network/interfaces"].text


def test_a_line_of_commands_is_a_part_on_all_its_nodes_with_the_site_that_it_makes(tmp_path: Path) -> None:
    first, second = of(tmp_path, "quay?# ip link set eth2 down\n\npier# ip route show\n")
    assert (first.title, typed(first)) == (
        "line 1: ip link set eth2 down",
        ["quay1# ip link set eth2 down", "quay2# ip link set eth2 down"],
    )
    assert (second.nodes, second.title) == (["pier"], "line 3: ip route show")
    assert first.after is not None and first.after != SITE and second.after == first.after


def test_native_files_come_node_by_node_with_what_has_them_read(tmp_path: Path) -> None:
    text = interfaces("lark").replace("mtu 1500", "mtu 9000")
    found = folder(
        tmp_path,
        {
            "lark/etc/network/interfaces": text,
            "lark/etc/hosts": "127.0.0.1 localhost\n",
            "pier/etc/sysctl.d/90-site.conf": "net.ipv4.tcp_sack = 0\n",
        },
    )
    assert [part.title for part in found] == [
        "lark: /etc/hosts, /etc/network/interfaces",
        "pier: /etc/sysctl.d/90-site.conf",
    ]
    assert typed(found[1]) == [
        "pier: /etc/sysctl.d/90-site.conf is another one",
        "pier# sysctl -e -q -p /etc/sysctl.d/90-site.conf",
    ]
    assert typed(found[0]) == [
        "lark# ifdown eth0",
        "lark: /etc/hosts is another one",
        "lark: /etc/network/interfaces is another one",
        "lark# ifup eth0",
    ]


def test_only_interfaces_that_differ_go_down(tmp_path: Path) -> None:
    (part,) = folder(tmp_path, {"quay1/etc/network/interfaces": interfaces("quay1").replace("layer3+4", "layer2")})
    assert [act.line for act in part.acts if isinstance(act, Command)] == ["ifdown bond0", "ifup bond0"]


def test_what_came_up_goes_down_before_the_old_files_are_put_back() -> None:
    acts = (Command("a", "ifdown x"), Put("a", "/f", ""), Command("a", "ifup x"), Command("a", "ifup y"))
    first, then = undoing(Part("a", (*acts, Command("a", "exportfs -ra")), None))
    assert [c.line for c in first] == ["ifdown y", "ifdown x"]
    assert [c.line for c in then] == ["ifup x", "exportfs -ra"]


def test_a_file_that_nothing_is_known_to_read_is_refused_with_all_others(tmp_path: Path) -> None:
    (tmp_path / "mine/pier/etc").mkdir(parents=True)
    (tmp_path / "mine/pier/etc/exports").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput) as refused:
        folder(tmp_path, {"lark/etc/fancy.conf": "x", "pier/etc/also": "y"})
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == ["pier", "lark", "pier"]
    assert "it is not known what has a node take such a file" in str(refused.value)


def test_another_version_of_the_file_is_switches_commands_and_nodes_files(tmp_path: Path) -> None:
    found = parts(read_change(SMALL, None, CHANGES / "jumbo.yaml"))
    assert found[0].title == "basin: its ports and channels"
    assert typed(found[0])[0] == "basin# ip link set lark mtu 9000"
    assert typed(found[0])[-1] == "basin# ovs-vsctl set interface br-sea mtu_request=9000"
    assert [part.nodes for part in found[1:]] == [["quay1"], ["quay2"], ["lark"], ["wren"], ["gull"], ["lock"]]
    policies = "pools: {quay: {channels: {bond0: {switch_policy: balance-tcp}}}}"
    (only,) = of(tmp_path, policies, "policy.yaml")
    assert typed(only) == [f"basin# ovs-vsctl set port quay{n} bond_mode=balance-tcp" for n in (1, 2)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("pools: {quay: {count: 3}}", "node quay3 comes"),
        ("networks: {sea: {rate_mbit: 500}}", "is of another rate or length"),
        ("pools: {quay: {channels: {bond0: {members: [eth1, eth2]}}}}", "a channel of other members"),
        ("sysctl: {net.core.rmem_max: 1000000}", "net.core's tunables are the kernel's"),
        ("pools: {boat: {interfaces: {eth0: {names: ['{}', 'sail-{}']}}}}", "it has keys"),
    ],
)
def test_what_nobody_can_do_to_a_lab_that_is_up_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        of(tmp_path, text, "patch.yaml")
    assert why in str(refused.value)
    assert "--predict says what it moves" in str(refused.value)


def test_filesystems_and_mounts_are_administrators_matters(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        of(tmp_path, "clusters: {JUBL: {mounts: [home1]}}", "less.yaml", JUBL)
    assert "cluster JUBL: its administrator mounts" in str(refused.value)
    with pytest.raises(BadInput, match="cluster JUBL: its administrator says when a node is lost, by commands"):
        of(tmp_path, "clusters: {JUBL: {failure_detection_s: 35}}", "lost.yaml", JUBL)


def test_a_node_that_is_off_can_do_nothing(tmp_path: Path) -> None:
    whole = load_site(JUBL, {"io": 288})
    off = next(name for name in whole.diskless() if not whole.comes_up(name))
    (tmp_path / "change.txt").write_text(f"{off}# ip route show\n")
    with pytest.raises(BadInput) as refused:
        parts(read_change(JUBL, {"io": 288}, tmp_path / "change.txt"))
    assert f"{off} is off" in str(refused.value)


def test_a_change_that_changes_nothing_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="changes nothing"):
        of(tmp_path, "networks: {sea: {mtu: 1500}}", "same.yaml")


def test_the_users_own_way_back_is_read_as_commands_are(tmp_path: Path) -> None:
    (tmp_path / "back.txt").write_text("boat# true\nlark# false\n".replace("boat", "wren"))
    found = parts_back(read_commands(SITE, tmp_path / "back.txt"))
    assert [typed(part) for part in found] == [["wren# true"], ["lark# false"]]


def test_bad_input_ends_with_2_before_any_lab(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    third = ["rehearse", "small", "--change", str(CHANGES / "third-quay.yaml")]
    assert main(third) == 2
    assert "node quay3 comes" in capsys.readouterr().err
    assert main([*third, "--predict"]) == 0
    change = ["rehearse", "small", "--change", str(CHANGES / "layer2.txt")]
    for word in ("--one-by-one", "--under-load", "--stay"):
        assert main([*change, "--predict", word]) == 2
    pool = tmp_path / "no-way.txt"
    pool.write_text("".join(f"{quay}# ip link set bond0 down\n" for quay in ("quay1", "quay2")))
    assert main(["rehearse", "small", "--change", str(pool), "--under-load"]) == 2
    assert "no streams by a channel" in capsys.readouterr().err
    assert main([*change, "--back", str(tmp_path / "none")]) == 2
    assert main([*change, "--clock", "fast"]) == main([*change, "--stay", "--clock", "virtual"]) == 2


@pytest.mark.parametrize("name", WORKED)
def test_the_worked_changes_are_predicted_as_their_first_lines_say(name: str) -> None:
    words = ["rehearse", name.partition("/")[0], "--change", str(worked.file_of(name))]
    assert main([*words, "--predict"]) == WORKED[name].predicted
    if WORKED[name].played == 2:
        assert main(words) == 2


def test_every_worked_change_says_what_it_is_and_is_played_or_refused() -> None:
    files = {worked.file_of(name) for name in WORKED}
    assert files == set((REPO / "topologies").glob("*/changes/*"))
    for file in files:
        assert file.read_text().startswith("# "), file
