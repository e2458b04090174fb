"""Every table that a command prints."""

from collections.abc import Callable, Iterable
from typing import Any

from rich.table import Table
from rich.text import Text

from causeway.hosts.needs import Need
from causeway.lab.probes.drift import Drift
from causeway.plan.choices import Choice
from causeway.plan.sizing import Size
from causeway.rehearse.answer import TURNS, Move, Prediction
from causeway.report.rehearsal import Rehearsal
from causeway.scenario.playbill import Billing


def _table(*names: str, title: str | None = None) -> Table:
    """A table in which nothing is cut off, however narrow the terminal is."""
    made = Table(title=title, title_justify="left")
    for name in names:
        made.add_column(name, overflow="fold")
    return made


def needs(host: str, group: Iterable[Need]) -> Table:
    """What a kind of lab host takes, and what is there of it."""
    table = _table("need", "", "what was found", "remedy", title=f"lab host {host}")
    for need in group:
        mark = "ok" if need.found else "missing"
        table.add_row(need.what, mark, need.detail, "" if need.found else need.remedy)
    return table


def checkpoints(rows: Iterable[dict[str, Any]]) -> Table:
    """The moments of a lab that are kept."""
    table = _table("checkpoint", "made", "memory, MiB")
    for row in rows:
        table.add_row(row["name"], row["made"], str(row["memory_mib"]))
    return table


def lessons(rows: Iterable[dict[str, Any]]) -> Table:
    """The lessons, and which sites can take each."""
    table = _table("lesson", "what it is about", "tasks", "labs that can take it")
    for row in rows:
        able = [where["site"] for where in row["sites"] if where["takes"]]
        levels = f", {row['levels']} levels" if row["levels"] > 1 else ""
        table.add_row(row["lesson"], row["title"], f"{row['tasks']}{levels}", ", ".join(able) or "none")
    return table


def board(rows: Iterable[dict[str, Any]]) -> Table:
    """Who is where in a class."""
    table = _table("lab", "lesson", "task", "passed", "hints", "checks", "resets", "since")
    table.columns[0].no_wrap = True
    for row in rows:
        at = "done" if row["done"] else f"{row['task']} of {row['tasks']}"
        passed = ", ".join(map(str, row["passed"])) + (" (solution played)" if row["solved"] else "")
        numbers = (row["hints"], row["checks"], row["resets"], row["since"])
        table.add_row(row["lab"], row["lesson"], at, passed, *map(str, numbers))
    return table


def drift(found: Iterable[Drift]) -> Table:
    """What a reboot would change on nodes."""
    table = _table("node", "what", "its files say", "it runs with")
    for one in found:
        table.add_row(one.node, one.what, one.files, one.runs)
    return table


def templates(rows: Iterable[dict[str, Any]]) -> Table:
    """The labs at rest of which others are made."""
    table = _table("template", "clock", "came up", "last used", "labs of it", "memory, MiB")
    for row in rows:
        counts = "".join(f", {pool}={number}" for pool, number in (row["counts"] or {}).items())
        words = (f"{row['site']}{counts}", row["clock"], row["made"], row["used"], row["labs"], row["memory_mib"])
        table.add_row(*map(str, words))
    return table


