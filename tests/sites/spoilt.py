"""Spoils a site's file, or makes an overlay of anything: each seed in another way, always the same.

    python -m tests.sites.spoilt [--cases 10000] [--first 0]

Whatever a file holds, it is a sound site, which can be rendered, or bad input with lines: never a mistake of ours,
never more than 2 s of CPU time, and nothing outside of the folder that is written to is changed.
"""

import argparse
import copy
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from causeway.errors import BadInput
from causeway.folders import sites
from causeway.hosts.jail import Jail, own_programs
from causeway.lab.deploy import overlay, write
from causeway.model.load import load_site
from causeway.render.graph import mermaid
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import File

TOPOLOGIES = Path(__file__).parents[2] / "topologies"
LIMIT_S = 2.0
#: What may stand in the place of a value: of another kind, at an edge, or what a shell, a path, a template or YAML
#: would make something of.
STRANGE: list[Any] = [None, 0, -1, 10**9, 10**30, 1.5, float("nan"), True, "", "x", "x" * 5000, [], {}, [1], {"a": 1}]
STRANGE += ["default", "sea", "lark", "quay", "nsd", "SN", "10.0.0.1", "10.30.0.0/24", "0.0.0.0/0", "eth0", "bond0"]
STRANGE += ["basin:eth0", "SN:eth9", ":", "2001:db8::1", "..", ".", "/", "../../etc/passwd", "/etc/passwd", "-rf", "*"]
STRANGE += ["$(touch spoilt)", "`touch spoilt`", "a; touch spoilt", "a\nEOF\ntouch spoilt", "a'b\"c", "a\0b", "ø", "🦀"]
STRANGE += [
    "{{ 7 * 7 }}",
    "{% for %}",
    "{0.__class__}",
    "%s",
    "{}",
    "{:9}",
    "[[]]",
    "[bold]",
    "<script>",
    "!!int",
    "&a",
    "*a",
]
STRANGE += ["kernel.core_pattern", "net.core.rmem_max", "net/../../etc", "net.core../etc", ["a"] * 3000, [[[[[]]]]]]
KEYS = ["x", "eth0", "pier", "quay", "mtu", "via", "..", "/etc", "a\nb", "kernel.core_pattern", "", "net.core.rmem_max"]
#: And what may stand in the place of a piece of the file's text.
TEXTS = [
    "\t",
    "\0",
    "\n",
    ": ",
    "- ",
    "{",
    "[",
    "]",
    "&a ",
    "*a",
    "!!python/object/apply:os.system ",
    "!!binary ",
    "? ",
    "| ",
    ">",
]
TEXTS += [
    "\r",
    "\x85",
    "%YAML 9.9\n",
    "---\n",
    "...\n",
    "<<: *a\n",
    "#",
    "'",
    '"',
    "\ufeff",
    "\ud800".encode("utf-16", "surrogatepass").decode("latin-1"),
]


class TooSlow(BaseException):
    """It took more CPU time than a person would wait for."""


