"""The command line. Outside a lab host a command that needs one is passed on into it."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from causeway import errors
from causeway.errors import BadInput, CheckFailed, LabBroken, Unsupported
from causeway.lab.deploy import Deployment
from causeway.labhost import artefacts, folders, needs, uml
from causeway.model.load import load_site

app = typer.Typer(
    help="Causeway: two computing centres' clusters and their network, emulated.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

faults = typer.Typer(help="Faults for training: what there is, bring one about, undo it.", no_args_is_help=True)
app.add_typer(faults, name="fault")

Topology = Annotated[str, typer.Argument(metavar="LAB", help="a shipped lab's name, or a topology file")]
LabName = Annotated[str | None, typer.Option("--lab", help="which lab, where more than one is up")]
IoNodes = Annotated[int | None, typer.Option(help="how many I/O nodes, in place of the topology's count")]
Overlay = Annotated[
    Path | None,
    typer.Option(help="folder of your own files: NODE/PATH takes the place of NODE's rendered /PATH"),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, and nothing else there")]
Clock = Annotated[str | None, typer.Option(help="virtual, paced (UML lab host) or real (native)")]


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code (see errors)."""
    try:
        code = app(argv, standalone_mode=False)
        return int(code or 0)
    except typer.TyperException as error:
        err.print(error.format_message(), markup=False)
        return errors.EXIT_BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        err.print("interrupted")
        return 130
    except BadInput as error:
        err.print(str(error), markup=False)
        if len(error.problems) > 1:
            err.print(f"{len(error.problems)} mistakes; nothing was started")
        return errors.EXIT_BAD_INPUT
    except LabBroken as error:
        err.print(f"lab broken: {error}", markup=False)
        return errors.EXIT_LAB_BROKEN
    except CheckFailed as error:
        err.print(f"check failed: {error}", markup=False)
        return errors.EXIT_CHECK_FAILED
    except Unsupported as error:
        err.print(f"skipped: {error}", markup=False)
        return errors.EXIT_NOTHING_RAN
    except OSError as error:
        err.print(str(error), markup=False)
        return errors.EXIT_BAD_INPUT
    except Exception:  # a mistake of ours is no verdict on anything
        err.print_exception()
        return errors.EXIT_LAB_BROKEN


def inside() -> bool:
    """Whether this process runs in the lab host already (or the machine itself is one)."""
    return os.environ.get("CAUSEWAY_LAB_HOST") in ("uml", "native")


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Say what goes on: one changing line on a terminal, a line a change elsewhere."""
    if err.is_terminal:
        with err.status("") as line:
            yield lambda text: line.update(text)
    else:
        last, when = "", 0.0

        def say(text: str) -> None:
            nonlocal last, when
            stem = text.split(":")[0]
            if stem != last or monotonic() - when > 15:
                last, when = stem, monotonic()
                err.print(text, markup=False)

        yield say


def topology_file(lab: str) -> Path:
    """The file of a shipped lab's name, or the file itself."""
    shipped = folders.REPO / "topologies" / f"{lab}.yaml"
    return shipped if "/" not in lab and shipped.exists() else Path(lab)


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def ensure_images() -> None:
    """Build what the cache lacks; says first what is missing on the machine."""
    if not artefacts.missing():
        return
    lacking = [need for need in needs.uml_needs() if not need.found]
    if lacking:
        raise BadInput("\n".join(f"{need.what}: {need.detail}; {need.remedy}" for need in lacking))
    with progress() as say:
        artefacts.build(artefacts.LABHOST, say)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what this machine has and lacks, and which lab host it gets, and why."""
    chosen, why = needs.choose()
    groups = {"uml": needs.uml_needs(), "native": needs.native_needs()}
    if as_json:
        rows = {
            host: [{"what": n.what, "found": n.found, "detail": n.detail, "remedy": n.remedy} for n in group]
            for host, group in groups.items()
        }
        print_json({"lab_host": chosen, "why": why, "needs": rows})
    else:
        for host, group in groups.items():
            table = Table("need", "", "what was found", "remedy", title=f"lab host {host}")
            for need in group:
                mark = "ok" if need.found else "missing"
                table.add_row(need.what, mark, need.detail, "" if need.found else need.remedy)
            out.print(table)
        out.print(f"This machine gets the lab host {chosen}: {why}.")
    if not all(need.found for need in groups[chosen]):
        raise typer.Exit(errors.EXIT_BAD_INPUT)


@app.command()
def build() -> None:
    """Build and cache what a lab host is made of (`up` and `run` do it where it is missing)."""
    ensure_images()
    for artefact in artefacts.ALL:
        err.print(f"{artefact.about}: {artefact.folder}")


@app.command()
def render(
    lab: Topology = "jubl",
    to: Annotated[Path, typer.Option(help="folder to write to; it must not exist")] = Path("rendered"),
    io_nodes: IoNodes = None,
) -> None:
    """Write the containerlab file and every node's files of a site, and start nothing."""
    from causeway.lab.deploy import write
    from causeway.render.files import render as render_site
    from causeway.render.secrets import Secrets

    site = load_site(topology_file(lab), io_nodes)
    if to.exists():
        raise BadInput(f"{to} exists; name a folder that does not, with --to")
    write(render_site(site, Secrets(site)), to)
    err.print(f"rendered {site.name} ({len(site.nodes)} nodes) into {to}")


