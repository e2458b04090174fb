"""Two configuration servers: each change is on both before it counts, and whichever is lost, the other goes on."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mc import config as configuration
from mc import native
from mc.config import Config, Node, change, load, save
from mc.native import Refused
from tests.unit.mc_node import HERE, Does, like

FEN = Node(2, "FEN-b", "127.0.0.2", "nonquorum")


class Two:
    """Two nodes, each with a /var/mc of its own; commands are typed on one of them, and the other may be off."""

    def __init__(self, patch: pytest.MonkeyPatch, vars_: dict[str, Path]) -> None:
        self._patch, self._vars = patch, vars_
        self.off: set[str] = set()
        patch.setattr(native, "ssh", self._ssh)
        self.on(HERE)

    def on(self, node: Node) -> None:
        """Type what follows on this node."""
        self._patch.setattr(configuration, "VAR", self._vars[node.name])
        self._patch.setattr(configuration, "LOCK", self._vars[node.name].parent / "mc.lock")
        self._patch.setattr(configuration, "own_addresses", lambda: {node.address})

    def _ssh(self, node: str, command: str, *, stdin: bytes = b"", timeout_s: float = 120) -> native.Result:
        if node in self.off:
            return native.Result(255, b"", f"no route to {node}")
        here, there = configuration.VAR, self._vars[node]
        command = command.replace(str(here.parent), str(there.parent))
        done = subprocess.run(["sh", "-c", command], input=stdin, capture_output=True, check=False, timeout=timeout_s)
        return native.Result(done.returncode, done.stdout, done.stderr.decode())


@pytest.fixture
def two(var: Path, cluster: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    """SN-b keeps the configuration of cluster blue, FEN-b is a member."""
    there = tmp_path / "FEN" / "mc"
    there.mkdir(parents=True)
    both = Two(monkeypatch, {HERE.name: var, FEN.name: there})
    save(like(cluster, nodes=[HERE, FEN]), var)
    with change():
        pass
    return both


def ping(value: str) -> None:
    """Change something."""
    with change() as config:
        config.settings["pingTimeout"] = value


def test_a_change_is_on_both_servers_before_it_counts(two: Two) -> None:
    with change(moves=True) as config:
        config.secondary = "FEN-b"
    two.off = {"FEN-b"}
    with pytest.raises(Refused, match=r"FEN-b does not answer, and a change takes both .*mcchcluster -s ''"):
        ping("5")
    assert load().settings == {}
    two.off = set()
    ping("5")
    two.on(FEN)
    assert load().settings == {"pingTimeout": "5"}


def test_a_change_that_the_secondary_does_not_take_is_none(two: Two) -> None:
    with change(moves=True) as config:
        config.secondary = "FEN-b"
    before = load()
    why = "FEN-b does not take the change, and it is to keep it, too; nothing has been changed"
    with pytest.raises(Refused, match=why), change() as config:
        config.settings["pingTimeout"] = "5"
        two.off = {"FEN-b"}
    assert vars(load()) == vars(before)


def test_the_primary_is_lost_and_the_configuration_still_changes(two: Two, capsys: pytest.CaptureFixture[str]) -> None:
    with change(moves=True) as config:
        config.secondary = "FEN-b"
    ping("5")
    two.off = {"SN-b"}
    two.on(FEN)
    with pytest.raises(
        Refused, match=r"is kept on SN-b; do it there, or, where that is lost, .*: mcchcluster -p FEN-b"
    ):
        ping("6")
    with change(moves=True) as config:
        config.server, config.secondary = "FEN-b", ""
    ping("6")
    said = capsys.readouterr().out
    assert "SN-b does not answer; what is changed is the configuration of this node" in said
    assert "these nodes do not answer, and get the change when they start: SN-b" in said
    # who comes back believes that it is the primary, asks the secondary, and is told
    two.off = set()
    two.on(HERE)
    assert (load().server, load().settings) == ("SN-b", {"pingTimeout": "5"})
    with pytest.raises(Refused, match="is kept on FEN-b; do it there"):
        ping("7")
    assert (load().server, load().settings) == ("FEN-b", {"pingTimeout": "6"})


def test_a_primary_that_starts_again_takes_what_was_changed_without_it(two: Two) -> None:
    with change(moves=True) as config:
        config.secondary = "FEN-b"
    two.on(FEN)
    two.off = {"SN-b"}
    with change(moves=True) as config:
        config.server, config.secondary = "FEN-b", ""
    two.off = set()
    two.on(HERE)
    assert configuration.fetch(load()).server == "FEN-b"


def test_others_take_the_newer_of_what_two_servers_say(two: Two, var: Path) -> None:
    with change(moves=True) as config:
        config.secondary = "FEN-b"
    third = var.parent.parent / "third" / "mc"
    third.mkdir(parents=True)
    two._vars["R00"] = third
    node = Node(3, "R00", "127.0.0.3", "nonquorum")
    with change() as config:
        config.nodes.append(node)
    two.on(FEN)
    two.off = {"SN-b", "R00"}
    with change(moves=True) as config:
        config.server, config.secondary = "FEN-b", ""
    two.off = set()
    two.on(node)
    assert load().server == "SN-b"
    assert configuration.fetch(load()).server == "FEN-b"


@pytest.mark.usefixtures("two")
def test_neither_server_can_be_deleted_and_who_is_neither_moves_nothing(does: Does, var: Path) -> None:
    assert does("mcchcluster -s FEN-b").out.endswith("is kept on SN-b; secondary: FEN-b\n")
    assert (
        does("mcdelnode FEN-b").err == "mcdelnode: FEN-b is the secondary configuration server; it cannot be deleted\n"
    )
    assert does("mcchcluster -s ''").out.endswith("is kept on SN-b; secondary: (none)\n")
    assert does("mcchcluster -p FEN-b").out.endswith("is kept on FEN-b; secondary: (none)\n")
    said = does("mcchcluster -p SN-b")
    assert said.err == "mcchcluster: the configuration of cluster blue.example is kept on FEN-b; do it there\n"
    assert var == configuration.VAR


def test_files_are_given_by_the_clusters_own_program(two: Two, monkeypatch: pytest.MonkeyPatch, var: Path) -> None:
    """-R: a program that is given what is sent, and the node that it goes to."""
    arrived = var.parent.parent / "arrived"
    shown: list[str] = []

    def copy(file: str, node: str, to: str) -> native.Result:
        shown.append(f"{node}:{to}")
        arrived.write_bytes(Path(file).read_bytes())
        return native.Result(0, b"", "")

    def ssh(node: str, command: str, *, stdin: bytes = b"", timeout_s: float = 120) -> native.Result:
        assert stdin == b""
        return Two._ssh(two, node, command.replace("/run/mc.2.packed", str(arrived)), timeout_s=timeout_s)

    with change() as config:
        config.copy = "/usr/bin/scp"
    monkeypatch.setattr(native, "copy", copy)
    monkeypatch.setattr(native, "ssh", ssh)
    ping("5")
    assert shown == ["FEN-b:/run/mc.2.packed"]
    assert not arrived.exists()
    two.on(FEN)
    assert load().settings == {"pingTimeout": "5"}
