"""How a rehearsal goes about its labs: twins from one instant, and steps that can be gone back to."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from causeway.cli import rehearsals
from causeway.errors import EXIT_LAB_BROKEN, BadInput
from causeway.folders import REPO
from causeway.hosts import host, memory
from causeway.hosts.memory import Room
from causeway.lab.changes import files
from causeway.lab.deploy import Deployment
from causeway.lab.probes.pairs import Pair, Seen
from causeway.model.thing import Port
from causeway.play import acts, native, rehearsal, stay
from causeway.play.before import TWIN, Before, of_a_twin
from causeway.play.mounts import Mounts
from causeway.play.native import Native
from causeway.play.streams import Played
from causeway.process import Result, transcript
from causeway.rehearse.change import Carried, read_change
from causeway.rehearse.parts import Command, Put, parts
from causeway.report.rehearsal import Done
from tests.sites import worked

SMALL = REPO / "topologies" / "small"
CHANGE = SMALL / "changes" / "jumbo-wrong.txt"
READ = read_change(SMALL / "site.yaml", None, CHANGE)
PARTS = parts(READ)
PAIR: Pair = ("wren", Port("quay1", "bond0"))
OWN = Deployment(SMALL / "site.yaml", None, None, "virtual")


class Lab:
    """A lab host that notes what is done in it."""

    def __init__(self, folder: Path, log: list[str], rc: int = 0) -> None:
        self.share, self.log, self.rc, self.process = folder, log, rc, folder
        self.about = {"memory_mib": 4000}

    def do(self, argv: list[str], begin: Callable[[], object] = lambda: None) -> int:
        begin()
        self.log.append(" ".join(argv[argv.index("--step") :]))
        return self.rc

    def ask(self, *words: str) -> Any:
        self.log.append(" ".join(words))
        return {"name": words[-1], "memory_mib": 900, "took_s": 0.5}

    def end(self, **_: float) -> None:
        self.log.append("end")


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which all is there to bring a lab up."""
    monkeypatch.setattr(host, "choose", lambda _: ("uml", "asked"))
    monkeypatch.setattr(host, "ensure_images", lambda _: None)
    monkeypatch.setattr(host, "warn_of_the_jail", lambda _: None)
    monkeypatch.setattr(host, "hand_over", lambda _, own: own)
    monkeypatch.setattr(host, "hand_over_change", lambda _, change: change)
    monkeypatch.setattr(rehearsals, "refuse_a_second", lambda _: None)


# twins


def test_what_a_lab_measures_is_read_in_its_twin_as_it_was(tmp_path: Path) -> None:
    assert of_a_twin(tmp_path / "before") is None
    done = Done("before", 1.5, [], "1 of 1 pairs can talk")
    mounted = Mounts(frozenset({("wren", "fish")}), {("wren", "fish"): ""}, {"sea": "abc"})
    played = Played(941.0, 940.5, {"eth0": 100.0}, {"eth0": 99.9})
    before = Before({PAIR: Seen("yes", 1500, ("pier",), None)}, mounted, {"2 streams": played}, done, 3.0, 60.0, "ip\n")
    before.leave(tmp_path / "before")
    assert of_a_twin(tmp_path / "before") == before


def test_what_was_typed_before_is_kept_with_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured() -> Any:
        transcript.note("ip link")
        return {PAIR: Seen("no")}, Mounts(), {}

    done = Done("before", 1.5, [], "0 of 1 pairs can talk")
    own: Any = SimpleNamespace(measure=measured, done=[done])
    monkeypatch.setattr(rehearsal, "_Rehearsal", lambda *_: own)
    monkeypatch.setattr(Before, "leave", lambda self: left.append(self))
    left: list[Before] = []
    nothing: Any = None
    rehearsal.measure(nothing, nothing, 1, nothing)
    (found,) = left
    assert (found.reached, found.done, found.transcript) == ({PAIR: Seen("no")}, done, "ip link\n")
    transcript.note("nobody has this")
    assert rehearsal._measured(own, tmp_path).transcript == "ip link\n"