@app.command()
def up(
    lab: Topology = "jubl",
    io_nodes: IoNodes = None,
    overlay: Overlay = None,
    clock: Clock = "paced",
    quiet: Annotated[bool, typer.Option(help="no tables at the end")] = False,
) -> None:
    """Bring a lab up: build what is missing, start the lab host, deploy, wait until all is sound."""
    if inside():
        from causeway.commands import up_inside

        with progress() as say:
            up_inside(Deployment(Path(lab), io_nodes, overlay, clock or "real"), say, quiet=quiet)
        return
    begun = monotonic()
    site = load_site(topology_file(lab), io_nodes)
    if overlay is not None and not overlay.is_dir():
        raise BadInput(f"--overlay {overlay}: no such folder")
    chosen, why = lab_host_for(clock)
    err.print(f"lab host: {chosen}, because {why}" if clock != "real" else "lab host: native, as asked")
    if chosen == "native":
        raise typer.Exit(_native(["up", str(topology_file(lab).resolve())], io_nodes, overlay, clock))
    if clock == "virtual":
        raise BadInput("an idle lab in virtual time runs ahead of you; use --clock paced, or `causeway run`")
    ensure_images()
    uml.sweep()
    host = uml.start(site.name, {"lab": site.name, "clock": "paced"}, seed=None, keep=True)
    argv = hand_over(host, lab, io_nodes, overlay)
    try:
        rc = host.do(["up", *argv, "--clock", "paced", *(["--quiet"] if quiet else [])])
    except BaseException:
        _keep_console(host)
        host.end(graceful_s=0)
        raise
    if rc != 0:
        _keep_console(host)
        host.end(graceful_s=0)
        raise typer.Exit(rc)
    err.print(f"up in {monotonic() - begun:.0f} s")
    _what_next(site.name)


def _what_next(name: str) -> None:
    err.print("Try next:")
    err.print("  make lab-shell NODE=nsd01      then: cat /proc/net/bonding/bond0; ip route; ping FEN-b")
    err.print("  bin/causeway run channel_imbalance     the Redpaper's eight streams, judged")
    err.print(f"  make lab-graph; make lab-down  what {name} looks like; and its end")


def lab_host_for(clock: str | None) -> tuple[str, str]:
    """The lab host that has this clock, and why. BadInput for a clock that does not exist."""
    if clock not in (None, "virtual", "paced", "real"):
        raise BadInput(f"--clock {clock}: there is no such clock; use virtual, paced or real")
    if clock == "real":
        lacking = [f"{n.what}: {n.detail}; {n.remedy}" for n in needs.native_needs() if not n.found]
        if lacking:
            raise BadInput("the real clock needs a native lab host:\n" + "\n".join(lacking))
        return "native", "the real clock was asked for"
    return needs.choose()


def hand_over(host: uml.LabHost, lab: str, io_nodes: int | None, overlay: Path | None) -> list[str]:
    """Put the user's files where the lab host sees them; returns the arguments that name them."""
    shutil.copy(topology_file(lab), host.share / "topology.yaml")
    argv = ["/share/topology.yaml"]
    if io_nodes is not None:
        argv += ["--io-nodes", str(io_nodes)]
    if overlay is not None:
        shutil.copytree(overlay, host.share / "overlay")
        argv += ["--overlay", "/share/overlay"]
    return argv


