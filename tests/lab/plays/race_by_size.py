"""How many I/O nodes of a block have a stale /tmp once it has booted, by the size of the block.

Claim: none of a block of four; of larger ones those whose directories the service node makes anew last, the more the
larger the block. A node's is stale where it has mounted it before. With a /tmp in their own memory none is.

Source: Redpaper, "Making the startup process more scalable": "small partitions came up, but for larger partitions the
rc-script occasionally reported a failure on a few of the IONs"; docs/race.md has the search. Its site is
tests/sites/larger.py.
"""

import re
from dataclasses import dataclass

from causeway.lab import disks
from causeway.lab.clock import Watch
from causeway.lab.pools import bluegene, boards
from causeway.model.pools.bluegene import block_nodes
from causeway.report.result import Table
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import boot_as_the_lab, boot_block, free_all, tmp_on_server

MOUNTED = " is /tmp"


@dataclass(frozen=True)
class Boot:
    """A boot of a block: which of its nodes, by their places in the server's order, are stale; and when, in seconds."""

    nodes: list[str]
    stale: list[int]
    mounted_s: list[float]
    anew_s: float
    ended_s: list[float]
    wall_s: float

    @property
    def row(self) -> list[str]:
        when = [f"{min(seconds):.2f} to {max(seconds):.2f}" for seconds in (self.mounted_s, self.ended_s)]
        said = f"{len(self.stale)}: {self.stale[0]} to {self.stale[-1]}" if self.stale else "none"
        return [str(len(self.nodes)), when[0], f"{self.anew_s:.1f}", said, when[1], f"{self.wall_s:.0f}"]


def play(stage: Stage) -> None:
    lab, sn = stage.lab, bluegene.service_node(stage.lab)
    pool = bluegene.pool_of(lab)
    boots: list[Boot] = []

    def at(node: str, words: str) -> list[float]:
        return [line.at_s for line in boards.console(lab, node) if words in line.text]

    def stale(nodes: list[str]) -> list[int]:
        return [place for place, node in enumerate(nodes) if lab.on(node, "ls", "/tmp").rc != 0]

    def boot(block: str) -> Boot:
        free_all(stage)
        disks.forget(stage.site)  # whoever boots a block has not just booted another
        watch = Watch()
        said = bluegene.allocate(lab, block).must()
        wall = watch.wall_s
        nodes = block_nodes(pool, block, lab.site.diskless())
        (anew,) = re.findall(r"([\d.]+) s: made /tmp anew", said)
        mounted = [seconds for node in nodes for seconds in at(node, MOUNTED)]
        return Boot(nodes, stale(nodes), mounted, float(anew), [s for n in nodes for s in at(n, "boot ended")], wall)

    *_, largest = pool.blocks

    with stage.healthy("with a /tmp in the nodes' memory none is stale"):
        stage.defer(lambda: boot_as_the_lab(stage), "the lab's own block is not booted")
        boot_block(stage, largest)
        nodes = block_nodes(pool, largest, lab.site.diskless())
        stage.same(f"nodes of {largest} whose /tmp is stale, with one in their memory", [], stale(nodes))

    with stage.perturb("it is on the service node, and each node has had one there once"):
        stage.make(tmp_on_server(lab, sn))
        boot_block(stage, largest)

    with stage.judge("the more the larger the block, and those that come last"):
        boots.extend(boot(block) for block in pool.blocks)
        heads = ["nodes", "/tmp mounted, s", "all made anew, s", "stale, of places", "boot ended, s", "wall, s"]
        stage.show(Table("A block's boot", heads, [one.row for one in boots]))
        first, *others = boots
        stage.same(f"stale of {len(first.nodes)}", [], first.stale)
        for one in others:
            count, number = len(one.nodes), len(one.stale)
            stage.holds(f"some of {count} are stale, not all", 0 < number < count, f"{number}")
            early = [place for place in one.stale if place < count // 3]
            stage.same(f"stale of {count}, of the first third in the server's order", [], early)
            late = set(range(count - count // 3, count))
            stage.same(f"not stale of {count}, of the last third", [], sorted(late - set(one.stale)))
        numbers = [len(one.stale) for one in boots]
        stage.same("numbers of stale nodes, by size", sorted(set(numbers)), numbers)

    with stage.contrast("with a /tmp in the nodes' memory again none is"):
        stage.undo()
        boot_block(stage, largest)
        stage.same(f"nodes of {largest} whose /tmp is stale, at last", [], stale(nodes))

    with stage.restore("the lab's own block is booted"):
        stage.same("states", {"up"}, {lab.state(node) for node in lab.booted()})
