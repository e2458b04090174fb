"""Lab hosts: which one a lab gets and why, which ones are there, and how files get into one."""

import json
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from causeway import folders
from causeway.errors import BadInput
from causeway.hosts import artefacts, asking, jail, made_of, memory, native, needs, templates, uml
from causeway.hosts.alone import alone

if TYPE_CHECKING:
    from causeway.lab.deploy import Deployment
    from causeway.model.site import Site

CLOCKS = ("virtual", "paced", "real")


class LabHost(Protocol):
    """Where a lab runs. It has this tool inside, which does the commands that are passed on."""

    @property
    def name(self) -> str:
        """The lab's."""

    def site(self) -> "Site":
        """The site of the lab, as it was brought up."""

    def do(self, argv: list[str]) -> int:
        """Have the tool inside do a command; returns its exit code."""

    def terminal(self, argv: list[str]) -> int:
        """Have the tool inside do a command on this terminal."""

    def lines(self, argv: list[str]) -> Generator[str, None, None]:
        """What the tool inside prints while it does a command, line by line; closing this ends the command."""

    def end(self, graceful_s: float) -> None:
        """End the lab, and remove all that it left."""


def inside() -> bool:
    """Whether this process runs in the lab host already (or the machine itself is one)."""
    return os.environ.get("CAUSEWAY_LAB_HOST") in ("uml", "native")


def choose(clock: str | None) -> tuple[str, str]:
    """The kind of lab host that has this clock, and why. BadInput for a clock that does not exist."""
    if clock not in (None, *CLOCKS):
        raise BadInput(f"--clock {clock}: there is no such clock; use {', '.join(CLOCKS[:-1])} or {CLOCKS[-1]}")
    if clock == "real":
        lacking = [f"{n.what}: {n.detail}; {n.remedy}" for n in needs.native_needs() if n.lacking]
        if lacking:
            raise BadInput("the real clock needs a native lab host:\n" + "\n".join(lacking))
        return "native", "the real clock was asked for"
    return needs.choose()


def every() -> Iterator[LabHost]:
    """Every lab host that there is, left-behind ones included."""
    yield from uml.all_hosts()
    yield from native.all_hosts()


def running(lab: str | None) -> LabHost:
    """The running lab host of this lab, or the only one. BadInput when there is no only one."""
    up: list[LabHost] = [h for h in uml.all_hosts() if h.running()]
    found = [h for h in (*up, *native.all_hosts()) if lab in (None, h.name)]
    if len(found) != 1:
        names = ", ".join(host.name for host in found) or "none"
        which = f" {lab}" if lab else ""
        raise BadInput(f"lab{which}: {names} up; `causeway up` brings one up, --lab names one of several")
    return found[0]


def with_checkpoints(lab: str | None) -> uml.UmlHost:
    """The running lab host of this lab, or the only one, where it can be cloned. BadInput otherwise."""
    found = running(lab)
    if not isinstance(found, uml.UmlHost):
        raise BadInput(f"{found.name} runs on this machine's own kernel, which nobody clones: bring it up with paced")
    return found


def ask_for_a_clone(lab: uml.UmlHost, what: str, name: str) -> Any:
    """Have a lab make a checkpoint, or go back to one. BadInput, LabBroken: all is as it was."""
    with alone(memory.FOLDER):  # the clone takes what a lab that comes up beside it must not count on
        return lab.ask(what, name)


def ensure_images(say: Callable[[str], None]) -> None:
    """Build what the cache lacks. BadInput with what is missing on the machine, or is no place for a lab host."""
    wanted = needs.uml_needs() if (absent := artefacts.missing()) else [needs.paths()]
    lacking = [need for need in wanted if need.lacking]
    if lacking:
        raise BadInput("\n".join(f"{need.what}: {need.detail}; {need.remedy}" for need in lacking))
    if absent:
        artefacts.build(artefacts.LABHOST, say)
    artefacts.are_used()


def warn_of_the_jail(tell: Callable[[str], None]) -> None:
    """Say in one line what a lab may reach here that elsewhere it may not."""
    if lacks := jail.lacks():
        tell(f"{lacks} (docs/safety.md)")


def hand_over(host: uml.UmlHost, wanted: "Deployment") -> "Deployment":
    """Copy the user's files to where the lab host sees them; returns what to bring up, as it is named there."""
    shutil.copy(wanted.topology, host.share / "topology.yaml")
    (host.share / folders.MADE_OF.name).write_text(json.dumps(made_of.manifest()))
    if wanted.overlay is not None:
        shutil.copytree(wanted.overlay, host.share / "overlay", symlinks=True)
        wanted = replace(wanted, overlay=Path("/share/overlay"))
    return replace(wanted, topology=Path("/share/topology.yaml"))


def hand_over_change(host: LabHost, change: Path) -> Path:
    """Copy a change, a file or a folder, to where the lab host sees it; returns its path there."""
    if not isinstance(host, uml.UmlHost):
        return change
    there = host.share / "changes"
    there.mkdir(exist_ok=True)
    if change.is_dir():
        shutil.copytree(change, there / change.name, symlinks=True)
    else:
        shutil.copy(change, there)
    return Path("/share/changes", change.name)


