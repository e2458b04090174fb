"""Nodes with one root: what is wrong with a pool of them, the front end's programs, and what makes each check fail."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.model.load import load_site
from causeway.model.thing import Port
from causeway.process import Result, run
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import NODES
from causeway.scenario.cast import Ask, Imaged
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words import onesis
from causeway.scenario.words.onesis import EXCLUDED, MOTD, NETWORK, PUSHED, ROOT, Pushed
from tests.golden.mistakes import line_of, mistakes, replaced
from tests.unit.here import SITE
from tests.unit.shells import SHELLS
from tests.unit.told import Told, play

FILE = REPO / "topologies/xeboot/site.yaml"
TEXT = FILE.read_text()
XEBOOT = load_site(FILE)
STATELESS = ["x1", "x2", "x3", "x4", "x5", "x6"]
ONE_TREE, LEASES = load("one_tree_for_all"), load("leases_end_second_network")
POOL = "pools.stateless"
SBIN = NODES / "onesis/server/usr/local/sbin"


# the pool


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("root: ib0", "root: ib1", f"{POOL}.root: there is no interface 'ib1'; did you mean ib0?"),
        ("oss: [x5, x6]", "oss: [x5, x7]", f"{POOL}.classes.oss[1]: there is no node of this pool 'x7'"),
        ("oss: [x5, x6]", "oss: [x5], mds: [x5, x6]", f"{POOL}.classes.oss[0]: x5 is named 2 times; a node is of one"),
        ("{server: xe, nfs", "{server: xf, nfs", f"{POOL}.boot.server: there is no node 'xf'"),
        ("{server: xe, nfs", "{server: x16, nfs", ""),
        ("{server: xe, nfs", "{server: smc, nfs", f"{POOL}.boot.server: smc has no interface in g, the nodes' network"),
        ("{server: xe, nfs_threads: 8", "{nfs_threads: 8", f"{POOL}.boot: `server` is missing; add it"),
        ("platform: onesis\n    cluster: XE", "platform: onesis\n    cluster: XF", f"{POOL}.cluster: there is no cl"),
        ("hosts: 257\n", "hosts: [257]\n", f"{POOL}.hosts: 1 host numbers for 6 nodes; give each node one"),
        ('eth0: {network: g, names: ["{}"], switch: smc}', 'eth1: {network: g, switch: smc}', "begin with eth0"),
        ("root: ib0", "root: ib0\n    sysctl: {net.core.rmem_max: 1}", f"{POOL}.sysctl"),
        ("root: ib0", "root: ib0\n    forwards: true", f"{POOL}.forwards"),
    ],
)  # fmt: skip
def test_each_mistake_in_such_a_pool_is_said_at_its_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = replaced(TEXT, (old, new))
    if not said:
        file = tmp_path / "site.yaml"
        file.write_text(text)
        assert load_site(file).boot_pools()["stateless"].boot.server == "x16"
        return
    found = mistakes(text, tmp_path)
    assert any(said in line for line in found), found


def test_a_mistake_stands_at_its_own_line(tmp_path: Path) -> None:
    text = replaced(TEXT, ("classes: {oss: [x5, x6]}", "classes: {oss: [x5, x9]}"))
    (found,) = mistakes(text, tmp_path)
    assert found.startswith(f"{line_of(text, 'classes: {oss')}:")


def test_all_of_the_pool_are_up_when_the_lab_is_and_are_known_by_what_they_boot_with() -> None:
    assert XEBOOT.diskless() == STATELESS and all(XEBOOT.comes_up(node) for node in STATELESS)
    assert [str(XEBOOT.known_by(node).address) for node in STATELESS] == [f"10.0.1.{n}" for n in range(1, 7)]


# who plays


def test_diskless_nodes_have_a_second_network_where_their_root_comes_by_another(tmp_path: Path) -> None:
    ask = Ask(XEBOOT)
    cast = ask.two_networks(ask.diskless(8, platform="onesis"))
    assert (cast.caller, str(cast.leased["x1"]), str(cast.fixed["x1"])) == ("x16", "10.0.1.1", "192.168.1.1")
    file = tmp_path / "site.yaml"
    file.write_text(replaced(TEXT, ("root: ib0", "root: eth0")))
    ask = Ask(load_site(file))
    with pytest.raises(Unsupported, match="xeboot has no diskless nodes that have their root by another network"):
        ask.two_networks(ask.diskless(8, platform="onesis"))
    imaged = TEXT[TEXT.index("  imaged:") : TEXT.index("links:")]
    file.write_text(replaced(TEXT, (imaged, "")))
    ask = Ask(load_site(file))
    with pytest.raises(Unsupported, match="xeboot has no host with a disk in both g and ib beside xe"):
        ask.two_networks(ask.diskless(8, platform="onesis"))
    with pytest.raises(Unsupported, match="jubl has no node of platform onesis booting over the network"):
        Ask(SITE).diskless(8, platform="onesis")


def test_an_image_goes_to_hosts_with_disks_whose_cables_are_as_fast_as_the_pushers(tmp_path: Path) -> None:
    cast = Ask(XEBOOT).imaged("xe", 2)
    assert cast == Imaged("xe", Port("xe", "eth0"), ["x16", "x17", "x18"])
    file = tmp_path / "site.yaml"
    file.write_text(replaced(TEXT, ("- ends: [xe:eth0, smc:xe]", "- {ends: [xe:eth0, smc:xe], rate_mbit: 1000}")))
    with pytest.raises(Unsupported, match="xeboot has not two hosts with disks at cables as fast as that of xe"):
        Ask(load_site(file)).imaged("xe", 2)


# the front end's programs

SCRIPTS = {
    file.text: path
    for path, file in render(XEBOOT, Secrets(XEBOOT)).items()
    if file.text.startswith("#!") or path.endswith((".sh", "/routes", "/profile"))
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("script", SCRIPTS, ids=SCRIPTS.get)
def test_a_shell_can_read_every_script(script: str, shell: list[str]) -> None:
    result = run([*shell, "-n"], stdin=script)
    assert (result.rc, result.stderr) == (0, "")


def sysimage(folder: Path, shell: list[str]) -> Result:
    return run([*shell, str(SBIN / "mk-sysimage"), str(folder)])


@pytest.mark.parametrize("shell", SHELLS)
def test_mk_sysimage_makes_links_of_what_is_not_the_same_for_all_and_once(shell: list[str], tmp_path: Path) -> None:
    for path, text in {
        "etc/sysimage.conf": "# what\nram /var/log\nown /var/spool/pbs\nfile /etc/motd\nclass oss x5\n",
        "etc/motd": "everybody's\n",
        "etc/motd.oss": "x5's\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "var/log").mkdir(parents=True)
    assert sysimage(tmp_path, shell).must() == "mk-sysimage: 3 changed\n"
    links = {path: str((tmp_path / path).readlink()) for path in ("var/log", "var/spool/pbs", "etc/motd")}
    assert links == {"var/log": "/ram/var/log", "var/spool/pbs": "/own/var/spool/pbs", "etc/motd": "/ram/etc/motd"}
    assert (tmp_path / "etc/motd.default").read_text() == "everybody's\n"
    assert sysimage(tmp_path, shell).must() == "mk-sysimage: 0 changed\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_mk_sysimage_takes_no_folder_away_that_holds_something(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/sysimage.conf").write_text("own /var/spool/pbs\n")
    (tmp_path / "var/spool/pbs/queue").mkdir(parents=True)
    assert sysimage(tmp_path, shell).rc != 0 and (tmp_path / "var/spool/pbs/queue").is_dir()
    refused = sysimage(tmp_path / "nowhere", shell)
    assert refused.rc == 2 and refused.stderr.startswith("usage: mk-sysimage ROOT")


@pytest.mark.parametrize("shell", SHELLS)
def test_node_power_refuses_what_it_does_not_know_before_it_does_anything(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("00:c1:ab:00:00:01,10.0.1.1,x1\n")
    text = (SBIN / "node-power").read_text().replace("/etc/onesis/nodes", str(tmp_path / "nodes"))
    script = tmp_path / "node-power"
    script.write_text(text.replace("/service/power", str(tmp_path)))
    (tmp_path / "x1").write_text("")
    for words, said in (
        (["up", "x1"], "usage: node-power on|off|reset NODE..."),
        (["on"], "usage: node-power on|off|reset NODE..."),
        (["on", "x1", "x9"], "node-power: there is no node x9"),
    ):
        done = run([*shell, str(script), *words])
        assert done.rc == 2 and said in done.stderr and (tmp_path / "x1").read_text() == ""
    run([*shell, str(script), "reset", "x1"]).must()
    assert (tmp_path / "x1").read_text() == "reset\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_node_power_wakes_a_node_by_its_adapter(shell: list[str], tmp_path: Path) -> None:
    """An order "on" on the service line might be read with a "reset" before it, and count in place of that."""
    (tmp_path / "nodes").write_text("00:c1:ab:00:00:01,10.0.1.1,x1\n00:c1:ab:00:00:11,10.0.1.11,x11\n")
    (tmp_path / "dnsmasq.conf").write_text("port=0\ninterface=eth5\n")
    text = (SBIN / "node-power").read_text().replace("/etc/onesis/nodes", str(tmp_path / "nodes"))
    (tmp_path / "node-power").write_text(text.replace("/etc/dnsmasq.conf", str(tmp_path / "dnsmasq.conf")))
    (tmp_path / "etherwake").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "etherwake").chmod(0o755)
    path = f"PATH={tmp_path}:/usr/bin:/bin"
    assert run(["env", path, *shell, str(tmp_path / "node-power"), "on", "x1"]).must() == "-i eth5 00:c1:ab:00:00:01\n"


# one_tree_for_all


class Trees:
    """A tree, and what nodes and hosts see of it."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.files: dict[tuple[str, str], str] = {
            ("xe", f"{ROOT}{MOTD}.default"): "all",
            ("xe", f"{ROOT}{NETWORK}"): "dhcp",
        }
        self.first: dict[tuple[str, str], str] = dict(self.files)
        self.new = self.changed = False
        self.pushes = 0

    def file_changed(self, _: Any, node: str, path: str, text: str) -> Change:
        def made() -> None:
            self.changed |= path.startswith(ROOT)
            self.files[node, path] = text.strip()

        def undone() -> None:
            if (node, path) in self.first:
                self.files[node, path] = self.first[node, path]
            else:
                self.files.pop((node, path), None)

        return Told(path, made, undone)

    def added(self, *_: Any) -> Change:
        return Told("new", lambda: setattr(self, "new", True), lambda: setattr(self, "new", self.wrong == "it stays"))

    def motd(self, node: str) -> str:
        if self.wrong == "no classes":
            return "all"
        cached = self.changed and self.wrong in ("seen after a boot", "nodes keep what they read")
        return "class" if node in ("x5", "x6") else "all" if cached else self.files["xe", f"{ROOT}{MOTD}.default"]

    def class_texts(self, _: Any, diskless: Any, __: str) -> list[str]:
        kept = self.changed and not self.new and self.wrong == "nodes keep what they read"
        default = "as it was" if kept else self.files["xe", f"{ROOT}{MOTD}.default"]
        return ["class" if node in ("x5", "x6") else default for node in diskless.nodes]

    def texts(self, _: Any, nodes: Sequence[str], path: str) -> list[str]:
        if path == MOTD:
            keeps = self.wrong == "nodes keep what they read" and not self.pushes
            return self.class_texts(_, SimpleNamespace(nodes=nodes), path) if keeps else [self.motd(n) for n in nodes]
        if self.wrong == "one spool for all" and "owner" in path:
            return [nodes[-1]] * len(nodes)
        if self.wrong == "the spool is emptied" and self.changed and "owner" in path:
            return [""] * len(nodes)
        return [self.files.get((node, path), "") for node in nodes]

    def having(self, _: Any, nodes: Sequence[str], path: str, __: str, ___: str) -> list[str]:
        if path == f"{PUSHED}{NETWORK}":
            return [n for n in nodes if self.files.get((n, path)) == "dhcp" and self.wrong != "always left out"]
        if path.startswith(PUSHED):
            return list(nodes[1:] if self.wrong == "a host is left out" else nodes)
        return list(nodes[1:] if self.wrong == "one reads another file" else nodes) if self.new else []

    @contextmanager
    def counting(self, *_: Any) -> Iterator[Callable[[], int]]:
        yield lambda: 10**8 if self.wrong == "all is sent" else 1000

    def boots_of(self, *_: Any) -> list[bool]:
        return [self.changed and self.wrong == "a node boots"]

    def push(self, _: Any, cast: Imaged) -> Pushed:
        self.pushes += 1
        if not self.files.get((cast.server, EXCLUDED)) or self.wrong == "the list is not read":
            self.files |= {(host, f"{PUSHED}{NETWORK}"): "dhcp" for host in cast.hosts}
        return Pushed(7.0 if self.wrong == "it is slow" else 6.1, 40.0 if self.wrong == "it is packed" else 63.5)


