"""Native commands, on this node and on others by ssh: the only module that starts any.

A command on all nodes starts Python on each: what few of ours need of its library, or what is large, is imported where
it is used.
"""

import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

#: Print each native command and each change of a file before it happens (-v).
verbose = False
#: The programs by which nodes are reached, and given files, where a cluster has some of its own (mccrcluster -r, -R).
_shell = _copy = ""
#: The exit code of what has taken too long, as timeout(1) has it.
TIMED_OUT = 124
#: How long an unreachable node may keep a command waiting, in seconds.
CONNECT_S = 2
_OPTIONS = ("-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}")
#: Commands that follow each other within a second share a connection to each node: its keys take longest of a session.
#: A node that falls silent meanwhile keeps nobody waiting for longer than twice as long as one that cannot be reached.
_SHARED = (
    *("-o", "ControlMaster=auto", "-o", "ControlPath=/run/mc.%C", "-o", "ControlPersist=1"),
    *("-o", f"ServerAliveInterval={CONNECT_S}", "-o", "ServerAliveCountMax=2"),
)
#: ssh sessions at once: a node's sshd, and this one, serve so many without refusing any.
_SIDE_BY_SIDE = 16


class Refused(Exception):
    """What was asked for cannot be done; says why and what would be right. Nothing has been changed."""


class Result(NamedTuple):
    """How a command ended and what it said."""

    rc: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode(errors="replace")

    @property
    def said(self) -> str:
        """Its own words about what went wrong, in one line."""
        return " ".join((self.err.strip() or self.out.strip()).split()) or f"exit code {self.rc}"


def step(text: str) -> None:
    """Print a step that is no command, such as a change of a file, where -v is given."""
    if verbose:
        print(f"+ {text}", file=sys.stderr, flush=True)


def run(
    argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 120, quiet: bool = False, preload: str = ""
) -> Result:
    """Run a native command to its end. One that takes too long ends with TIMED_OUT.

    `quiet` keeps a probe, which changes nothing and is repeated, from being printed. `preload`: a library of ours that
    is loaded before the command's own.
    """
    if not quiet:
        step((f"LD_PRELOAD={preload} " if preload else "") + shlex.join(argv))
    pipe = subprocess.PIPE
    env = os.environ | {"LD_PRELOAD": preload} if preload else None
    try:
        with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env) as started:
            try:
                out, err = started.communicate(stdin, timeout_s)
            except subprocess.TimeoutExpired:
                # not its output, too, as subprocess.run would: children of its own may hold that open for ever
                return Result(TIMED_OUT, b"", f"no answer within {timeout_s:g} s")
            finally:
                started.kill()
    except FileNotFoundError:
        return Result(127, b"", f"{argv[0]}: not found")
    return Result(started.returncode, out, err.decode(errors="replace"))


def must(argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 120, preload: str = "") -> str:
    """Run a command that has to succeed; returns what it printed."""
    result = run(argv, stdin=stdin, timeout_s=timeout_s, preload=preload)
    if result.rc != 0:
        raise Refused(f"`{shlex.join(argv)}` failed: {result.said}")
    return result.out


def use(shell: str, copy: str) -> None:
    """Have nodes reached by another program than ssh, and given files by one; "" takes either back.

    Each must know the options that are given to ssh and scp here.
    """
    global _shell, _copy
    _shell, _copy = shell, copy


def copies() -> bool:
    """Whether there is a program that gives nodes files: without one they are sent through ssh."""
    return bool(_copy)


def ssh(node: str, command: str, *, stdin: bytes = b"", timeout_s: float = 120) -> Result:
    """Run a command on another node, which must not ask anything."""
    argv = ["ssh", *_OPTIONS, *(() if _shell else _SHARED), node, command]
    argv[0] = _shell or argv[0]
    return run(argv, stdin=stdin, timeout_s=timeout_s)


def copy(file: str, node: str, to: str) -> Result:
    """Give another node a file."""
    argv = ["scp", "-q", *_OPTIONS, file, f"{node}:{to}"]
    argv[0] = _copy or argv[0]
    return run(argv)


def side_by_side(work: Callable[[Item], Value], items: Sequence[Item], at_once: int = _SIDE_BY_SIDE) -> list[Value]:
    """The results of some work on each item, done at the same time, in the order of the items."""
    places, done, failed = iter(range(len(items))), dict[int, Value](), dict[int, Exception]()

    def take() -> None:
        for place in places:
            try:
                done[place] = work(items[place])
            except Exception as why:
                failed[place] = why

    threads = [threading.Thread(target=take) for _ in range(min(at_once, len(items)) - 1)]
    for thread in threads:
        thread.start()
    take()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[min(failed)]
    return [done[place] for place in range(len(items))]


def comes(holds: Callable[[], bool], limit_s: float, every_s: float = 0.2) -> bool:
    """Whether something comes to hold within a time; looked at every so often."""
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(every_s)
    return True


def link(file: Path, target: str) -> None:
    """Make a symbolic link, in place of one that is there."""
    step(f"ln -sfn {target} {file}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.symlink_to(target)


def remove(file: Path) -> None:
    """Remove a file that is there."""
    step(f"rm {file}")
    file.unlink()


def write(file: Path, text: str, mode: int = 0o644) -> None:
    """Write a file whole: it is never seen half written, nor a secret by others."""
    step(f"write {file}")
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.new")
    new.touch(mode=mode)
    new.chmod(mode)
    new.write_text(text)
    new.rename(file)
