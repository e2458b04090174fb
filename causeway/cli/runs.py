"""Commands that run something and measure it: scenarios, and what a lab costs.

What only the lab host does is imported when it is done there.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from causeway import folders
from causeway.cli import complete
from causeway.cli import jobs as side_by_side
from causeway.cli.command import AsJson, Clock, Count, Overlay, Topology, counts, pass_on
from causeway.cli.screen import out, print_json, progress, tell
from causeway.errors import BadInput
from causeway.folders import DEFAULT_SITE, site_file, sites
from causeway.hosts import host, uml
from causeway.hosts.jail import Jail, own_programs
from causeway.hosts.native import NativeHost
from causeway.lab.deploy import Deployment
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.render.overlay import check_overlay
from causeway.report.files import link_latest
from causeway.scenario.runner import check_all, load, load_all, load_words


def run(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SCENARIO]...", help="default: all", autocompletion=complete.scenarios),
    ] = None,
    clock: Clock = None,
    seed: Annotated[int, typer.Option(help="fixes ports and all else that is drawn")] = 1,
    lab: Annotated[
        str | None,
        typer.Option(
            "--lab", help="bring up this one: a shipped lab's name, or a topology file", autocompletion=complete.shipped
        ),
    ] = None,
    count: Count = None,
    overlay: Overlay = None,
    as_json: AsJson = False,
    listing: Annotated[
        bool, typer.Option("--list", help="play nothing: say for each site who would play, or why nobody")
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="play every Nth scenario, from the Ith on; `report --merge` joins them"),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="play so many scenarios at once, each in a lab of its own")] = 1,
    started: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run scenarios and judge them; writes runs/ID/ (report.json, report.html, scenarios/NAME.html, junit.xml).

    In the lab that is up, where there is one and neither --lab, --count, --overlay nor another clock
    is asked for; else in a lab of its own (in virtual time), which ends with the run. In one lab one run plays at a
    time; a second one ends at once, with 2.
    Exit codes: 0 all passed, 1 a check failed, 2 bad input, 3 lab broken, 4 nothing ran.
    """
    names = scenarios or []
    if listing:
        _list(names, [lab] if lab else sites(), count, as_json=as_json)
        return
    check_all(names)
    part = _part(shard)
    words = ["--seed", str(seed), *(["--json"] if as_json else []), *(["--shard", shard] if shard else [])]
    wants_its_own = lab is not None or bool(count) or overlay is not None or clock == "virtual"
    file = site_file(lab or DEFAULT_SITE)
    own = Deployment(file, counts(file, count), overlay, clock or "virtual")

    def take() -> int:
        try:
            if jobs > 1:
                return _run_side_by_side(names, own, seed, part, jobs, wants_its_own=wants_its_own, as_json=as_json)
            return _run_outside(names, words, own, seed, wants_its_own=wants_its_own)
        finally:
            link_latest(folders.runs())  # not from inside: a lab's jail makes no links

    pass_on(take)
    from causeway.cli import inside

    # a seeded lab host's clock starts on a fixed day: the day outside comes with the call
    when = datetime.fromisoformat(started) if started else datetime.now(UTC)
    with progress() as say:
        raise typer.Exit(inside.run(names, seed, when, own if wants_its_own else None, say, part, as_json=as_json))


def _part(shard: str | None) -> tuple[int, int]:
    """Which of how many parts; BadInput where it is none."""
    which, slash, parts = (shard or "1/1").partition("/")
    if not (slash and which.isdecimal() and parts.isdecimal() and 1 <= int(which) <= int(parts)):
        raise BadInput(f"--shard {shard}: say I/N, with I from 1 to N")
    return int(which), int(parts)


def _list(scenarios: list[str], names: list[str], count: list[str] | None, *, as_json: bool) -> None:
    """Cast every scenario on every site."""
    from causeway.cli import tables
    from causeway.scenario.playbill import billing

    check_all(scenarios)
    wanted = [load_site(site_file(name), counts(site_file(name), count)) for name in names]
    own = [Path(name) for name in scenarios if name.endswith(".py")]
    if own:  # whom they ask for is said by a program; this process has nothing else to do in its life but show it
        load_words()  # ours, whose libraries look at the machine's network and at home as they are loaded
        Jail(look=own_programs(*own)).enter()
    try:
        loaded = load_all(scenarios)
    except OSError as error:
        raise BadInput(f"a scenario's file does more than define one: {error}") from None
    rows = []
    for site in wanted:
        found = [billing(scenario, site) for scenario in loaded]
        rows += [{"site": site.name, **one.as_data()} for one in found]
        if not as_json:
            out.print(tables.playbill(site.name, found))
    if as_json:
        print_json(rows)


def _checked_site(own: Deployment) -> Site:
    """The site of a lab that a run would have for its own; BadInput where that, or its overlay, cannot be."""
    site = load_site(own.topology, own.counts)
    if own.overlay is not None:
        check_overlay(own.overlay, site.nodes, site.diskless())
    return site