def play_one_tree(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = Trees(wrong)
    words: dict[str, Any] = {
        name: getattr(trees, name) for name in ("file_changed", "class_texts", "texts", "having", "counting")
    }
    words["onesis"] = SimpleNamespace(
        EXCLUDED=EXCLUDED,
        refused=lambda _, nodes, __: ["Read-only file system"] * (len(nodes) - (wrong == "one may write")),
        sysimage=lambda *_: f"mk-sysimage: {3 * (wrong == 'all is made again')} changed",
        boots_of=trees.boots_of,
        added=trees.added,
        clear=lambda *_: None,
        image_mb=lambda *_: 20.0,
        link_mb=lambda *_: 10.0,
        framed=lambda *_: 1.05,
        push=trees.push,
    )
    play(ONE_TREE, XEBOOT, folder, monkeypatch, words)


def test_one_tree_for_all_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_one_tree("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("one may write", "what writing to / is answered"),
        ("one spool for all", "/var/spool/pbs/owner, on each: expected x1, x2, x3, x4, x5, x6, measured x6, x6"),
        ("no classes", "/etc/motd, on each: expected all, all, all, all, class, class"),
        ("all is made again", "mk-sysimage once more: expected mk-sysimage: 0 changed"),
        ("seen after a boot", "/etc/motd, on each, at once"),
        ("one reads another file", "nodes that read the new file: expected x1"),
        ("a node boots", "nobody has booted"),
        ("all is sent", "less than 1 % of the new file was sent"),
        ("the spool is emptied", "/var/spool/pbs/owner, on each, afterwards"),
        ("it is packed", "sent: expected 63.0 MB, measured 40.0"),
        ("it is slow", "the push took: expected 6.0 s, measured 7.0"),
        ("a host is left out", "hosts that have the new file: expected x16, x17, x18, measured x17"),
        ("the list is not read", "their own file, left out: expected BOOTPROTO=static"),
        ("always left out", "hosts with the image's file: expected x16, x17, x18, measured none"),
        ("nodes keep what they read", "/etc/motd, on each, afterwards"),
        ("it stays", "nodes that have the new file: expected none, measured x1"),
    ],
)
def test_each_check_of_one_tree_for_all_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_one_tree(wrong, tmp_path, monkeypatch)


