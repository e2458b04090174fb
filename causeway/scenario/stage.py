"""What a scenario works with: the lab, its phases, what is due and what is seen, changes and their undos."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeGuard, TypeVar

from causeway import interrupts, wait
from causeway.errors import CheckFailed, LabBroken
from causeway.lab.changes.change import Change, do_all
from causeway.lab.clock import Watch
from causeway.lab.lab import Lab
from causeway.model.site import Site
from causeway.process import transcript
from causeway.report.result import Comparison, Exhibit, Phase, Step, Value

T = TypeVar("T")
#: Where the lab is made to be so: that it does not become so says nothing about the claim.
_ARRANGING = ("Arrange", "Perturb", "Restore")
#: Where something is judged, or the step is silent.
_JUDGING = ("Healthy", "Judge", "Contrast", "Restore")


class Made:
    """A change that is made: it is undone by whoever calls undo first, the scenario or its end."""

    def __init__(self, title: str, actions: Sequence[Callable[[], object]]) -> None:
        self.title = title
        self._actions = actions
        self._undone = False

    def undo(self) -> None:
        """Undo it; a second call does nothing. One that failed may be tried again."""
        if not self._undone:
            do_all(self._actions)
            self._undone = True


class Stage:
    """One scenario's run. Each phase of its file is a `with stage.healthy("a sentence"):` and so on.

    A step fails when what is seen in it is not what is due; the scenario then ends, and what was changed is undone,
    the last change first.
    """

    def __init__(self, lab: Lab, dice: random.Random) -> None:
        self.lab = lab
        self.site = lab.site
        #: From the run's seed: ports, frames and all else that a scenario draws.
        self.random = dice
        self.steps: list[Step] = []
        self.comparisons: list[Comparison] = []
        self.exhibits: list[Exhibit] = []
        #: What could not be undone, and why: the lab is not what it was.
        self.not_restored: list[str] = []
        self._made: list[Made] = []
        self._taken: set[int] = set()
        self._phase: Phase | None = None
        self._notes: list[str] = []
        transcript.take_typed()  # before the first step there was another scenario

    def untaken(self, ports: Sequence[int], n: int) -> list[int]:
        """n ports, drawn from those that this was never asked for: one rests for a minute after use (TIME_WAIT)."""
        drawn = self.random.sample([port for port in ports if port not in self._taken], n)
        self._taken |= set(drawn)
        return drawn

    # Phases

    def arrange(self, sentence: str) -> AbstractContextManager[None]:
        """Once, before all else: what the site has not by itself and this takes, its undo beside it."""
        return self._step("Arrange", sentence)

    def healthy(self, sentence: str) -> AbstractContextManager[None]:
        """The good state, and proof that the measurement moves."""
        return self._step("Healthy", sentence)

    def perturb(self, sentence: str) -> AbstractContextManager[None]:
        """One fault, its undo beside it."""
        return self._step("Perturb", sentence)

    def observe(self, sentence: str) -> AbstractContextManager[None]:
        """Poll until the symptom shows; measure."""
        return self._step("Observe", sentence)

    def judge(self, sentence: str) -> AbstractContextManager[None]:
        """What is due beside what is seen."""
        return self._step("Judge", sentence)

    def contrast(self, sentence: str) -> AbstractContextManager[None]:
        """The remedy, the same check, the opposite verdict."""
        return self._step("Contrast", sentence)

    @contextmanager
    def restore(self, sentence: str) -> Iterator[None]:
        """Every change is undone first; then prove that it is healthy again."""
        with self._step("Restore", sentence):
            self.undo()
            yield

    @contextmanager
    def _step(self, phase: Phase, sentence: str) -> Iterator[None]:
        if self._phase is not None:
            raise RuntimeError(f"{phase} {sentence!r} begins within {self._phase}")
        watch, first = Watch(), len(self.comparisons)
        self._phase, self._notes = phase, []
        ok = False
        try:
            yield
            made = self.comparisons[first:]
            if wrong := [c for c in made if not c.ok]:
                raise CheckFailed("; ".join(_say(c) for c in wrong[:3]))
            if phase in _JUDGING and not made:
                raise CheckFailed(f"{phase} {sentence!r} judged nothing")
            ok = True
        except BaseException as error:
            self._notes.append(str(error) or type(error).__name__)
            raise
        finally:
            detail, typed = "; ".join(self._notes), transcript.take_typed()
            self.steps.append(Step(phase, sentence, watch.wall_s, watch.virtual_s, ok, detail, typed))
            self._phase = None

    # What is due, and what is seen

    def same(self, what: str, due: object, seen: object, why: str = "", *, repeats: bool = True) -> None:
        """What is seen is what is due: a number, a text, or several of them in their order (of a set: in any).

        `why` is the reason for what is due. With repeats=False other runs may see something else (a digest, an id),
        and `why` says why.
        """
        due, seen = _plain(due), _plain(seen)
        if not _is_value(due) or not (_is_value(seen) or seen is None):
            if due == seen:
                seen = due  # as it reads: 1 is 1.0
            show = _shown if due == seen or _shown(due) != _shown(seen) else repr
            due, seen = show(due), show(seen)
        self.compare(what, due, seen, "", 0, why, repeats=repeats)

    def holds(self, what: str, holds: bool, seen: object = "") -> None:
        """What it says is the case; `seen` is what that was read from."""
        said = _shown(_plain(seen))
        self.compare(what, "yes", "yes" if holds else "no", "", 0, f"seen: {said}" if said else "")

    def near(
        self,
        what: str,
        due: float,
        seen: float | None,
        unit: str,
        *,
        why: str,
        within: float = 0.01,
        repeats: bool = False,
    ) -> None:
        """A number is near the one that is due: off by no more than a part of that (0.01 is 1 %), and why so much."""
        self.compare(what, due, seen, unit, within, why, repeats=repeats)

    def compare(
        self,
        what: str,
        expected: Value,
        measured: Value | None,
        unit: str,
        tolerance: float,
        why: str = "",
        *,
        repeats: bool | None = None,
    ) -> None:
        """What same, holds and near stand on; fields as in report.result.Comparison. What is exact repeats."""
        exact = tolerance == 0 if repeats is None else repeats
        self.comparisons.append(Comparison(what, expected, measured, unit, tolerance, why, exact))

    def until(
        self,
        what: str,
        probe: Callable[[], T],
        *,
        is_: T | Callable[[T], bool],
        within_s: float,
        poll_s: float = 0.1,
    ) -> T:
        """Poll until the probe sees a value, or one of which a function says that it is enough; returns it.

        Where it is never seen the claim is wrong (CheckFailed); in Arrange, Perturb and Restore the lab is (LabBroken).
        """
        if callable(is_):
            enough, due = is_, ""
        else:
            enough, due = (lambda seen: _plain(seen) == _plain(is_)), f", not {_shown(_plain(is_))}"
        blame = LabBroken if self._phase is None or self._phase in _ARRANGING else CheckFailed
        seen = wait.until(f"{what}{due}", probe, deadline_s=within_s, poll_s=poll_s, enough=enough, otherwise=blame)
        if self._phase is not None:
            self.holds(what, True, seen)
        return seen

    def show(self, exhibit: Exhibit) -> None:
        """Add a picture, a table or a text to the report."""
        self.exhibits.append(exhibit)

    @contextmanager
    def as_if(self, site: Site) -> Iterator[None]:
        """Expect of the lab what a site with a fault in it would do."""
        whole, self.site = self.site, site
        try:
            yield
        finally:
            self.site = whole

    def let_pass(self, seconds: float, why: str) -> None:
        """Let time pass on the lab's clock, where that is the very thing: who waits for something uses `until`."""
        self._notes.append(f"{seconds:g} s pass: {why}")
        time.sleep(seconds)

    # Changes

    def make(self, change: Change, then: Callable[[], object] | None = None) -> Made:
        """Make a change; its undo is what comes back, and the scenario's end at the latest.

        `then` is done after the making and after the undoing: what a node must do to take it (a restart).
        """
        after = [] if then is None else [then]
        made = Made(change.title, [change.undo(self.lab), *after])
        self._made.append(made)  # before it is made: half of it may be, and its undo may be what fails
        change.make(self.lab)
        for action in after:
            action()
        self._notes.append(change.title)
        return made

    def defer(self, undo: Callable[[], object], what: str = "") -> None:
        """Register what undoes something that is no Change, in the line that does it."""
        self._made.append(Made(what, [undo]))

    def undo(self) -> None:
        """Undo every change that is not undone yet, the last one first, whatever one of them does.

        An interrupt waits until all is undone, and is raised then. Else raises LabBroken with what could not be
        undone, which `not_restored` has in any case.
        """
        failed: list[str] = []
        with interrupts.held() as noted:
            while self._made:
                made = self._made.pop()
                try:
                    _undo(made, noted)
                except Exception as error:
                    words = "; ".join([str(error) or type(error).__name__, *getattr(error, "__notes__", [])])
                    failed.append(": ".join(filter(None, [made.title, words])))
            self.not_restored += failed
        if failed:
            raise LabBroken(f"not undone: {'; '.join(failed)}")


def _undo(made: Made, noted: interrupts.Noted) -> None:
    quiet = not noted.came
    try:
        made.undo()
    except Exception:
        if not (quiet and noted.came):
            raise
        made.undo()  # Ctrl-C goes to the commands that run, too, and it was that


def _plain(value: Any) -> Any:
    """A value without the kind of its container: tuples are lists, and a set has its members' order."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return str(value)


def _is_value(plain: Any) -> TypeGuard[Value]:
    """Whether a report has it as it is."""
    return isinstance(plain, float | int | str) and not isinstance(plain, bool)


def _shown(value: Any) -> str:
    """A plain value as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return "none" if value is None else str(value)


def _say(comparison: Comparison) -> str:
    c = comparison
    unit = f" {c.unit}" if c.unit else ""
    why = f" ({c.why})" if c.why.startswith("seen: ") else ""
    return f"{c.what}: expected {c.expected}{unit}, measured {c.measured}{why}"
