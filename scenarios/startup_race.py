"""A start script that waits for a file on another's disk calls nodes failed that run; the more boot, the more of them.

Claim: the nodes' /tmp is a directory each on the node that they boot from, made anew when their block is allocated,
while they boot. In small blocks all of it is made before the first node mounts it. In a large one some nodes have
mounted what is then removed: for them it is stale, the daemon cannot touch the file there, and after 300 looks, 2 s
apart, the script says "did not come up", although the daemon is active. With /tmp in the nodes' own memory none is
reported, and none where the daemon is asked.

Cause: an order of events that nothing keeps. The server's disk takes its time for each directory, one after the other;
the nodes take the same few tenths of a second each, side by side.

Source: Redpaper, "Making the startup process more scalable": "small partitions came up, but for larger partitions the
rc-script occasionally reported a failure on a few of the IONs"; "we had replaced /tmp/ with an NFS-mounted, per ION
directory and saw NFS stale filehandle errors"; 300 and 10 looks, 2 s apart.
"""

from collections.abc import Iterable

from causeway.lab.changes.files import replaced
from causeway.report.result import Lines
from causeway.scenario.cast import Ask, Blocks
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import (
    WRITES_TRIGGER,
    boot_as_the_lab,
    boot_block,
    failed_calls,
    stale_answers,
    start_script,
    tmp_on_server,
)
from causeway.scenario.words.diskless import addresses, saying
from causeway.scenario.words.membership import states

SCRIPT = start_script(10, WRITES_TRIGGER)
FAILED, STALE = "did not come up on I/O node", "Stale file handle"
#: Who mounts while it is made anew is told so once, and looks again; a node whose /tmp is gone is told at each look.
OFTEN = 100


def cast(ask: Ask) -> Blocks:
    return ask.blocks(3, platform="bluegene", disk=True)


def play(stage: Stage, cast: Blocks) -> None:
    lab, server, blocks = stage.lab, cast.server, cast.nodes
    *small, large = blocks
    lines: dict[str, list[float]] = {}

    def reported(block: str) -> list[str]:
        """The nodes that a boot of a block reports as failed."""
        boot_block(stage, block)
        return saying(stage, blocks[block], FAILED)

    def judge(how: str, those: Iterable[str]) -> None:
        """All blocks are booted in a way, and of these none has a node that is reported."""
        found = {block: reported(block) for block in blocks}
        lines[how] = [float(len(nodes)) for nodes in found.values()]
        for block in those:
            stage.same(f"{how}: nodes of {block} reported as failed", [], found[block])

    with stage.arrange("the start script waits for the file, and each node has had a /tmp on its server once"):
        stage.defer(lambda: boot_as_the_lab(stage), "the lab's own block is not booted")
        by_file = stage.make(replaced(lab, server, SCRIPT, "CHECK=mcgetstate", "CHECK=touchfile"))
        remote = stage.make(tmp_on_server(lab, server))
        boot_block(stage, large)

    with stage.healthy("small blocks come up"):
        for block in small:
            stage.same(f"/tmp on {server}: nodes of {block} reported as failed", [], reported(block))

    with stage.perturb("a large one boots"), stale_answers(stage, server, blocks[large][0]) as answers:
        failed = reported(large)

    with stage.judge("some of its nodes are reported, those whose /tmp is stale, and their daemons are active"):
        lines["/tmp on the server, a file"] = [*(0.0 for _ in small), float(len(failed))]
        some = 0 < len(failed) < len(blocks[large])
        stage.holds(f"/tmp on {server}: some of {large} are reported as failed, not all", some, sorted(failed))
        stage.same("consoles that say it is stale", failed, saying(stage, blocks[large], STALE))
        stage.same("states of their daemons", {"active"}, set(states(stage, failed).values()))
        stage.same("those whose calls for /tmp fail", failed, [n for n in failed if failed_calls(stage, n)])
        often = {address for address, times in answers.items() if times > OFTEN}
        stage.same("to whom the server answers again and again that it is", set(addresses(stage, failed)), often)

    with stage.contrast("with a /tmp in the nodes' memory the file comes; and who asks the daemon needs none"):
        remote.undo()
        judge("/tmp in memory, a file", blocks)
        by_file.undo()
        stage.make(tmp_on_server(lab, server))
        judge("/tmp on the server, mcgetstate", blocks)
        stage.show(
            Lines("Nodes reported as failed", "nodes that boot", [str(len(n)) for n in blocks.values()], "nodes", lines)
        )

    with stage.restore("the lab's own block is booted, and nobody is reported"):
        stage.same("nodes reported as failed, afterwards", [], saying(stage, blocks[large], FAILED))
