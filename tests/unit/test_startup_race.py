"""The race of a block's start: who is cast, what is read of kernel and wire, and each check fails where it should."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.lab.changes.change import Change
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.report.result import Comparison
from causeway.scenario.cast import Ask, Blocks
from causeway.scenario.runner import load
from causeway.scenario.words.bluegene import parse_answers, parse_mountstats
from tests.unit.here import compared, stand_in

FILE = Path(__file__).parents[2] / "topologies/jubl/site.yaml"
MOUNTSTATS = """\
device 10.2.64.220:/bgl mounted on /bgl with fstype nfs4 statvers=1.1
  per-op statistics
     NULL: 1 1 0 44 24 0 0 0 0
       GETATTR: 9 9 0 1 1 0 0 0 7
device 10.2.64.220:/bgl/tmp/10.2.64.57 mounted on /tmp with fstype nfs4 statvers=1.1
  opts:  rw,vers=4.2
  xprt:  tcp 865 0 1 0 0 25 25 0 25 0 2 0 0
  per-op statistics
     NULL: 1 1 0 44 24 0 0 0 0
        ACCESS: 3 3 0 1 1 0 0 0 1
       GETATTR: 302 302 0 1 1 0 0 0 301

device proc mounted on /proc with fstype proc
"""
ANSWERS = """\
22:00:01.123456 IP 10.2.64.220.2049 > 10.2.64.57.865: Flags [P.], seq 1:5, ack 1, win 1, length 44: NFS reply
22:00:03.123456 IP 10.2.64.220.2049 > 10.2.64.57.865: Flags [P.], seq 1:5, ack 1, win 1, length 44: NFS reply
22:00:03.123457 IP 10.2.64.220.2049 > 10.2.64.60.911: Flags [P.], seq 1:5, ack 1, win 1, length 44: NFS reply
22:00:05.1234
"""


def site(folder: Path, *replaced: tuple[str, str]) -> Site:
    """jubl with parts of its booted block, and a disk of its service node."""
    text = FILE.read_text()
    parts = (
        "      ALL: R*\n",
        "      ALL: R*\n      TWO: R00-M0-NC-?\n      FOUR: R00-M0-N[CD]-?\n      NONE: R07-M1-NF-?\n",
    )
    for old, new in (parts, ("var_mib: 8}", "var_mib: 8, disk: {read_mb: 60, write_mb: 50}}"), *replaced):
        assert old in text
        text = text.replace(old, new)
    (folder / "site.yaml").write_text(text)
    return load_site(folder / "site.yaml")


def test_blocks_are_parts_of_what_is_booted_each_at_most_half_of_the_next(tmp_path: Path) -> None:
    found = Ask(site(tmp_path)).blocks(3, platform="bluegene", disk=True)
    assert {name: len(nodes) for name, nodes in found.nodes.items()} == {"TWO": 2, "FOUR": 4, "R000_NCDEF_FAT": 8}
    assert found.server == "SN"


@pytest.mark.parametrize("without", ["FOUR: R00-M0-N[CD]-?", ", disk: {read_mb: 60, write_mb: 50}"])
def test_a_site_without_such_blocks_or_without_the_disk_is_told_what_it_lacks(without: str, tmp_path: Path) -> None:
    lacks = "has not three blocks, each at most half of the next and the last of them booted, from a node whose disk"
    with pytest.raises(Unsupported, match=lacks):
        Ask(site(tmp_path, (without, ""))).blocks(3, platform="bluegene", disk=True)


def test_failed_calls_are_those_of_the_one_mount() -> None:
    assert parse_mountstats(MOUNTSTATS, "/tmp") == 302
    assert parse_mountstats(MOUNTSTATS, "/bgl") == 7
    assert parse_mountstats(MOUNTSTATS, "/var") == 0


def test_stale_answers_are_counted_by_whom_they_go_to_and_half_a_line_is_none() -> None:
    assert parse_answers(ANSWERS) == Counter({"10.2.64.57": 2, "10.2.64.60": 1})


class Machine:
    """Nodes that boot from a server, and what a race would make of them; `wrong` names what does not hold."""

    blocks = Blocks("s", {"A": ["n1"], "B": ["n1", "n2"], "C": ["n1", "n2", "n3", "n4"]})

    def __init__(self, wrong: str) -> None:
        self.wrong, self.by_file, self.remote, self.booted = wrong, False, False, "C"

    def has(self, name: str) -> Change:
        machine = self

        class Has(Change):
            def make(self, lab: Any) -> Any:
                setattr(machine, name, True)
                return super().make(lab)

            def undo(self, lab: Any) -> Any:
                undo = super().undo(lab)

                def back() -> None:
                    setattr(machine, name, False)
                    undo()

                return back

        return Has(name, (), ())

    def boot(self, _stage: Any, block: str) -> None:
        self.booted = block

    def boot_as_the_lab(self, _stage: Any) -> None:
        self.booted, self.by_file = "C", self.wrong == "it does not come back"
        self.remote = self.by_file

    def stale(self) -> list[str]:
        """Those whose /tmp is removed after they have mounted it: all from the third on."""
        nodes = self.blocks.nodes[self.booted]
        first = {"small blocks fail, too": 1, "all fail": 0, "there is no race": 4}.get(self.wrong, 2)
        return nodes[first:] if self.remote else []

    def saying(self, _stage: Any, nodes: list[str], words: str) -> list[str]:
        if "Stale" in words and self.wrong == "the console does not say why":
            return []
        late = {"memory is no better": self.by_file, "the daemon's word is no better": self.remote}.get(self.wrong)
        if late and self.by_file != self.remote:
            return nodes[:1]
        return [n for n in self.stale() if n in nodes] if self.by_file else []

    def states(self, _stage: Any, nodes: list[str]) -> dict[str, str]:
        return dict.fromkeys(nodes, "down" if self.wrong == "the daemons are down" else "active")

    def failed_calls(self, _stage: Any, _node: str) -> int:
        return 0 if self.wrong == "no call fails" else 300

    @contextmanager
    def stale_answers(self, *_: Any) -> Iterator[Counter[str]]:
        found: Counter[str] = Counter()
        yield found
        found.update(["n1", *([] if self.wrong == "nothing is on the wire" else 300 * self.stale())])


def play(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Comparison]:
    scenario, machine = load("startup_race"), Machine(wrong)
    patches: dict[str, Any] = {
        "replaced": lambda *_: machine.has("by_file"),
        "tmp_on_server": lambda *_: machine.has("remote"),
        "boot_block": machine.boot,
        "saying": machine.saying,
        "states": machine.states,
        "failed_calls": machine.failed_calls,
        "stale_answers": machine.stale_answers,
        "addresses": lambda _stage, nodes: list(nodes),
        "boot_as_the_lab": machine.boot_as_the_lab,
    }
    stand_in(monkeypatch, scenario.play, patches)
    return compared(scenario.play, machine.blocks, folder)


def test_it_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(c.ok for c in play("", tmp_path, monkeypatch))


#: what does not hold -> the check that says so
FAILURES = {
    "small blocks fail, too": "/tmp on s: nodes of B reported as failed: expected none, measured n2",
    "there is no race": "/tmp on s: some of C are reported as failed, not all: expected yes, measured no (seen: none)",
    "all fail": "/tmp on s: nodes of A reported as failed: expected none, measured n1",
    "the console does not say why": "consoles that say it is stale: expected n3, n4, measured none",
    "the daemons are down": "states of their daemons: expected active, measured down",
    "no call fails": "those whose calls for /tmp fail: expected n3, n4, measured none",
    "nothing is on the wire": "to whom the server answers again and again that it is: expected n3, n4, measured none",
    "memory is no better": "/tmp in memory, a file: nodes of A reported as failed: expected none, measured n1",
    "the daemon's word is no better": "/tmp on the server, mcgetstate: nodes of A reported as failed: expected none",
    "it does not come back": "nodes reported as failed, afterwards: expected none, measured n3",
}


@pytest.mark.parametrize("wrong", FAILURES)
def test_each_check_fails_where_what_it_checks_is_not_so(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed) as caught:
        play(wrong, tmp_path, monkeypatch)
    assert FAILURES[wrong] in str(caught.value)
