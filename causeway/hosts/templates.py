"""Labs that have come up once on this machine and stay at rest, for others to be cloned of them: the templates."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from causeway import folders
from causeway.errors import BadInput, LabBroken
from causeway.hosts import artefacts, asking, memory, uml
from causeway.hosts.alone import alone
from causeway.hosts.mailbox import put
from causeway.hosts.uml import UmlHost

if TYPE_CHECKING:
    from causeway.lab.deploy import Deployment

#: What a template's kernel starts from in virtual time, whatever the seeds of its labs: these come in as they wake.
_SEED = 1
#: How long the machine may take to have the memory back of what has ended.
_FREED_S = 5
#: How long a lab kernel may take to begin, or to go on: it waits for a CPU alone.
_BEGINS_S = 10
#: What of the checkout brings a lab up, and goes on in it; scenarios are read when they are played.
_SOURCES = ("causeway", "nodes")


def key(wanted: "Deployment", wish_mib: int) -> str:
    """By what a template is known: all that it is made of, its memory, where it may write. No seed is in it."""
    digest = sha256()

    def add(*words: object) -> None:
        digest.update(json.dumps([str(word) for word in words]).encode())

    add(wanted.clock, wish_mib, artefacts.LABHOST.key, folders.REPO, folders.runs().resolve())
    add(json.dumps(wanted.counts and dict(sorted(wanted.counts.items()))))
    digest.update(wanted.topology.read_bytes())
    roots = [folders.REPO / source for source in _SOURCES]
    for root in (*roots, *([wanted.overlay] if wanted.overlay else [])):
        for file in sorted(root.rglob("*")):
            if "__pycache__" in file.parts:
                continue
            about = file.lstat()
            add(file.relative_to(root), oct(about.st_mode), file.readlink() if file.is_symlink() else "")
            if file.is_file() and not file.is_symlink():
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def every() -> Iterator[UmlHost]:
    """Those that are at rest."""
    for one in uml.templates():
        if (one.folder / asking.KEEP).exists() and one.running():
            yield one


def coming() -> Iterator[UmlHost]:
    """Those that come up, of which there is no lab yet."""
    for one in uml.templates():
        if not (one.folder / asking.KEEP).exists() and one.running() and not any(_labs(one)):
            yield one


def _labs(template: UmlHost) -> Iterator[UmlHost]:
    """The labs whose launcher is the template's."""
    launcher = template.folder / "launcher"
    for lab in uml.all_hosts():
        with suppress(FileNotFoundError):
            if (lab.folder / "launcher").read_text() == launcher.read_text():
                yield lab


def find(which: str) -> UmlHost | None:
    """The one by this key."""
    return next((one for one in every() if one.about["key"] == which), None)


def rows() -> list[dict[str, Any]]:
    """What each is like, the one that was unused for longest first."""
    return [row for _, row in _by_use()]


def _by_use() -> list[tuple[UmlHost, dict[str, Any]]]:
    found = []
    for one in every():
        with suppress(BadInput, LabBroken):  # it has ended meanwhile
            found.append((one, one.ask(asking.ABOUT)))
    return sorted(found, key=lambda pair: pair[1]["used"])


def drop(name: str) -> None:
    """End those of a site, or `all`; labs of them go on. BadInput where there is none."""
    chosen = [one for one in every() if name in ("all", one.about["lab"])]
    if not chosen and name != "all":
        raise BadInput(f"there is no template of {name}; there are: {', '.join(names()) or 'none'}")
    for one in chosen:
        _end(one)


def names() -> list[str]:
    """The sites of which there is one."""
    return sorted({one.about["lab"] for one in every()})


def _end(one: UmlHost) -> None:
    """And wait for its launcher's end, where that has nothing else to do."""
    busy = any(_labs(one))
    with suppress(BadInput, LabBroken):  # it has ended meanwhile
        one.ask(asking.END)
    deadline = time.monotonic() + _FREED_S
    while not busy and one.running() and time.monotonic() < deadline:
        time.sleep(0.02)


