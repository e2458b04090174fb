"""Two ways for S40fs to see that the daemon has come up: a file that the daemon touches, and mcgetstate.

Claim: both see a daemon that is active. While SN's own daemon is down nobody becomes active: the call-back is not
called, and the script that waits for its file gives up after a minute and says so, although the daemons run;
mcgetstate says that they are arbitrating, and the script that asks it goes on.

Source: Redpaper, "Making the startup process more scalable"; issue 4, 5.
"""

from causeway.lab import blocks, filesystems
from causeway.scenario.stage import Stage

CONFIG = "/bgl/dist/etc/rc.d/rc3.d/S10site_sysconfig"
FAILED = "did not come up on I/O node"


def play(stage: Stage) -> None:
    lab, sn = stage.lab, blocks.service_node(stage.lab)
    block, nodes = blocks.booted(lab), lab.booted_io_nodes()

    def boots(how: str) -> tuple[int, str]:
        """How many nodes report a failure when they boot with this check, and the states of all."""
        lab.on(sn, "sed", "-i", f"s/FS_STARTUP_CHECK=[a-z]*/FS_STARTUP_CHECK={how}/", CONFIG).must()
        blocks.reboot(lab, block)
        states = filesystems.states(lab, sn)
        seen = {states[filesystems.member(lab, node)] for node in nodes}
        return len(nodes) - len(blocks.silent(lab, nodes, FAILED)), " ".join(sorted(seen))

    def both(case: str, expected: dict[str, tuple[int, str]]) -> None:
        for how, (failures, state) in expected.items():
            failed, states = boots(how)
            stage.compare(f"{case}, {how}: reported as not up", failures, failed, "nodes", 0)
            stage.compare(f"{case}, {how}: mcgetstate -a", state, states, "", 0)

    with stage.healthy("both checks see daemons that are active"):
        both("all well", {"touchfile": (0, "active"), "mcgetstate": (0, "active")})

    with stage.perturb("SN's daemon is down"):
        stage.defer(lambda: blocks.reboot(lab, block).must())
        stage.defer(lambda: filesystems.mc(lab, sn, "mcmount", "all").must())
        stage.defer(lambda: filesystems.mc(lab, sn, "mcstartup").must())
        stage.defer(lambda: lab.on(sn, "sed", "-i", "s/CHECK=touchfile/CHECK=mcgetstate/", CONFIG).must())
        filesystems.mc(lab, sn, "mcshutdown").must()

    with stage.judge("the file never comes, though every daemon runs"):
        both("SN's daemon down", {"touchfile": (len(nodes), "arbitrating")})

    with stage.contrast("mcgetstate says what is the case"):
        both("SN's daemon down", {"mcgetstate": (0, "arbitrating")})

    with stage.restore("the block is up"):
        stage.compare("nodes up", len(nodes), len(lab.booted_io_nodes()), "nodes", 0)
