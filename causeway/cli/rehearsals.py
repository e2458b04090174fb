"""The command that rehearses a change."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from causeway import folders
from causeway.cli import complete, inside, tables
from causeway.cli.command import AsJson, Clock, Count, counts, pass_on
from causeway.cli.screen import out, print_json, progress, tell
from causeway.errors import BadInput
from causeway.folders import site_file
from causeway.hosts import asking, host, memory
from causeway.hosts.checkpoints import MAKE
from causeway.hosts.labs import refuse_a_second
from causeway.hosts.native import NativeHost
from causeway.hosts.uml import UmlHost
from causeway.lab.deploy import Deployment
from causeway.play import streams
from causeway.play.before import TWIN
from causeway.play.rehearsal import Wanted
from causeway.rehearse.change import Change, read_change, read_commands
from causeway.rehearse.parts import parts, parts_back
from causeway.rehearse.predict import predict


def rehearse(
    site: Annotated[
        str,
        typer.Argument(metavar="SITE", help="a shipped site's name, or a site's file", autocompletion=complete.shipped),
    ],
    change: Annotated[
        Path,
        typer.Option(help="another version of the site's file, a patch of it, a folder of native files, or commands"),
    ],
    predicted: Annotated[bool, typer.Option("--predict", help="compute what it moves; start no lab")] = False,
    back: Annotated[
        Path | None, typer.Option(help="commands that are the way back (default: what undoes the change, part by part)")
    ] = None,
    one_by_one: Annotated[
        bool, typer.Option("--one-by-one", help="say after each part how its nodes are set then")
    ] = False,
    under_load: Annotated[
        bool, typer.Option("--under-load", help="have streams run all the time, those that the change moves most")
    ] = False,
    stay: Annotated[
        bool, typer.Option("--stay", help="make it step by step in a lab that stays up, with a checkpoint of each step")
    ] = False,
    clock: Clock = None,
    seed: Annotated[int, typer.Option(help="fixes the ports that are drawn")] = 1,
    count: Count = None,
    as_json: AsJson = False,
    started: Annotated[str | None, typer.Option(hidden=True)] = None,
    measure: Annotated[bool, typer.Option("--measure", hidden=True)] = False,
    step: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Say what a change would move: who reaches whom, by what, how fast, and what would be missing.

    With --predict by computation alone. Else it is played, too, in a lab of its own (in virtual time): measured before,
    made, watched meanwhile, measured after, and taken back; writes runs/ID/ (rehearsal.json and .html, junit.xml).
    With --stay it is made in a lab for people, in paced time, and `causeway back step-N` goes to any of its steps.
    Exit codes: 0 no regression, 1 a regression, 2 bad input, 3 lab broken.
    """
    own = Deployment(site_file(site), None, None, clock or ("paced" if stay else "virtual"))
    own = Deployment(own.topology, counts(own.topology, count), None, own.clock)
    read = read_change(own.topology, own.counts, change)
    if predicted:
        if back is not None or one_by_one or under_load or stay:
            raise BadInput("--predict plays nothing; leave out --back, --one-by-one, --under-load and --stay")
        found = predict(read, str(change))
        if as_json:
            print_json(found.as_data())
        else:
            for part in tables.prediction(found):
                out.print(part)
        raise typer.Exit(found.exit_code)
    made = parts(read)
    if stay:
        if back is not None or one_by_one or under_load or as_json or own.clock == "virtual":
            raise BadInput("--stay is for people; leave out --back, --one-by-one, --under-load, --json, --clock")
        pass_on(lambda: _stay_outside(own, read, change, len(made)))
    if step is not None:
        inside.make_a_step(read, made, step)
        raise typer.Exit
    way_back = None if back is None else parts_back(read_commands(read.before, back))
    options = {"--one-by-one": one_by_one, "--under-load": under_load, "--json": as_json}
    words = ["--seed", str(seed), *(word for word, given in options.items() if given)]
    load = None
    if under_load and (load := streams.moves_most(read, predict(read, change.name).rates)) is None:
        raise BadInput("no streams by a channel can run all the time here; leave out --under-load")
    pass_on(lambda: _play_outside(own, read, change, back, words, seed))
    when = datetime.fromisoformat(started) if started else datetime.now(UTC)
    wanted = Wanted(read, change.name, predict(read, change.name), made, way_back, one_by_one, load)
    with progress() as say:
        if measure:
            inside.before_a_change(wanted, seed, say)
            raise typer.Exit
        raise typer.Exit(inside.rehearse(own, wanted, seed, when, say, as_json=as_json))


def _play_outside(own: Deployment, read: Change, change: Path, back: Path | None, words: list[str], seed: int) -> int:
    chosen, why = host.choose(own.clock)
    words = [*words, "--started", datetime.now(UTC).isoformat(timespec="microseconds"), "--clock", own.clock]
    with progress() as say:
        if chosen == "native":
            return NativeHost(read.before.name).do(_words(own, change, back, words))
        host.ensure_images(say)
    tell(f"lab host: {chosen} ({why}); clock: {own.clock}")
    host.warn_of_the_jail(tell)

    def there(lab: UmlHost) -> list[str]:
        theirs_back = None if back is None else host.hand_over_change(lab, back)
        return _words(host.hand_over(lab, own), host.hand_over_change(lab, change), theirs_back, words)

    with TemporaryDirectory() as kept:  # from the one lab to the other
        before = Path(kept, TWIN.name)

        def with_what_was(lab: UmlHost) -> list[str]:
            shutil.copy(before, lab.share)
            return there(lab)

        def keep(lab: UmlHost) -> None:
            shutil.copy(lab.share / TWIN.name, before)

        measured = host.do_in_a_lab_of_its_own(
            own, read.before, seed, tell, lambda lab: [*there(lab), "--measure"], keep
        )
        return measured or host.do_in_a_lab_of_its_own(own, read.before, seed, tell, with_what_was)


def _stay_outside(own: Deployment, read: Change, change: Path, steps: int) -> int:
    """A lab like one of `up`'s, a checkpoint of it, and each step with one more."""
    chosen, _ = host.choose(own.clock)
    if chosen == "native":
        raise BadInput("--stay keeps a checkpoint of each step, which a lab on this machine's own kernel has none of")
    with progress() as say:
        host.ensure_images(say)
    host.warn_of_the_jail(tell)
    refuse_a_second(folders.state() / read.before.name)
    template, rc = host.template(own, read.before, tell)
    if rc:
        return rc
    memory.for_a_lab_and_checkpoints(template.about["memory_mib"], memory.taken_mib(template.process), steps + 1)
    with host.of_a_template(template, read.before.name, None, tell, stays=True) as lab:
        words = _words(host.hand_over(lab, own), host.hand_over_change(lab, change), None, [])
        for number in range(steps + 1):
            begin = (lambda: lab.ask(asking.STAY)) if number == 0 else (lambda: None)
            if rc := lab.do([*words, "--step", str(number)], begin=begin):
                lab.end(graceful_s=0)
                return rc
            kept = host.ask_for_a_clone(lab, MAKE, f"step-{number}")
            tell(f"checkpoint {kept['name']}: {kept['memory_mib']} MiB of memory, {kept['took_s']:.1f} s")
    tell("the lab stays up; `causeway back step-N` goes to after step N, step-0 is before all; `causeway down` ends it")
    return 0


def _words(own: Deployment, change: Path, back: Path | None, words: list[str]) -> list[str]:
    file, *options = own.words()
    way_back = [] if back is None else ["--back", str(back)]
    return ["rehearse", file, "--change", str(change), *way_back, *options, *words]