@pytest.mark.parametrize("rc", [0, EXIT_LAB_BROKEN])
def test_a_change_is_made_in_the_twin_of_a_lab_that_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rc: int
) -> None:
    labs: list[tuple[int, list[str], bool]] = []

    def do(_own: Any, _site: Any, seed: int, _tell: Any, words: Any, take: Any = lambda _: None) -> int:
        share = tmp_path / str(len(labs))
        share.mkdir()
        lab = SimpleNamespace(share=share)
        labs.append((seed, words(lab), (share / TWIN.name).exists()))
        if labs[1:] or rc:
            return rc or 1
        (share / TWIN.name).write_text("measured")
        take(lab)
        return 0

    monkeypatch.setattr(host, "do_in_a_lab_of_its_own", do)
    ended = rehearsals._play_outside(OWN, READ, CHANGE, None, ["--seed", "7"], 7)
    assert ended == (rc or 1)
    assert [(seed, "--measure" in words, has) for seed, words, has in labs] == [(7, True, False), (7, False, True)][
        : 1 if rc else 2
    ]
    assert len({tuple(word for word in words if word != "--measure") for _, words, _ in labs}) == 1


# steps


@contextmanager
def _of(lab: Lab) -> Iterator[Lab]:
    yield lab


def _stay(monkeypatch: pytest.MonkeyPatch, lab: Lab, room: Room) -> int:
    monkeypatch.setattr(host, "template", lambda *_: (lab, 0))
    monkeypatch.setattr(host, "of_a_template", lambda *_, **__: _of(lab))
    monkeypatch.setattr(host, "ask_for_a_clone", lambda lab, *words: lab.ask(*words))
    monkeypatch.setattr(memory, "taken_mib", lambda _: 900)
    monkeypatch.setattr(memory, "room", lambda: room)
    return rehearsals._stay_outside(OWN, READ, CHANGE, 2)


def test_a_checkpoint_is_made_before_all_and_of_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    assert _stay(monkeypatch, Lab(tmp_path, log), Room({"/dev/shm": 6700}, 0)) == 0
    steps = [[f"--step {number}", f"checkpoint step-{number}"] for number in range(3)]
    assert log == ["stay", *steps[0], *steps[1], *steps[2]]


def test_a_step_that_breaks_ends_the_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    room = Room({"/dev/shm": 6700}, 0)
    assert _stay(monkeypatch, Lab(tmp_path, log, EXIT_LAB_BROKEN), room) == EXIT_LAB_BROKEN
    assert log == ["stay", "--step 0", "end"]


def test_memory_for_all_checkpoints_is_asked_for_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    with pytest.raises(BadInput, match="may take 4000 MiB of memory, and 3 checkpoints of it 900 MiB each; 6699 are"):
        _stay(monkeypatch, Lab(tmp_path, log), Room({"/dev/shm": 6699}, 0))
    assert log == []


def test_a_lab_without_checkpoints_has_no_steps_to_go_back_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "choose", lambda _: ("native", "asked"))
    with pytest.raises(BadInput, match="a checkpoint of each step"):
        rehearsals._stay_outside(OWN, READ, CHANGE, 2)


