"""What a scenario works with: the lab, its steps, comparisons, exhibits and undos."""

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from causeway.errors import CheckFailed
from causeway.lab.clock import Watch
from causeway.lab.lab import Lab
from causeway.model.site import Site
from causeway.process import transcript
from causeway.report.result import Comparison, Exhibit, Phase, Step, Value


class Stage:
    """One scenario's run. Each phase of its file is a `with stage.healthy("a sentence"):` and so on.

    A step fails when a comparison in it is not ok; the scenario then ends, and what was perturbed is
    undone, last change first.
    """

    def __init__(self, lab: Lab, dice: random.Random) -> None:
        self.lab = lab
        self.site = lab.site
        self.random = dice
        self.steps: list[Step] = []
        self.comparisons: list[Comparison] = []
        self.exhibits: list[Exhibit] = []
        self._undos: list[Callable[[], object]] = []
        transcript.take_typed()  # before the first step there was another scenario

    @contextmanager
    def _step(self, phase: Phase, sentence: str) -> Iterator[None]:
        watch = Watch()
        first = len(self.comparisons)
        ok, detail = False, ""
        try:
            yield
            wrong = [c for c in self.comparisons[first:] if not c.ok]
            if wrong:
                raise CheckFailed("; ".join(_say(c) for c in wrong[:3]))
            ok = True
        except Exception as error:
            detail = str(error)
            raise
        finally:
            typed = transcript.take_typed()
            self.steps.append(Step(phase, sentence, watch.wall_s, watch.virtual_s, ok, detail, typed))

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
        """Expected beside measured."""
        return self._step("Judge", sentence)

    def contrast(self, sentence: str) -> AbstractContextManager[None]:
        """The remedy, the same check, the opposite verdict."""
        return self._step("Contrast", sentence)

    def restore(self, sentence: str) -> AbstractContextManager[None]:
        """Everything that was deferred is undone on entering; then prove it is healthy again."""
        self.undo()
        return self._step("Restore", sentence)

    def defer(self, undo: Callable[[], object]) -> None:
        """Register the undo of a change, in the line of the change."""
        self._undos.append(undo)

    def undo(self) -> None:
        """Undo every change that is not undone yet, the last one first."""
        while self._undos:
            self._undos.pop()()

    @contextmanager
    def as_if(self, site: Site) -> Iterator[None]:
        """Expect of the lab what a site with a fault in it would do."""
        whole, self.site = self.site, site
        try:
            yield
        finally:
            self.site = whole

    def compare(
        self, what: str, expected: Value, measured: Value | None, unit: str, tolerance: float, why: str = ""
    ) -> None:
        """Put a measured value beside the expected one; tolerance as in report.result.Comparison."""
        self.comparisons.append(Comparison(what, expected, measured, unit, tolerance, why))

    def show(self, exhibit: Exhibit) -> None:
        """Add a picture, a table or a text to the report."""
        self.exhibits.append(exhibit)


def _say(comparison: Comparison) -> str:
    c = comparison
    return f"{c.what}: expected {c.expected} {c.unit}, measured {c.measured}".rstrip()