def status(found: dict[str, Any]) -> list[Table]:
    """A lab as tables: nodes, links, channels, filesystems."""
    title = f"{found['lab']}: lab host {found['lab_host']}, clock {found['clock']}"
    title += "".join(f"\nnot restored after {what}" for what in found["not_restored"])
    nodes = _table("node", "cluster", "role", "state", title=title)
    for node in found["nodes"]:
        nodes.add_row(node["name"], node["cluster"] or "", node["role"], node["state"])
    links = _table("link", "", "network", "Mbit/s", "MTU", "")
    for link in found["links"]:
        state = "up" if link["up"] else "DOWN"
        links.add_row(link["a"], link["b"], link["network"], str(link["rate_mbit"]), str(link["mtu"]), state)
    channels = _table("channel end", "peer", "mode", "sends by", "members up", "")
    for end in found["channels"]:
        ups = [m["name"] for m in end["members"] if m["up"]]
        members = f"{len(ups)} of {len(end['members'])}: {' '.join(ups)}"
        state = "negotiated" if end["negotiated"] else "NOT NEGOTIATED"
        name = f"{end['node']}:{end['name']}"
        channels.add_row(name, end["peer"], end["mode"], end["hash_policy"], members, state)
    filesystems = _table("filesystem", "owner", "served by", "mounted at", "on")
    for f in found["filesystems"]:
        on = f"{len(f['mounted_on'])} nodes: {' '.join(f['mounted_on'])}"
        filesystems.add_row(f["name"], f["owner"], " ".join(f["servers"]), f["mount_point"], on)
    return [nodes, links, channels, filesystems]


def choices(found: Iterable[Choice]) -> Iterable[Table]:
    """For each channel's end that sends a connection on: the member by each policy, its own one marked."""
    for choice in found:
        title = f"{choice.end.node}:{choice.end.name} sends {choice.sender} > {choice.receiver} by"
        table = _table("policy", "member", "", title=title)
        for policy, member in choice.by_policy.items():
            own = "its own" if policy == choice.end.hash_policy else ""
            table.add_row(policy, member or "nobody can compute it", own)
        yield table


def playbill(site: str, found: Iterable[Billing]) -> Table:
    """A site's scenarios, and who plays each."""
    table = Table(title=f"{site}: who plays", title_justify="left")
    table.add_column("scenario", no_wrap=True)
    table.add_column("players, in the order of their parts; or why nobody can", overflow="fold")
    for one in found:
        table.add_row(one.scenario.name, Text(one.line))
    return table


def prediction(found: Prediction) -> list[Table | Text]:
    """What a change moves, the worst first; what nodes must get; what is not predicted; the verdict."""
    parts: list[Table | Text] = []
    title = f"{found.site}: what {found.change} moves"
    moves = _table("", "what", "before", "after", "pairs or nodes", title=title)
    for move in sorted(found.moves, key=lambda move: TURNS.index(move.turn)):
        before, after = move.example
        moves.add_row(Text(move.turn, _TURNS[move.turn]), *(Text(t) for t in (move.about, before, after, _whom(move))))
    if found.moves:
        parts.append(moves)
    if found.files:
        files = _table("file", "on", title="Files that nodes must get")
        for path, nodes in found.files.items():
            files.add_row(path, _some(nodes))
        parts.append(files)
    parts += [Text(f"not predicted: {what}") for what in found.unpredicted]
    count = len(found.worse)
    said = f"{found.verdict}: {count} worse, {sum(m.turn == 'better' for m in found.moves)} better"
    parts.append(Text(f"{said}, {len(found.rates)} patterns of streams computed"))
    return parts


def rehearsal(found: Rehearsal) -> list[Table | Text]:
    """What a change moved when it was played, the worst first, beside what was predicted; the verdict."""
    title = f"{found.site}: {found.change}, played"
    moves = _table("", "what", "before", "predicted", "played", "pairs or nodes", title=title)
    answers = [answer for name in found.asked for answer in found.of(name)]
    for answer in sorted(answers, key=lambda answer: TURNS.index(answer.turn)):
        whom = f"{answer.count}: {answer.whom}" if answer.pairs else ""
        cells = answer.what, answer.before, answer.predicted, answer.played, whom
        moves.add_row(Text(answer.turn, _TURNS[answer.turn]), *map(Text, cells))
    parts: list[Table | Text] = [moves] if answers else []
    parts += [Text(f"not predicted: {what}") for what in found.not_predicted]
    took = f"{found.wall_s:.0f} s of wall time, {found.virtual_s:.0f} s on the lab's clock"
    return [*parts, Text(f"{found.summary}; {took}")]


_TURNS = {"worse": "bold red", "better": "green", "other": ""}


