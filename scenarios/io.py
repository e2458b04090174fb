"""How fast files go from one, two, four, eight I/O nodes to the owning cluster, and back.

Claim: with every I/O node the rate grows by that node's link, until a channel of a server is full. Writing takes
4/3 of a file's bytes over the network, as every fourth part is parity, and reading takes the file's own. One file
that all of them share is no faster than one node.

Cause: a stripe has a part for each of the four servers; a client sends or fetches them side by side, all through
its one link, and each goes by the member of the server's channel that the sender's hash policy gives it. Whoever
writes to a dispersed file, or reads it, locks the whole file at the servers: clients take turns.

Source: Redpaper, "GPFS performance tests", Figure 6 (I/O performance scaling with the number of IONs in a block).
"""

import re

from causeway.lab import filesystems
from causeway.lab.faults import link_rate
from causeway.report.result import Lines, Table, Text
from causeway.scenario.files import Outcome, measure
from causeway.scenario.stage import Stage

SIZE_MIB = 32
SHARED_MIB = 8
#: What TLS records, the calls' headers, and the start and end of short files may take of what the network gives.
TOLERANCE = 0.1
TURNS = 0.35
WHY_TURNS = "one node at a time has the lock, and passing it on takes as long as some blocks"
WHY = "records of TLS, headers of calls, and the start and end of files come on top"


def play(stage: Stage) -> None:
    filesystems.need(stage.lab)
    io_nodes = stage.lab.booted_io_nodes()
    groups = [io_nodes[:n] for n in (1, 2, 4, 8, 16) if n <= len(io_nodes)]
    (name, filesystem), *_ = [(n, f) for n, f in stage.site.topology.filesystems.items() if n == "work"]
    one, at = io_nodes[0], filesystem.mount_point
    stage.defer(lambda: stage.lab.on("FEN", "sh", "-c", f"rm -f {at}/io.*").must())

    def both_ways(nodes: list[str], *, shared: bool) -> tuple[Outcome, Outcome]:
        size_mib = SHARED_MIB if shared else SIZE_MIB
        written = measure(stage, at, nodes, "write", size_mib=size_mib, shared=shared)
        read = measure(stage, at, nodes, "read", size_mib=size_mib, shared=shared)
        return written, read

    def profile() -> str:
        said = stage.lab.on("nsd01", "gluster", "volume", "profile", name, "info", "cumulative").must()
        return "\n".join(line for line in said.splitlines() if re.search("Brick:|Fop|INODELK|WRITE|READ ", line))

    stage.lab.on("nsd01", "gluster", "volume", "profile", name, "start").must()
    stage.defer(lambda: stage.lab.on("nsd01", "gluster", "volume", "profile", name, "stop").must())

    with stage.healthy(f"{name} is mounted everywhere, and what one node writes it reads back at the links' rate"):
        written, read = both_ways([one], shared=False)
        _judge(stage, f"{one} alone", written, read)
        parts = round(read.bound_mb / written.bound_mb, 2)
        stage.compare("bound of reading / of writing", 1.33, parts, "", 0.02, "4 parts are written for 3 that are read")

    with stage.observe("1, 2, 4, ... I/O nodes and the front end write and read, a file each and parts of one file"):
        own = [both_ways(nodes, shared=False) for nodes in groups]
        shared = [both_ways(nodes, shared=True) for nodes in groups]
        front_end = both_ways(["FEN"], shared=False)

    with stage.judge("a file each: the bound that the connections' real members give; one file: one node's rate"):
        for nodes, (written, read) in zip(groups, own, strict=True):
            _judge(stage, f"{len(nodes)} I/O nodes, a file each", written, read)
        _judge(stage, "FEN", *front_end)
        for nodes, pair in zip(groups[1:], shared[1:], strict=True):
            for what, together, alone in zip(("write", "read"), pair, shared[0], strict=True):
                ratio = round(together.measured_mb / alone.measured_mb, 2)
                who = f"{len(nodes)} I/O nodes, one file: {what}, in rates of one node"
                stage.compare(who, 1, ratio, "", TURNS, WHY_TURNS)
        for how, outcomes in (("a file each", own), ("one file", shared)):
            _show(stage, how, [str(len(nodes)) for nodes in groups], outcomes)
        stage.show(Text(f"Calls at the bricks of {name} (gluster volume profile)", profile()))

    with stage.perturb(f"{one}'s link gets half its rate"):
        faster = link_rate(stage.lab, one, "eth0", 500)
        stage.defer(faster)
        slow_written, slow_read = both_ways([one], shared=False)

    with stage.contrast("so do its files: the link was what bounded them"):
        for what, slow, fast in (("writes", slow_written, own[0][0]), ("reads", slow_read, own[0][1])):
            ratio = slow.measured_mb / fast.measured_mb
            stage.compare(f"{one} {what}: at half the rate / at the whole", 0.5, round(ratio, 3), "", 0.1, WHY)

    with stage.restore("the link has its rate again"):
        _judge(stage, f"{one} afterwards", *both_ways([one], shared=False))


def _judge(stage: Stage, who: str, written: Outcome, read: Outcome) -> None:
    for what, outcome in (("write", written), ("read", read)):
        bound = round(outcome.bound_mb, 1)
        stage.compare(f"{who}: {what}", bound, round(outcome.measured_mb, 1), "MB/s", TOLERANCE, WHY)


def _show(stage: Stage, how: str, places: list[str], outcomes: list[tuple[Outcome, Outcome]]) -> None:
    lines: dict[str, list[float]] = {}
    for what, which in (("write", 0), ("read", 1)):
        lines[what] = [round(pair[which].measured_mb, 1) for pair in outcomes]
        lines[f"{what} (expected)"] = [round(pair[which].bound_mb, 1) for pair in outcomes]
    stage.show(Lines(f"Aggregate rate, {how}", "I/O nodes", places, "MB/s", lines))
    rows = [[place, *(str(values[i]) for values in lines.values())] for i, place in enumerate(places)]
    stage.show(Table(f"Aggregate rate in MB/s, {how}", ["I/O nodes", *lines], rows))