# leases_end_second_network


class Nets:
    """Leases, a server that renews them or not, and who answers where."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.now, self.down_at = 0.0, float("inf")
        self.static = False
        self.mended: set[str] = set()
        self.outages = 0

    def has_address(self, node: str) -> bool:
        ends = {"it lasts": 1e9, "at once": 1.0}.get(self.wrong, 90.0)
        noticed = self.static and self.wrong == "fixed ones go, too"
        lost = self.now - self.down_at > ends and (not self.static or noticed)
        left = self.outages > 1 and self.down_at == float("inf") and self.wrong == "one stays away" and node == "x1"
        return not left and (not lost or node in self.mended)

    def stopped(self, *_: Any) -> Change:
        def made() -> None:
            self.down_at, self.outages = self.now, self.outages + 1

        return Told("down", made, lambda: setattr(self, "down_at", float("inf")))

    def fixed(self, *_: Any) -> Change:
        return Told("fixed", lambda: setattr(self, "static", True), lambda: setattr(self, "static", False))

    def pings(self, _: Any, __: str, address: Any) -> bool:
        node = f"x{str(address).rpartition('.')[2]}"
        down = self.down_at < float("inf")
        if str(address).startswith("192."):
            away = {
                "the second is away": not down and not self.outages,
                "the second goes, too": down and not self.static,
                "the second goes with fixed ones": down and self.static,
                "the second stays away": self.outages > 1 and not down,
            }
            return not (away.get(self.wrong) and node == "x1")
        if self.wrong == "the first is away" and not self.outages:
            return node != "x1"
        if self.wrong == "it answers without" and down and not self.static and not self.mended:
            return True
        return self.has_address(node)

    def own_addresses(self, _: Any, node: str) -> list[str]:
        self.now += 5 / len(STATELESS)
        return [str(XEBOOT.known_by(node).address)] if self.has_address(node) else []

    def readdress(self, _: Any, __: str, ___: Any, node: str) -> None:
        self.mended |= {"in vain": set[str](), "all": set(STATELESS)}.get(self.wrong, {node})


def play_leases(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nets = Nets(wrong)

    class Watch:
        virtual_s = property(lambda _: nets.now + 100 * (wrong == "too late"))

    def until(_: Any, what: str, probe: Callable[[], Any], *, is_: Any, within_s: float, poll_s: float) -> None:
        assert poll_s
        end = nets.now + within_s
        while nets.now < end:
            if probe() == is_:
                return
        raise CheckFailed(f"{what}, not {is_}")

    def let_pass(_: Any, seconds: float, __: str) -> None:
        nets.now += seconds

    monkeypatch.setattr(Stage, "until", until)
    monkeypatch.setattr(Stage, "let_pass", let_pass)
    nothing = Told("leases", lambda: None, lambda: None)
    words: dict[str, Any] = {name: getattr(nets, name) for name in ("pings", "own_addresses", "readdress")}
    words |= {"leases": lambda *_: nothing, "boots": lambda *_: lambda: None, "service_stopped": nets.stopped}
    words |= {"file_changed": nets.fixed, "Watch": Watch}
    words["saying"] = lambda _, nodes, __: list(nodes[1:] if wrong == "one says nothing" else nodes)
    play(LEASES, XEBOOT, folder, monkeypatch, words)


def test_leases_end_second_network_passes_where_all_is_as_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_leases("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("the first is away", "nodes that answer in the first network: expected x1"),
        ("the second is away", "nodes that answer in the second network: expected x1"),
        ("it lasts", "nodes with a leased address, not"),
        ("too late", "lost within a lease"),
        ("it answers without", "nodes that answer in the first network, server down: expected none, measured x1"),
        ("the second goes, too", "nodes that answer in the second network, server down: expected x1"),
        ("one says nothing", "consoles that say so: expected x1"),
        ("in vain", "nodes that answer in the first network, one mended: expected x1, measured none"),
        ("all", "nodes that answer in the first network, one mended: expected x1, measured x1, x2"),
        ("fixed ones go, too", "nodes that answer in the first network, fixed, server down: expected x1"),
        ("the second goes with fixed ones", "nodes that answer in the second network, fixed, server down"),
        ("one stays away", "nodes that answer in the first network, afterwards: expected x1"),
        ("the second stays away", "nodes that answer in the second network, afterwards: expected x1"),
    ],
)
def test_each_check_of_leases_end_second_network_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_leases(wrong, tmp_path, monkeypatch)


# words


def test_what_a_push_is_to_cost_is_computed_from_the_pushers_link() -> None:
    cast = Ask(XEBOOT).imaged("xe", 2)
    stage = SimpleNamespace(site=XEBOOT)
    assert onesis.link_mb(stage, cast) == pytest.approx(11.77, abs=0.01)  # type: ignore[arg-type]
    assert onesis.framed(stage, cast) == pytest.approx(1514 / 1448)  # type: ignore[arg-type]