def hand_over_scenarios(host: LabHost, names: list[str]) -> list[str]:
    """Copy the user's own scenario files to where the lab host sees them; returns their names there."""
    if not isinstance(host, uml.UmlHost):
        return names
    own = [Path(name) for name in names if name.endswith(".py")]
    if alike := {str(one) for one in own for other in own if one.name == other.name and one != other}:
        raise BadInput(f"{' and '.join(sorted(alike))} have one name, and so would their results; rename one")
    for file in own:
        shutil.copy(file, host.share)
    return [f"/share/{Path(name).name}" if name.endswith(".py") else name for name in names]


def keep_console(host: uml.UmlHost, tell: Callable[[str], None]) -> None:
    """Keep what a lab host that broke had on its console, and say where; or why not: it must be ended all the same."""
    target = folders.runs() / "last-broken-console.log"
    try:
        shutil.copy(host.folder / "console", target)
    except OSError as error:  # a full disk, or it is gone already
        tell(f"the lab host's console could not be kept: {error}")
    else:
        tell(f"the lab host's console is kept in {target}")


def sweep() -> None:
    """Remove what killed lab hosts and builds left behind."""
    with _alone_here():
        uml.sweep()
    artefacts.sweep()


@contextmanager
def _alone_here() -> Iterator[None]:
    """Meanwhile no other command of this user makes a lab host, or sweeps: one half made looks like one left behind."""
    folders.state().mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone(folders.state()):
        yield


@contextmanager
def temporary(site: "Site", tell: Callable[[str], None]) -> Iterator[tuple[uml.UmlHost, Callable[[], None]]]:
    """A UML lab host for a site in virtual time, on which nothing is up; it ends with the block, however that ends.

    And what is to be called once it has its first job: until then it alone is promised memory.
    """
    folder, about = folders.state() / of_a_run(site), {"lab": site.name, "clock": "virtual"}
    with ExitStack() as turn:
        with _alone_here():
            turn.enter_context(alone(memory.FOLDER))
            host = uml.start(folder, about, memory.wish_mib(len(site.nodes)), seed=1)
        with _ends(host, tell, unless=lambda: False):
            yield host, lambda: templates.give_up_the_turn(host, turn)


def of_a_run(site: "Site") -> str:
    """The name of a lab that is this command's."""
    return f"{site.name}-run-{os.getpid():07}"


def template(
    wanted: "Deployment", site: "Site", tell: Callable[[str], None], wish_mib: int | None = None
) -> tuple[uml.UmlHost, int]:
    """The template of what is wanted, which comes up where there is none, and the exit code of that.

    It has so much memory, or what a site of its size gets.
    """
    wish_mib = wish_mib or memory.wish_mib(len(site.nodes))
    with ExitStack() as turn:
        with _alone_here():
            uml.sweep()
            if known := templates.find(templates.key(wanted, wish_mib)):
                return known, 0
            turn.enter_context(alone(memory.FOLDER))
            templates.make_room(wish_mib, tell)
            new = templates.begin(wanted, site.name, wish_mib)
        with _ends(new, tell, unless=(new.folder / asking.KEEP).exists):
            (new.share / "template").touch()
            up = ["up", *hand_over(new, wanted).words(), "--clock", wanted.clock, "--quiet"]
            rc = new.do(up, begin=lambda: templates.give_up_the_turn(new, turn))
            if rc == 0:
                new.ask(asking.KEEP)
            else:
                keep_console(new, tell)
    return new, rc


@contextmanager
def of_a_template(
    known: uml.UmlHost, name: str, seed: int | None, tell: Callable[[str], None], *, stays: bool
) -> Iterator[uml.UmlHost]:
    """A lab of a template, at rest; where it does not stay it ends with the block, and in any case where that breaks.

    What is drawn at random in it depends on the seed; without one, on nothing that repeats.
    """
    with templates.a_lab(known, name, tell) as lab, _ends(lab, tell, unless=lambda: stays):
        templates.draw_from(lab, seed)
        yield lab


def do_in_a_lab_of_its_own(
    wanted: "Deployment",
    site: "Site",
    seed: int,
    tell: Callable[[str], None],
    words: Callable[[uml.UmlHost], list[str]],
    take: Callable[[uml.UmlHost], object] = lambda _: None,
) -> int:
    """Have a command done in a lab that is made for it and ends with it; returns its exit code.

    `words` hands over to the lab, still at rest, what the command takes, and says how it is called there; `take` has
    what a command leaves that ended well.
    """
    known, rc = template(wanted, site, tell)
    if rc:
        return rc
    with of_a_template(known, of_a_run(site), seed, tell, stays=False) as lab:
        if (rc := lab.do(words(lab), begin=lambda: lab.ask(asking.GO))) == 0:
            take(lab)
        return rc


@contextmanager
def _ends(host: uml.UmlHost, tell: Callable[[str], None], unless: Callable[[], bool]) -> Iterator[None]:
    """It ends with the block; where that breaks, in any case, and its console is kept."""
    try:
        yield
    except BaseException:
        keep_console(host, tell)
        host.end(graceful_s=0)
        raise
    if not unless():
        host.end(graceful_s=0)