def test_a_step_says_what_failed_who_can_talk_and_what_is_set_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def seen(_lab: Any, targets: Any) -> dict[Pair, Seen]:
        looked.append(len(targets))
        return {pair: Seen("yes" if len(looked) == 1 else "no") for pair in targets}

    class Watch:
        def __init__(self, _lab: Any, targets: Any, _files: Any) -> None:
            looked.append(len(targets))

        @contextmanager
        def watching(self) -> Iterator[None]:
            yield

    set_so = [Native(mtus={"bond0": 1500}), Native(mtus={"bond0": 9000})]
    monkeypatch.setattr(stay, "seen", seen)
    monkeypatch.setattr(stay, "Watch", Watch)
    monkeypatch.setattr(stay, "settle_soon", lambda _: None)
    monkeypatch.setattr(native, "read", lambda _, nodes, left=iter(set_so): dict.fromkeys(nodes, next(left)))
    monkeypatch.setattr(acts, "do", lambda *_: iter([(Command("quay1", "true"), "no")]))
    lab: Any = SimpleNamespace()
    said = list(stay.make(lab, READ, PARTS, 1))
    (pairs,) = set(looked)
    assert len(looked) == 3
    assert said[:2] == ["quay1# true fails: no", f"0 of {pairs} pairs can talk"]
    assert said[2:] == [f"{node}: bond0: MTU: 1500 > 9000" for node in PARTS[0].nodes]
    looked.clear()
    assert list(stay.make(lab, READ, PARTS, 0)) == [f"{pairs} of {pairs} pairs can talk"]


# what is done in a part


def test_what_fails_is_given_and_all_the_rest_is_done_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def on(node: str, *argv: str, **_: float) -> Result:
        done.append(f"{node}# {argv[-1]}")
        return {"false": Result(argv, 1, "", ""), "ls x": Result(argv, 2, "", "no\n x")}.get(
            argv[-1], Result(argv, 0, "", "")
        )

    lab: Any = SimpleNamespace(on=on)
    steps = SimpleNamespace(take=lambda _: done.append("file"))
    monkeypatch.setattr(files, "write", lambda *_: steps)
    monkeypatch.setattr(files, "put_back", lambda _, node, path: f"{node}:{path}")
    monkeypatch.setattr(acts, "carry", lambda _, *words: done.append(" ".join(words)))
    asked: list[acts.Act] = [
        Command("a", "false"),
        Put("a", "/x", "text"),
        Carried("a", "/x", "b", "/y"),
        Command("b", "ls x"),
    ]
    asked.append(Command("b", "true"))
    assert [(str(command), why) for command, why in acts.do(lab, asked)] == [
        ("a# false", "it ended with 1"),
        ("b# ls x", "no x"),
    ]
    assert done == ["a# false", "file", "a /x b /y", "b# ls x", "b# true"]
    old: list[Any] = acts.old_files(lab, asked)
    assert old == ["a:/x", "b:/y"]


# what plays them by night


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ({"step-0": "10.30.0.0/24 via a\n", "step-1": "default via a\n"}, []),
        ({"step-0": "10.30.0.0/24 via a\n", "step-1": "10.30.0.0/24 via a\n"}, ["step-1"]),
        ({"step-0": "default via a\n", "step-1": "default via a\n"}, ["step-0", "step-0"]),
        ({}, ["--stay ended with 3"]),
    ],
)
def test_a_step_that_is_not_as_it_was_is_found(
    monkeypatch: pytest.MonkeyPatch, now: dict[str, str], found: list[str]
) -> None:
    asked: list[list[str]] = []

    def run(argv: list[str], **_: Any) -> SimpleNamespace:
        asked.append(argv[1:])
        step = next((words[1] for words in reversed(asked) if words[0] == "back"), "")
        rc = 0 if now or argv[1] != "rehearse" else EXIT_LAB_BROKEN
        return SimpleNamespace(returncode=rc, stdout=now.get(step, "") if argv[1] == "exec" else "", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    told = worked.steps({})
    assert [line.partition(":")[0] for line in told] == found
    assert asked[-1] == ["down", "small"]


def test_a_way_back_that_only_its_administrator_knows_is_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(site: str, change: Path, _env: Any, *words: str) -> SimpleNamespace:
        assert (site, change.name, words[0]) == ("jubl", "keys-forgotten.txt", "--back")
        assert "nsd01# mcauth update" in Path(words[1]).read_text()
        return SimpleNamespace(returncode=1, stdout='{"answers": []}')

    monkeypatch.setattr(worked, "command", command)
    assert worked.play("jubl/keys-forgotten.txt", tmp_path, {}) == []