@contextmanager
def in_time() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _places(part, (*place, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _places(part, (*place, index))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


def _spoil(data: Any, dice: random.Random) -> None:
    """Take a part out, put something strange or a copy of another part in its place, or give it another key."""
    everywhere = list(_places(data))
    place, other = dice.choice(everywhere), dice.choice(everywhere)
    around, last = _at(data, place[:-1]), place[-1]
    match dice.randrange(4):
        case 0:
            del around[last]
        case 1:
            around[last] = copy.deepcopy(dice.choice(STRANGE))
        case 2:
            around[last] = copy.deepcopy(_at(data, other))
        case 3 if isinstance(around, dict):
            around[dice.choice(KEYS)] = around.pop(last)


def _tear(text: str, dice: random.Random) -> str:
    """Take a piece of the text out, or put something else in its place."""
    start = dice.randrange(len(text))
    end = min(len(text), start + dice.choice([0, 0, 1, 5, 40]))
    return text[:start] + dice.choice(["", *TEXTS]) + text[end:]


def topology(seed: int) -> bytes:
    """A shipped site's file, spoilt in one to three places."""
    dice = random.Random(f"topology {seed}")
    text = (TOPOLOGIES / dice.choice(sites()) / "site.yaml").read_text()
    if dice.randrange(4):
        data = yaml.safe_load(text)
        for _ in range(dice.randint(1, 3)):
            _spoil(data, dice)
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True).encode("utf-8", "surrogatepass")
    for _ in range(dice.randint(1, 3)):
        text = _tear(text, dice)
    return text.encode("utf-8", "surrogatepass")


def make_overlay(seed: int, folder: Path, outside: Path) -> None:
    """A folder of anything: files, links that lead anywhere, FIFOs, devices, strange names and sizes."""
    dice = random.Random(f"overlay {seed}")
    folder.mkdir()
    makers: dict[str, Callable[[Path], object]] = {
        "file": lambda at: at.write_text("mine\n"),
        "folder": lambda at: at.mkdir(),
        "no text": lambda at: at.write_bytes(b"\xff\0\xfe"),
        "own mode": lambda at: (at.write_text("mine\n"), at.chmod(dice.choice([0o000, 0o400, 0o777, 0o4755]))),
        "link in": lambda at: at.symlink_to(dice.choice(["hosts", "/etc/hosts", "/usr/bin", "a/b/../c"])),
        "link out": lambda at: at.symlink_to(
            dice.choice([str(outside), "../" * 9, f"{'../' * 20}etc", str(outside / "kept")])
        ),
        "loop": lambda at: at.symlink_to(at.name),
        "dangling": lambda at: at.symlink_to("nowhere"),
        "FIFO": os.mkfifo,
        "sparse": lambda at: (at.touch(), os.truncate(at, dice.choice([10**6, 10**10]))),
        "deep": lambda at: (at / "/".join("d" * 40)).mkdir(parents=True),
        "many": lambda at: (at.mkdir(), [(at / str(n)).touch() for n in range(dice.choice([10, 100]))]),
    }
    names = [
        "etc",
        "hosts",
        "etc/hosts",
        "etc/network/interfaces",
        "ports",
        "root/.ssh/id_ed25519",
        "a\nb",
        "a b",
        "-rf",
        "x" * 200,
    ]
    for _ in range(dice.randint(1, 4)):
        node = dice.choice(["SN", "nsd01", "cn01", "SN", "nsd01", "R00-M0-NC-3", "nobody", "etc", "a\nb"])
        at = folder / node / dice.choice(names) if dice.randrange(8) else folder / node
        if not os.path.lexists(at) and all(p.is_dir() and not p.is_symlink() for p in at.parents if os.path.lexists(p)):
            at.parent.mkdir(parents=True, exist_ok=True)
            makers[dice.choice(list(makers))](at)


def try_topology(seed: int, folder: Path) -> bool:
    """Whether a spoilt file is a sound site; it is rendered then."""
    file = folder / "site.yaml"
    file.write_bytes(topology(seed))
    try:
        site = load_site(file)
    except BadInput as error:
        assert str(error)
        assert all(problem.line >= 1 and problem.remedy for problem in error.problems)
        return False
    assert mermaid(site)
    paths = [PurePosixPath(path) for path in render(site, Secrets(site))]
    assert not [path for path in paths if path.is_absolute() or ".." in path.parts]
    return True


def try_overlay(seed: int, folder: Path, outside: Path) -> bool:
    """Whether a made-up overlay is a sound one; it is laid over a lab's files then."""
    make_overlay(seed, folder / "mine", outside)
    write(_RENDERED, folder / "lab")
    try:
        overlay(folder / "lab" / "nodes", folder / "mine", ["R00-M0-NC-3"])
    except BadInput as error:
        assert str(error)
        return False
    finally:
        shutil.rmtree(folder / "mine")
        shutil.rmtree(folder / "lab")
    return True


_NAMES = ("etc/hosts", "etc/network/interfaces", "root/.ssh/id_ed25519", "ports")
_RENDERED = {f"nodes/{node}/{name}": File("rendered\n") for node in ("SN", "nsd01", "cn01") for name in _NAMES}
_RENDERED["nodes/R00-M0-NC-3/ports"] = File("rendered\n")


def _state(outside: Path) -> list[object]:
    return [
        (path.name, path.lstat().st_mode, path.lstat().st_mtime_ns, path.lstat().st_ctime_ns)
        for path in sorted(outside.rglob("*"))
    ]


def try_all(folder: Path, first: int, cases: int, say: Callable[[str], object]) -> int:
    """How many seeds show a mistake of ours, which is said; half of them are files, half overlays.

    This process is in a jail from then on, if the machine has Landlock: what it tries to write elsewhere is a mistake.
    """
    wrong = sound = 0
    inside, outside = folder / "inside", folder / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "kept").write_text("as it was\n")
    inside.mkdir()
    before = _state(outside)
    for part in ("overlay", "topology"):
        if part == "topology":  # it makes no links, and so none is granted
            Jail(look=own_programs(folder), change=[inside]).enter()
        for seed in range(first, first + cases // 2):
            try:
                with in_time():
                    sound += try_overlay(seed, inside, outside) if part == "overlay" else try_topology(seed, inside)
            except (Exception, TooSlow):
                wrong += 1
                say(f"{part} {seed}: {traceback.format_exc(limit=-4)}")
        if _state(outside) != before:
            wrong += 1
            say(f"{part}: what is outside was changed")
    say(f"{cases} cases: {sound} sound, {wrong} wrong")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spoilt-") as folder:
        child = os.fork()  # for who is in a jail cannot tidy up
        if child == 0:
            os._exit(bool(try_all(Path(folder), asked.first, asked.cases, lambda text: print(text, flush=True))))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
