"""Who is to blame: each kind of failure has its own type and its own exit code."""

from dataclasses import dataclass

EXIT_PASSED = 0
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_LAB_BROKEN = 3
EXIT_NOTHING_RAN = 4
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class Problem:
    """One mistake in an input: where it stands, what is wrong, what would be right."""

    file: str
    line: int
    path: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """One line, whatever the input has in it: no break, and nothing that a terminal would obey."""
        line = f"{self.file}:{self.line}: {self.path}: {self.what}; {self.remedy}"
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


class BadInput(Exception):
    """The user's input is wrong; nothing was started. Carries every mistake found."""

    def __init__(self, problems: list[Problem] | str) -> None:
        self.problems = [] if isinstance(problems, str) else problems
        text = problems if isinstance(problems, str) else "\n".join(map(str, problems))
        super().__init__(text)


class LabBroken(Exception):
    """The lab, not the thing under test, did not do what it must."""


class CheckFailed(Exception):
    """The lab works, and a judgement came out other than expected."""


class Unsupported(Exception):
    """This lab host or lab cannot run what was asked; says why. Counted as skipped."""