def hand_over_scenarios(host: uml.LabHost, names: list[str]) -> list[str]:
    """Copy the user's own scenario files to where the lab host sees them; returns their names there."""
    for name in names:
        if name.endswith(".py"):
            shutil.copy(name, host.share)
    return [f"/share/{Path(name).name}" if name.endswith(".py") else name for name in names]


def _keep_console(host: uml.LabHost) -> None:
    target = folders.runs() / "last-broken-console.log"
    shutil.copy(host.folder / "console", target)
    err.print(f"the lab host's console is kept in {target}")


def the_host(lab: str | None) -> uml.LabHost:
    """The running lab host of this lab, or the only one. BadInput when there is no only one."""
    found = [h for h in uml.all_hosts() if h.running() and lab in (None, h.name)]
    if len(found) != 1:
        names = ", ".join(host.name for host in found) or "none"
        which = f" {lab}" if lab else ""
        raise BadInput(f"lab{which}: {names} up; `causeway up` brings one up, --lab names one of several")
    return found[0]


def _native(argv: list[str], io_nodes: int | None, overlay: Path | None, clock: str | None) -> int:
    """Run the same command here, with this machine as the lab host."""
    os.environ["CAUSEWAY_LAB_HOST"] = "native"
    if io_nodes is not None:
        argv += ["--io-nodes", str(io_nodes)]
    if overlay is not None:
        argv += ["--overlay", str(overlay)]
    return main([*argv, "--clock", clock or "real"])


@app.command()
def down(
    lab: Annotated[str | None, typer.Argument(metavar="[LAB]", help="default: every lab")] = None,
) -> None:
    """End a lab and remove all that it left, also after a kill; doing it twice is fine."""
    begun = monotonic()
    if inside():
        from causeway.commands import down_inside

        down_inside(lab)
        return
    ended = []
    for host in uml.all_hosts():
        if lab in (None, host.name):
            host.end(graceful_s=0)
            ended.append(host.name)
    what = ", ".join(ended) or "nothing"
    err.print(f"ended: {what} ({monotonic() - begun:.1f} s)")


@app.command()
def status(lab: LabName = None, as_json: AsJson = False) -> None:
    """Show the nodes, links and channels of the lab that is up."""
    if not inside():
        raise typer.Exit(the_host(lab).do(["status", *(["--json"] if as_json else [])]))
    from causeway.commands import status_inside

    status_inside(lab, as_json=as_json)