def _whom(move: Move) -> str:
    """How many it concerns, and some of them."""
    others = list(dict.fromkeys(other for ends in move.pairs.values() for other in ends))
    if not others:
        return _some(list(move.pairs))
    return f"{move.count}: {_some(list(move.pairs))} > {_some(others)}"


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 4 else [*names[:3], f"... ({len(names)})"])


def sizes(found: Iterable[Size]) -> Table:
    """Building blocks: how many and which need asks for that, what they are, what they give and what bounds it."""
    table = Table(title="MB/s and TB, in powers of ten; below a rate the stage that bounds it", title_justify="left")
    table.add_column("block", no_wrap=True)
    found = list(found)
    each_node = ["each of the nodes"] if any(one.clients for one in found) else []
    for name in ("how many", "servers", "disks", "write", "read", "usable", *each_node):
        table.add_column(name, overflow="fold")
    for one in found:
        usable = "?" if one.usable_tb is None else f"{one.usable_tb:.4g}"
        write, read = f"{one.write.write_mb_s:g}\n{one.write.name}", f"{one.read.read_mb_s:g}\n{one.read.name}"
        each = ["\n".join(f"{mb_s:.1f}" for mb_s in one.average_mb_s)] if one.average_mb_s else []
        servers = f"{one.servers}\n{one.block.lan}\n{one.block.san}"
        because = one.because.removesuffix("_mb_s").replace("_", " ")
        table.add_row(one.name, f"{one.blocks}\n{because}", servers, str(one.disks), write, read, usable, *each)
    return table


def bench(rows: list[dict[str, Any]]) -> Table:
    """The measurements of a lab: one column a size. What a site has not is not in it."""
    sizes = (", ".join(f"{number} {pool}" for pool, number in (row["counts"] or {}).items()) for row in rows)
    table = _table("", *(size or "as it is" for size in sizes))
    for name, text in _COSTS.items():
        table.add_row(name, *(text(row) for row in rows))
    for part, lines in (("eight_streams", _STREAMS), ("boot", _BOOT)):
        for name, text in lines.items():
            if any(row[part] for row in rows):
                table.add_row(name, *(text(row[part]) if row[part] else "" for row in rows))
    return table


_Lines = dict[str, Callable[[dict[str, Any]], str]]
_COSTS: _Lines = {
    "nodes, links": lambda r: f"{r['nodes']}, {r['links']}",
    "first bring-up, s": lambda r: f"{r['first_up_s']:.1f}",
    "bring-up, s": lambda r: f"{r['up_s']:.1f} ({r['up_s_per_node']:.2f} a node)",
    "containerlab deploy by hand, s": lambda r: f"{r['by_hand_up_s']:.1f}",
    "bring-up / by hand": lambda r: f"{r['up_over_by_hand']:.2f}",
    "tear-down, s": lambda r: f"{r['down_s']:.1f}",
    "containerlab destroy by hand, s": lambda r: f"{r['by_hand_down_s']:.1f}",
    "memory, MiB": lambda r: f"{r['memory_mib']:.0f} ({r['memory_mib_per_node']:.0f} a node)",
}
_STREAMS: _Lines = {
    "eight streams, Mbit/s": lambda s: f"{s['mbit']:.0f}",
    "wall s per virtual s": lambda s: f"{s['wall_over_virtual']:.2f}",
}
_BOOT: _Lines = {
    "diskless nodes booted at once": lambda b: f"{b['nodes']}",
    "asked to boot to all up, virtual s": lambda b: f"{b['virtual_s']:.1f}",
    "bound by the boot server's busiest link, s": lambda b: f"{b['bound_s']:.1f} ({b['sent_mb']:.0f} MB sent)",
    "first node, last node, s": lambda b: f"{b['first_node_s']:.1f}, {b['last_node_s']:.1f}",
    "boot, wall s": lambda b: f"{b['wall_s']:.1f}",
    "memory then, MiB": lambda b: f"{b['memory_mib']:.0f}",
}