def _run_outside(names: list[str], words: list[str], own: Deployment, seed: int, *, wants_its_own: bool) -> int:
    site = _checked_site(own)
    chosen, why = host.choose(own.clock)
    words = [*words, "--started", datetime.now(UTC).isoformat(timespec="microseconds")]
    if chosen == "native":
        file, *options = own.words()
        lab = ["--lab", file, *options, "--clock", own.clock] if wants_its_own else []
        return NativeHost(site.name).do(["run", *names, *words, *lab])
    if not wants_its_own and (present := lab_that_is_up()):
        return present.do(["run", *host.hand_over_scenarios(present, names), *words])
    with progress() as say:
        host.ensure_images(say)
    tell(f"lab host: {chosen} ({why}); clock: {own.clock}")
    host.warn_of_the_jail(tell)
    return host.do_in_a_lab_of_its_own(
        own, site, seed, tell, lambda lab: ["run", *host.hand_over_scenarios(lab, names), *words]
    )


def _run_side_by_side(
    names: list[str],
    own: Deployment,
    seed: int,
    part: tuple[int, int],
    jobs: int,
    *,
    wants_its_own: bool,
    as_json: bool,
) -> int:
    """BadInput where a lab is up that might be meant, or where no lab can be cloned."""
    site = _checked_site(own)
    if host.choose(own.clock)[0] == "native":
        raise BadInput(f"--jobs {jobs}: each scenario gets a clone, and this machine's own kernel makes none")
    if not wants_its_own and (present := lab_that_is_up()):
        raise BadInput(
            f"--jobs {jobs} plays in labs of its own, and {present.name} is up: name with --lab what it plays in"
        )
    labs = _labs(names, site, part)
    with progress() as say:
        host.ensure_images(say)
    host.warn_of_the_jail(tell)
    return side_by_side.play(labs, own, site, seed, jobs, as_json=as_json)


def _labs(names: list[str], site: Site, part: tuple[int, int]) -> list[list[str]]:
    """What is played in each lab: a scenario, or all of ours that nobody can play, and so will be skipped."""
    from causeway.scenario.playbill import about, billing

    which, parts = part
    ours = [load(name) for name in names if not name.endswith(".py")] if names else about(load_all([]), site)
    chosen = (names or [scenario.name for scenario in ours])[which - 1 :: parts]
    idle = {scenario.name for scenario in ours if scenario.name in chosen and billing(scenario, site).why_not}
    skipped = [name for name in chosen if name in idle]
    return [[name] for name in chosen if name not in idle] + ([skipped] if skipped else [])


def lab_that_is_up() -> uml.UmlHost | None:
    """The one that `up` brought up. BadInput where there are several."""
    found = [one for one in uml.all_hosts() if one.running() and one.name == one.about["lab"]]
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise BadInput(f"{names} are up; end all but one, or name with --lab what to bring up for this run alone")
    return found[0] if found else None


def bench(
    lab: Topology = DEFAULT_SITE,
    count: Annotated[
        str | None,
        typer.Option(metavar="[POOL=]N[,N...]", help="sizes to measure: numbers of a pool's nodes; else as it is"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure bring-up, tear-down, memory and eight streams, in virtual time; kept in runs/bench-*.json."""
    file = site_file(lab)
    pool, equals, numbers = (count or "").rpartition("=")
    words: list[list[str]] = [[f"{pool}{equals}{number}"] if number else [] for number in numbers.split(",")]
    sizes = [Deployment(file, counts(file, word), None, "virtual") for word in words]
    pass_on(lambda: _bench_outside(sizes, as_json=as_json))
    with progress() as say:
        from causeway.cli import inside

        inside.bench(sizes[0], say)


def _bench_outside(sizes: list[Deployment], *, as_json: bool) -> int:
    sites = [load_site(size.topology, size.counts) for size in sizes]
    with progress() as say:
        host.ensure_images(say)
    host.sweep()
    rows: list[dict[str, Any]] = []
    for site, size in zip(sites, sizes, strict=True):
        tell(f"measuring {site.name} with {len(site.nodes)} nodes")
        begun = monotonic()
        with host.temporary(site, tell) as (temporary, at_work):
            rc = temporary.do(["bench", *host.hand_over(temporary, size).words()], begin=at_work)
            if rc:
                return rc
            rows.append(json.loads((temporary.share / "bench.json").read_text()) | {"counts": size.counts})
        rows[-1]["whole_s"] = monotonic() - begun
    folders.runs().mkdir(parents=True, exist_ok=True)
    kept = folders.runs() / f"bench-{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    kept.write_text(json.dumps(rows, indent=2) + "\n")
    if as_json:
        print_json(rows)
    else:
        from causeway.cli import tables

        out.print(tables.bench(rows))
    tell(f"kept in {kept}")
    return 0
