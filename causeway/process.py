"""The one module that starts processes; its transcript is what a person could retype."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NoReturn

from causeway.errors import LabBroken


@dataclass(frozen=True)
class Result:
    """What a command gave: exit code (-N: ended by signal N), standard output and error."""

    argv: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str

    def must(self) -> str:
        """The standard output of a command that a sound lab always carries out; LabBroken if it failed."""
        if self.rc != 0:
            said = (self.stderr or self.stdout).strip().splitlines()
            raise LabBroken(f"`{shlex.join(self.argv)}` ended with {self.rc}: {' '.join(said[-3:])}")
        return self.stdout


class Transcript:
    """Every command of a run with its exit code, appended to a file as it happens; and what was typed on nodes."""

    def __init__(self) -> None:
        self._file: Path | None = None
        self._typed: dict[str, None] = {}

    def to(self, file: Path | None) -> None:
        """Write to this file from now on; None stops it."""
        self._file = file

    def note(self, line: str) -> None:
        """A line that cannot be written, as on a full disk, is lost: what it tells of, an undo perhaps, must go on."""
        if self._file is not None:
            with suppress(OSError), self._file.open("a") as out:
                out.write(line + "\n")

    def typed(self, node: str, argv: Sequence[str]) -> None:
        """Note a command as one would type it at a node's prompt; a second time is noted no more than once."""
        self._typed[f"{node}# {shlex.join(argv)}"] = None

    def take_typed(self) -> list[str]:
        """What was typed since this was last asked, in its order."""
        taken, self._typed = list(self._typed), {}
        return taken

    def add(self, result: Result) -> None:
        when = datetime.now(UTC).strftime("%H:%M:%S.%f")[:-3]
        self.note(f"{when} {shlex.join(result.argv)}" + (f"   # {result.rc}" if result.rc else ""))


transcript = Transcript()


def run(
    argv: Sequence[str],
    *,
    timeout_s: float = 60,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Result:
    """Run a command to its end. Raises LabBroken when it cannot be started or outlives timeout_s."""
    try:
        done = subprocess.run(
            list(argv), input=stdin, capture_output=True, text=True, errors="replace",
            timeout=timeout_s, env=env, cwd=cwd, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise LabBroken(f"`{argv[0]}` is not installed; see `causeway doctor`") from None
    except subprocess.TimeoutExpired:
        raise LabBroken(f"`{shlex.join(argv)}` did not end within {timeout_s} s") from None
    result = Result(tuple(argv), done.returncode, done.stdout, done.stderr)
    transcript.add(result)
    return result


def follow(argv: Sequence[str], on_line: Callable[[str], None], *, log: Path, env: Mapping[str, str]) -> int:
    """Run a long command, its output line by line into a log and to on_line; returns its exit code.

    An interrupt (Ctrl-C) ends the command and all that it started before it is passed on; a SIGKILL of
    this process ends them, too.
    """
    with log.open("a") as out:
        child = subprocess.Popen(
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", env=dict(env), start_new_session=True,
        )  # fmt: skip
        assert child.stdout is not None
        # reads to its end a pipe that closes when this process is gone, however it went
        watchman = subprocess.Popen(
            ["/bin/sh", "-c", 'read -r _; kill -9 "-$1"', "sh", str(child.pid)],
            stdin=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            for line in child.stdout:
                out.write(line)
                out.flush()
                on_line(line.rstrip())
            return child.wait()
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
        finally:
            watchman.kill()
            watchman.wait()


def start(argv: Sequence[str], *, session: bool = True) -> "Background":
    """Start a command that runs beside what follows."""
    child = subprocess.Popen(
        list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, errors="replace", start_new_session=session,
    )  # fmt: skip
    return Background(tuple(argv), child)


class Background:
    """A started command."""

    def __init__(self, argv: tuple[str, ...], child: "subprocess.Popen[str]") -> None:
        self.argv = argv
        self._child = child

    def result(self, timeout_s: float) -> Result:
        """Wait for its end; LabBroken when it outlives timeout_s, and then it is killed."""
        try:
            out, err = self._child.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise LabBroken(f"`{shlex.join(self.argv)}` did not end within {timeout_s} s") from None
        result = Result(self.argv, self._child.returncode, out, err)
        transcript.add(result)
        return result

    def ended(self) -> bool:
        return self._child.poll() is not None

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it and what it started, whether or not it still runs."""
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.communicate()


def run_all(commands: Iterable[Sequence[str]], *, timeout_s: float, at_once: int = 32) -> list[Result]:
    """Run commands side by side, at most at_once of them, and give their results in order.

    However it ends, by an interrupt too, none of them is left running.
    """
    waiting = list(commands)
    results: list[Result] = []
    while waiting:
        batch, waiting = waiting[:at_once], waiting[at_once:]
        running = [start(argv) for argv in batch]
        try:
            results += [background.result(timeout_s) for background in running]
        finally:
            for background in running:
                background.kill()
    return results


def join(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a command on this process's own input, output and terminal; an interrupt is the command's to heed."""
    heed = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.call(list(argv), env=dict(env))
    finally:
        signal.signal(signal.SIGINT, heed)


def lines(argv: Sequence[str], env: Mapping[str, str]) -> Generator[str, None, None]:
    """What a command prints, line by line; closing this ends the command. LabBroken where it fails."""
    child = subprocess.Popen(
        list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, errors="replace", env=dict(env), start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None and child.stderr is not None
    try:
        for line in child.stdout:
            yield line.rstrip("\n")
        said = child.stderr.read().strip()
        if child.wait():
            raise LabBroken(said or f"`{shlex.join(argv)}` ended with {child.returncode}")
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def become(argv: Sequence[str]) -> NoReturn:
    """Have this process become a command, on the same terminal."""
    os.execvp(argv[0], list(argv))


def spawn_daemon(argv: Sequence[str], *, log: IO[str], env: Mapping[str, str], starter: int) -> int:
    """Start a process that may outlive the caller, with `starter` as its standard input; returns its pid."""
    sys.stdout.flush()
    child = subprocess.Popen(
        list(argv), stdin=starter, stdout=log, stderr=log, env=dict(env), start_new_session=True
    )  # fmt: skip
    return child.pid