def make_room(mib: int, tell: Callable[[str], None], but: UmlHost | None = None) -> None:
    """While a lab that may take so much would not be had, end the template that was unused for longest."""
    if not memory.lacks_for(mib):
        return
    idle = [(one, row) for one, row in _by_use() if but is None or one.folder != but.folder]
    while idle and memory.lacks_for(mib):
        one, row = idle.pop(0)
        tell(f"ended the template of {row['site']}, for its {row['memory_mib']} MiB of memory")
        _end(one)
        deadline = time.monotonic() + _FREED_S
        while memory.lacks_for(mib) and time.monotonic() < deadline:
            time.sleep(0.1)


def begin(wanted: "Deployment", site: str, wish_mib: int) -> UmlHost:
    """A lab host that is to become a template with so much memory; nothing of it is up. It dies with this process."""
    folder = folders.templates() / f"{site}-{wanted.clock}-{os.getpid():07}"
    about = {"lab": site, "clock": wanted.clock, "counts": wanted.counts, "key": key(wanted, wish_mib)}
    return uml.start(folder, about, wish_mib, seed=_SEED if wanted.clock == "virtual" else None)


@dataclass(frozen=True)
class LabAtRest(UmlHost):
    """A lab that is to go on. Until then nobody else is promised memory: what it may take is not to be seen yet."""

    alone: ExitStack

    def ask(self, *words: str) -> Any:
        said = super().ask(*words)
        if words[0] in (asking.GO, asking.STAY):
            give_up_the_turn(self, self.alone)
        return said


def give_up_the_turn(lab: UmlHost, alone: ExitStack) -> None:
    """Have others be promised memory again, once they see what this lab may take."""
    until_it_counts(lab)
    alone.close()


def until_it_counts(lab: UmlHost) -> None:
    """Wait until its kernel is one that others see when they count what is promised, or has ended."""
    deadline = time.monotonic() + _BEGINS_S
    while lab.running() and not memory.counts(lab.folder / "pid") and time.monotonic() < deadline:
        time.sleep(0.01)


@contextmanager
def a_lab(template: UmlHost, name: str, tell: Callable[[str], None]) -> Iterator[UmlHost]:
    """A lab of a template, at rest until it is asked to go on (`asking.GO`), which dies with this block.

    But for one that is asked to go on and be kept.
    """
    with ExitStack() as held:
        held.enter_context(alone(memory.FOLDER))
        yield from _a_lab(template, name, tell, held)


def _a_lab(template: UmlHost, name: str, tell: Callable[[str], None], held: ExitStack) -> Iterator[UmlHost]:
    folder = folders.state().resolve() / name
    mine = template.about
    make_room(mine["memory_mib"], tell, but=template)
    memory.for_a_lab_at_rest(mine["memory_mib"], memory.taken_mib(template.process))
    spare = "another one came up meanwhile" if find(mine["key"]) not in (template, None) else ""
    about = {part: mine[part] for part in ("lab", "clock", "counts")}
    with asking.connect(template.folder, asking.LAB, str(folder), json.dumps(about), *([spare] if spare else [])) as it:
        said = asking.said(template.folder, it)
        if said["why"]:
            tell(f"the lab as it came up is not kept as a template: {said['why']}")
        else:
            made = datetime.fromisoformat(said["made"]).astimezone()
            tell(f"a clone of the template that came up {made:%Y-%m-%d %H:%M:%S}")
        yield LabAtRest(folder, held)


def draw_from(lab: UmlHost, seed: int | None) -> None:
    """Have what is drawn at random in a lab at rest depend on this seed, or on nothing that repeats.

    Without a seed people work in it: its clock shows the machine's date, not that of when the template came to rest.
    """
    if seed is None:
        (lab.share / "chance").write_bytes(os.urandom(32))
        put(lab.share / "date", f"{time.time():.3f}")
    else:
        (lab.share / "chance").write_bytes(sha256(f"seed {seed}".encode()).digest())
