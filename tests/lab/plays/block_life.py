"""A block's life: off and on again, every stage of the boot failing, and its service node restarted.

Claim: nodes wait at each stage that fails, say so on their consoles, and go on by themselves once it is mended;
a start script that fails or hangs is named by the allocation; the nodes survive a restart of SN's services.

Source: issue 3, "Power and firmware", "Bad input".
"""

from collections.abc import Callable

from causeway.lab.changes.files import file_changed
from causeway.lab.pools import bluegene, boards
from causeway.scenario.stage import Stage
from causeway.wait import until

TFTP = "/bgl/BlueLight/ppcfloor/tftp"
IMAGE = f"{TFTP}/ionode.img"
RC = "/bgl/dist/etc/rc.d/rc3.d"
#: All that a boot takes is broken on SN; and stage by stage, what the console says of it, and what mends that one.
BROKEN = f"pkill -x dnsmasq; sleep 1; mv {IMAGE} {TFTP}/away; rpc.nfsd 0"
SPOIL = f"cp -p {TFTP}/away {IMAGE}; dd if=/dev/zero of={IMAGE} bs=1k seek=300 count=8 conv=notrunc"
STAGES = {
    "DHCP server down": ("no DHCP answer; trying again", "dnsmasq"),
    "boot image missing": ("TFTP: ", SPOIL),
    "boot image corrupt": ("the boot image is corrupt", f"mv {TFTP}/away {IMAGE}"),
    "NFS server down": ("NFS server 10.2.64.220, /bgl: ", "rpc.nfsd -N 3"),
}


def play(stage: Stage) -> None:
    lab, sn = stage.lab, bluegene.service_node(stage.lab)
    block, nodes = bluegene.pool_of(lab).booted, lab.booted()

    def do(command: str) -> str:
        return lab.on(sn, "sh", "-c", command, timeout_s=500).must()

    def states() -> set[str]:
        return {lab.state(node) for node in nodes}

    def silent(words: str) -> str:
        return " ".join(boards.silent(lab, nodes, words))

    def up_again(node: str, order: Callable[[], object]) -> None:
        boards.console_log(lab, node).unlink()
        order()
        ended = "boot ended: up"

        def last_lines() -> str:
            lines = [line.text for line in boards.console(lab, node)]
            return "" if ended in lines else f"{lines[-1:]}"

        until(f"{node} says {ended!r}", last_lines, deadline_s=60)

    with stage.healthy("the block is up"):
        stage.compare("states", "up", " ".join(states()), "", 0)

    with stage.perturb("the block is freed"):
        bluegene.deallocate(lab, block)

    with stage.judge("freed, its nodes are off and without addresses; allocated, they are up again"):
        stage.compare("states, freed", "off", " ".join(states()), "", 0)
        stage.compare("ping, freed", 1, lab.on("FEN", "ping", "-c1", "-W1", nodes[0]).rc, "exit code", 0)
        stage.compare("allocation", 0, bluegene.allocate(lab, block).rc, "exit code", 0)
        stage.compare("states, allocated again", "up", " ".join(states()), "", 0)

    with stage.judge("reset and poweroff do what they do on a machine"):
        up_again(nodes[0], lambda: lab.on(nodes[0], "reboot"))
        up_again(nodes[0], lambda: do(f"bglpower reset {nodes[0]}"))
        lab.on(nodes[0], "poweroff")
        until("the node is off", lambda: "" if lab.state(nodes[0]) == "off" else lab.state(nodes[0]), deadline_s=30)
        up_again(nodes[0], lambda: do(f"bglpower on {nodes[0]}"))
        stage.compare("state after all of it", "up", lab.state(nodes[0]), "", 0)

    with stage.perturb("freed again; all that a boot takes is broken, and the block is allocated"):
        bluegene.deallocate(lab, block)
        do(BROKEN)
        allocation = lab.start_on(sn, "bglallocate", block, "root")

    for what, (said, mend_it) in STAGES.items():
        with stage.judge(f"{what}: every console says so, and waits; once it is mended they go on"):
            until(f"consoles say {said!r}", lambda words=said: silent(words), deadline_s=60)
            stage.same(f"{what}: nodes that are up", 0, [lab.state(node) for node in nodes].count("up"))
            do(mend_it)

    with stage.judge("nothing is broken any more, and all come up by themselves"):
        stage.compare("allocation, all mended", 0, allocation.result(400).rc, "exit code", 0)

    with stage.contrast("a script that fails and one that hangs are named, and the nodes are up all the same"):
        stage.make(file_changed(lab, sn, f"{RC}/S20broken", "echo it is broken\nexit 3\n"))
        stage.make(file_changed(lab, sn, f"{RC}/S21hanging", "sleep 2000\n"))
        allocated = bluegene.reboot(lab, block)
        stage.compare("allocation with bad scripts", 1, allocated.rc, "exit code", 0)
        blamed = allocated.stdout.count("is up, but failed: S20broken S21hanging")
        stage.compare("nodes whose scripts are named", len(nodes), blamed, "nodes", 0)
        hung = "S21hanging hung, and was killed after 660 s; log /var/log/S21hanging.log"
        stage.compare("consoles name the log", "", silent(hung), "", 0)

    with stage.contrast("full disks under /bgl/gpfsvar keep the filesystem's part from starting, and nothing else"):
        stage.undo()
        bluegene.deallocate(lab, block)
        do("rm -rf /bgl/gpfsvar/*/var; for own in /bgl/gpfsvar/*; do dd if=/dev/zero of=$own/fill bs=4k || true; done")
        allocated = bluegene.allocate(lab, block)
        do("rm /bgl/gpfsvar/*/fill")
        stage.compare("allocation, disk full", 1, allocated.rc, "exit code", 0)
        stage.compare("nodes that say so", len(nodes), allocated.stdout.count("but failed: S40fs"), "nodes", 0)
        stage.compare("ssh to one of them", 0, lab.on(sn, "ssh", "-o", "BatchMode=yes", nodes[0], "true").rc, "", 0)

    with stage.contrast("SN's services are restarted while nodes are up, and the nodes find them again"):
        bluegene.reboot(lab, block).must()
        do("/etc/init.d/bgl-boot restart")
        ends = [lab.start_on(node, "sh", "-c", "echo I was here >>/var/adm/ras/restart.log") for node in nodes]
        wrote = sum(end.result(300).rc == 0 for end in ends)
        stage.compare("nodes that write to SN after its restart", len(nodes), wrote, "nodes", 0)
        kept = int(do("cat /bgl/gpfsvar/*/var/adm/ras/restart.log | wc -l"))
        stage.compare("lines that arrived", len(nodes), kept, "lines", 0)

    with stage.restore("everything is as it was"):
        stage.compare("allocation, at last", 0, bluegene.reboot(lab, block).rc, "exit code", 0)
        stage.compare("states, at last", "up", " ".join(states()), "", 0)