@app.command("exec", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
def exec_(
    words: Annotated[list[str], typer.Argument(metavar="NODE... -- COMMAND...")],
    lab: LabName = None,
    as_json: AsJson = False,
) -> None:
    """Run a command on nodes, side by side (`all`: on every node). Ends with the highest exit code."""
    if words[-1] == "--json":  # as the last word it is ours, not the command's
        words, as_json = words[:-1], True
    if "--" not in words or not words[: words.index("--")] or words[-1] == "--":
        raise BadInput("say which nodes and which command: causeway exec NODE... -- COMMAND...")
    if not inside():
        options = ["--json"] if as_json else []
        raise typer.Exit(the_host(lab).do(["exec", *options, *words]))
    from causeway.commands import exec_inside

    cut = words.index("--")
    raise typer.Exit(exec_inside(lab, words[:cut], words[cut + 1 :], as_json=as_json))


@app.command()
def run(
    scenarios: Annotated[list[str] | None, typer.Argument(metavar="[SCENARIO]...", help="default: all")] = None,
    clock: Clock = None,
    seed: Annotated[int, typer.Option(help="fixes ports and all else that is drawn")] = 1,
    lab: Annotated[
        str | None, typer.Option("--lab", help="bring up this one: a shipped lab's name, or a topology file")
    ] = None,
    io_nodes: IoNodes = None,
    overlay: Overlay = None,
    as_json: AsJson = False,
    started: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run scenarios and judge them; writes runs/ID/ (report.json, report.html, scenarios/NAME.html, junit.xml).

    In the lab that is up, where there is one and neither --lab, --io-nodes, --overlay nor another clock
    is asked for; else in a lab of its own (default: jubl, virtual), which ends with the run.
    Exit codes: 0 all passed, 1 a check failed, 2 bad input, 3 lab broken, 4 nothing ran.
    """
    from causeway.scenario.runner import load_all

    load_all(scenarios or [])
    if inside():
        from causeway.commands import run_inside

        # a seeded lab host's clock starts on a fixed day: the day outside comes with the call
        when = datetime.fromisoformat(started) if started else datetime.now(UTC)
        with progress() as say:
            own = None if lab is None else Deployment(Path(lab), io_nodes, overlay, clock or "real")
            raise typer.Exit(run_inside(scenarios or [], seed, when, own, say, as_json=as_json))
    site = load_site(topology_file(lab or "jubl"), io_nodes)
    chosen, why = lab_host_for(clock)
    names = scenarios or []
    words = ["--seed", str(seed), *(["--json"] if as_json else [])]
    words += ["--started", datetime.now(UTC).isoformat(timespec="seconds")]
    if chosen == "native":
        if lab is not None:
            words += ["--lab", str(topology_file(lab).resolve())]
        raise typer.Exit(_native(["run", *names, *words], io_nodes, overlay, clock))
    present = uml.LabHost(folders.state() / site.name)
    wants_its_own = lab is not None or io_nodes is not None or overlay is not None or clock == "virtual"
    if present.running() and not wants_its_own:
        raise typer.Exit(present.do(["run", *hand_over_scenarios(present, names), *words]))
    ensure_images()
    uml.sweep()
    clock = clock or "virtual"
    err.print(f"lab host: {chosen} ({why}); clock: {clock}", markup=False)
    with temporary_host(site.name, clock, seed) as host:
        # one job for all: between two, an idle virtual clock would run on for as long as the machine likes
        lab_file, *more = hand_over(host, lab or "jubl", io_nodes, overlay)
        names = hand_over_scenarios(host, names)
        rc = host.do(["run", *names, *words, "--lab", lab_file, *more, "--clock", clock])
    raise typer.Exit(rc)


@app.command()
def bench(
    lab: Topology = "jubl",
    io_nodes: Annotated[str, typer.Option(help="sizes to measure, as numbers of I/O nodes")] = "8,32,64",
    as_json: AsJson = False,
) -> None:
    """Measure bring-up, tear-down, memory and the eight streams, in virtual time; kept in runs/bench-*.json."""
    if inside():
        from causeway.commands import bench_inside

        with progress() as say:
            bench_inside(Deployment(Path(lab), int(io_nodes), None, "virtual"), say)
        return
    try:
        sizes = [int(word) for word in io_nodes.split(",")]
    except ValueError:
        raise BadInput(f"--io-nodes {io_nodes}: give numbers with commas between, like 8,32,64") from None
    sites = [load_site(topology_file(lab), size) for size in sizes]
    ensure_images()
    uml.sweep()
    rows = []
    for site, size in zip(sites, sizes, strict=True):
        err.print(f"measuring {site.name} with {size} I/O nodes ({len(site.nodes)} nodes)")
        begun = monotonic()
        with temporary_host(site.name, "virtual", 1) as host:
            argv = hand_over(host, lab, size, None)
            rc = host.do(["bench", *argv])
            if rc:
                raise typer.Exit(rc)
            rows.append(json.loads((host.share / "bench.json").read_text()) | {"io_nodes": size})
        rows[-1]["whole_s"] = monotonic() - begun
    folders.runs().mkdir(parents=True, exist_ok=True)
    file = folders.runs() / f"bench-{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    file.write_text(json.dumps(rows, indent=2) + "\n")
    if as_json:
        print_json(rows)
    else:
        show_bench(rows)
    err.print(f"kept in {file}")


def show_bench(rows: list[dict[str, Any]]) -> None:
    """The measurements as a table: one column a size."""
    table = Table("", *(f"{row['io_nodes']} I/O nodes" for row in rows))
    lines: dict[str, Callable[[dict[str, Any]], str]] = {
        "nodes, links": lambda r: f"{r['nodes']}, {r['links']}",
        "first bring-up, s": lambda r: f"{r['first_up_s']:.1f}",
        "bring-up, s": lambda r: f"{r['up_s']:.1f} ({r['up_s_per_node']:.2f} a node)",
        "containerlab deploy by hand, s": lambda r: f"{r['by_hand_up_s']:.1f}",
        "bring-up / by hand": lambda r: f"{r['up_over_by_hand']:.2f}",
        "tear-down, s": lambda r: f"{r['down_s']:.1f}",
        "containerlab destroy by hand, s": lambda r: f"{r['by_hand_down_s']:.1f}",
        "memory, MiB": lambda r: f"{r['memory_mib']:.0f} ({r['memory_mib_per_node']:.0f} a node)",
        "eight streams, Mbit/s": lambda r: f"{r['eight_streams']['mbit']:.0f}",
        "wall s per virtual s": lambda r: f"{r['eight_streams']['wall_over_virtual']:.2f}",
        "I/O nodes booted at once": lambda r: f"{r['boot']['nodes']}",
        "allocate to all up, virtual s": lambda r: f"{r['boot']['virtual_s']:.1f}",
        "bound by SN's busiest link, s": lambda r: f"{r['boot']['bound_s']:.1f} ({r['boot']['sent_mb']:.0f} MB sent)",
        "first node, last node, s": lambda r: f"{r['boot']['first_node_s']:.1f}, {r['boot']['last_node_s']:.1f}",
        "boot, wall s": lambda r: f"{r['boot']['wall_s']:.1f}",
        "memory then, MiB": lambda r: f"{r['boot']['memory_mib']:.0f}",
    }
    for name, text in lines.items():
        table.add_row(name, *(text(row) for row in rows))
    out.print(table)


@contextmanager
def temporary_host(name: str, clock: str, seed: int | None) -> Iterator[uml.LabHost]:
    """A lab host that ends with this command, however that ends."""
    about = {"lab": name, "clock": clock}
    host = uml.start(f"{name}-run-{os.getpid()}", about, seed=seed, keep=False)
    try:
        yield host
    except BaseException:
        _keep_console(host)
        raise
    finally:
        host.end(graceful_s=0)


@app.command()
def shell(node: str, lab: LabName = None) -> None:
    """Open a shell on a node: a real terminal, with job control."""
    if not inside():
        raise typer.Exit(the_host(lab).terminal(["shell", node]))
    from causeway.commands import shell_inside

    shell_inside(lab, node)


@app.command()
def console(
    node: str,
    lab: LabName = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="go on until interrupted")] = False,
) -> None:
    """Show an I/O node's console since it was last switched on."""
    if not inside():
        raise typer.Exit(the_host(lab).do(["console", node, *(["--follow"] if follow else [])]))
    from causeway.commands import console_inside

    console_inside(lab, node, follow=follow)


@app.command()
def graph(
    lab: Topology = "jubl",
    io_nodes: IoNodes = None,
    as_json: AsJson = False,
) -> None:
    """Draw a site: clusters, nodes and links as a Mermaid diagram, or as JSON."""
    from causeway.render.graph import as_data, mermaid

    site = load_site(topology_file(lab), io_nodes)
    if as_json:
        print_json(as_data(site))
    else:
        sys.stdout.write(mermaid(site))


@faults.command("list")
def fault_list(as_json: AsJson = False) -> None:
    """Show every fault with its parameters, and how to look for its effect."""
    from causeway.lab.faults.catalogue import FAULTS

    if as_json:
        print_json([fault.as_data() for fault in FAULTS.values()])
        return
    for fault in FAULTS.values():
        out.print(f"[bold]{' '.join([fault.name, *(f'{p.name}=...' for p in fault.parameters)])}[/bold]")
        for line in (fault.state, *(f"{p.name}: {p.kind.meaning}" for p in fault.parameters), f"Look: {fault.look}"):
            out.print(f"    {line}", markup=False)


@faults.command("inject")
def fault_inject(
    name: Annotated[str, typer.Argument(metavar="NAME", help="as `fault list` has it")],
    words: Annotated[list[str] | None, typer.Argument(metavar="[PARAM=VALUE]...", help="its parameters")] = None,
    lab: LabName = None,
) -> None:
    """Bring a fault about in the lab that is up; says how to look for it, and not what it did."""
    if not inside():
        raise typer.Exit(the_host(lab).do(["fault", "inject", name, *(words or [])]))
    from causeway.commands import inject_inside

    inject_inside(lab, name, words or [])


@faults.command("clear")
def fault_clear(
    which: Annotated[str, typer.Argument(metavar="[ID|all]", help="what `inject` said")] = "all",
    lab: LabName = None,
) -> None:
    """Undo a fault, or every one, the last one first; doing it twice is fine."""
    if not inside():
        raise typer.Exit(the_host(lab).do(["fault", "clear", which]))
    from causeway.commands import clear_inside

    clear_inside(lab, which)
