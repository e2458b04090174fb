"""The Redpaper's blocks, by its own commands, on a site that has their I/O nodes (tests/sites/blocks.py).

Claim: `bglallocate` boots as many I/O nodes as the paper says, root on SN reaches each by address, short and long name
without a prompt, `bgldeallocate` frees them; a block that shares a node with one that is allocated is refused; nodes
that are added to the cluster, one by one or by a file, mount its filesystems when their block boots.

Source: Redpaper, "Testing the SSH connectivity", "Deleting a single ION", "Adding all IONs to the GPFS cluster", and
Figure 6 (the midplane block R001).
"""

from collections.abc import Sequence

from causeway.lab import filesystems
from causeway.lab.clock import Watch
from causeway.lab.filesystems.administrators import mc, member, put
from causeway.lab.pools import bluegene
from causeway.model.pools.bluegene import block_nodes
from causeway.report.result import Table
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import boot_as_the_lab, free_all
from causeway.scenario.words.diskless import how_booted
from causeway.scenario.words.membership import listed

#: The I/O nodes of the blocks that the paper types, the largest last.
PUBLISHED = {"R000_N0123": 4, "R001_NF": 1, "R001": 16}
USER = "someuser"


def play(stage: Stage) -> None:
    lab, sn = stage.lab, bluegene.service_node(stage.lab)
    pool = bluegene.pool_of(lab)
    nodes = {block: block_nodes(pool, block, lab.site.diskless()) for block in PUBLISHED}
    blocks = [block for block, of_it in nodes.items() if of_it]
    largest = blocks[-1]

    def ssh(name: str) -> str:
        done = lab.on(sn, "ssh", "-o", "BatchMode=yes", name, "uptime", timeout_s=60)
        return "" if done.rc == 0 and "load average" in done.stdout else f"{name}: {done.rc} {done.stdout}{done.stderr}"

    def unreached(node: str) -> list[str]:
        """By which of a node's names root on SN does not get in."""
        short = node.lower()
        names = (str(lab.site.known_by(node).address), short, f"{short}.{lab.site.topology.domain}")
        return [wrong for wrong in map(ssh, names) if wrong]

    def lose(new: Sequence[str]) -> None:
        """Delete members, whose daemons may be up."""
        members = [member(lab, node) for node in new]
        mc(lab, sn, "mcshutdown", "-w", ",".join(members))
        mc(lab, sn, "mcdelnode", *members).must()

    def add(new: Sequence[str]) -> None:
        """Add half of the nodes one by one, the others by a file, and show what either took."""
        singly, together = new[: len(new) // 2], new[len(new) // 2 :]
        put(lab, sn, "/tmp/nodefile", "".join(f"{member(lab, node)}:client-nonquorum\n" for node in together))
        took, watch = [], Watch()
        for node in singly:
            mc(lab, sn, "mcaddnode", f"{member(lab, node)}:client-nonquorum").must()
        took.append(["one by one", str(len(singly)), f"{watch.virtual_s:.1f}"])
        watch = Watch()
        mc(lab, sn, "mcaddnode", "-n", "/tmp/nodefile").must()
        took.append(["by a file", str(len(together)), f"{watch.virtual_s:.1f}"])
        stage.show(Table("Nodes added to a cluster", ["how", "nodes", "seconds"], took))

    with stage.healthy("each block has as many I/O nodes as the paper's"):
        for block in blocks:
            stage.same(f"I/O nodes of {block}", PUBLISHED[block], len(nodes[block]))

    with stage.perturb("the lab's own block is freed"):
        stage.defer(lambda: boot_as_the_lab(stage), "the lab's own block is not booted")
        free_all(stage)

    with stage.judge("each is allocated, ssh leads to each of its nodes, and it is freed"):
        for block in blocks:
            done = lab.on(sn, "bglallocate", block, USER, timeout_s=1000)
            stage.same(f"bglallocate {block} {USER}", 0, done.rc, done.stdout[-200:])
            stage.same(f"how nodes of {block} booted", ["up"] * PUBLISHED[block], how_booted(stage, nodes[block]))
            stage.same(
                f"names of {block}'s nodes by which ssh fails", [], [n for o in nodes[block] for n in unreached(o)]
            )
            said = next(line for line in lab.on(sn, "bglblocks").must().splitlines() if line.split()[0] == block)
            count = str(PUBLISHED[block])
            stage.same(f"{block} in bglblocks", [count, count, USER], [said.split()[place] for place in (2, 3, 4)])
            for other in blocks:
                if other != block and set(nodes[other]) & set(nodes[block]):
                    done = lab.on(sn, "bglallocate", other, USER)
                    stage.same(f"bglallocate {other} while {block} is allocated", 2, done.rc, done.stderr)
            bluegene.deallocate(lab, block)
            stage.same(f"states in {block}, freed", {"off"}, {lab.state(node) for node in nodes[block]})

    with stage.contrast("its nodes are added to the cluster one by one, and by a file, and mount when the block boots"):
        bluegene.allocate(lab, largest).must()
        if new := [node for node in nodes[largest] if not listed(stage, node)]:
            stage.defer(lambda: lose(new))
            add(new)
            stage.same("nodes that are no members", [], [node for node in new if not listed(stage, node)])
        done = bluegene.reboot(lab, largest)
        stage.same(f"allocation of {largest}, its nodes in the cluster", 0, done.rc, done.stdout[-300:])
        for name, where in filesystems.mounted(lab).items():
            stage.same(f"nodes of {largest} without {name}", [], [n for n in nodes[largest] if n not in where])

    with stage.restore("the new nodes are in no cluster, and the lab's own block is booted"):
        stage.same("states", {"up"}, {lab.state(node) for node in lab.booted()})
