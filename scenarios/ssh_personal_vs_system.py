"""An I/O node takes root's known_hosts from the site's tree, and the system-wide one it does not.

Claim: with the keys in /bgl/dist/etc/ssh/ssh_known_hosts only, no I/O node knows a host, and ssh from it fails;
with the same file as /bgl/dist/root/.ssh/known_hosts it succeeds.

Cause: of the site's etc/ssh the start-up takes the host keys, and nothing else; root's folder it takes whole.

Source: Redpaper, "Making the SSH daemons' public keys known": "this does NOT get pulled in on IONs".
"""

from causeway.lab import blocks
from causeway.scenario.ssh import IN, NOT_KNOWN, login
from causeway.scenario.stage import Stage

SYSTEM = "/bgl/dist/etc/ssh/ssh_known_hosts"
PERSONAL = "/bgl/dist/root/.ssh/known_hosts"


def play(stage: Stage) -> None:
    lab, sn = stage.lab, blocks.service_node(stage.lab)
    ion = lab.booted_io_nodes()[0]

    with stage.healthy("both files are there, and an I/O node reaches SN and FEN"):
        stage.compare("the two files are the same", True, lab.read(sn, SYSTEM) == lab.read(sn, PERSONAL), "", 0)
        for host in (sn, "FEN"):
            stage.compare(f"{ion} to {host}", IN, login(stage, ion, host), "", 0)

    with stage.perturb("root's own file is moved away, and the node booted again"):
        stage.defer(lambda: blocks.restart(lab, [ion]))
        lab.on(sn, "mv", PERSONAL, f"{PERSONAL}.away").must()
        stage.defer(lambda: lab.on(sn, "mv", f"{PERSONAL}.away", PERSONAL))
        stage.compare(f"{ion} boots without a complaint", "up", blocks.restart(lab, [ion])[ion], "", 0)

    with stage.judge("the system-wide file is on SN, not on the I/O node, and it knows nobody"):
        pulled = lab.file(ion, "/etc/ssh/ssh_known_hosts").exists()
        stage.compare("the I/O node has a system-wide file", False, pulled, "", 0)
        for host in (sn, "FEN"):
            stage.compare(f"{ion} to {host}, system-wide file only", NOT_KNOWN, login(stage, ion, host), "", 0)

    with stage.contrast("the system-wide file is copied to root's place, and the node booted again"):
        lab.on(sn, "cp", "-p", SYSTEM, PERSONAL).must()
        blocks.restart(lab, [ion])
        for host in (sn, "FEN"):
            stage.compare(f"{ion} to {host}, root's own file", IN, login(stage, ion, host), "", 0)

    with stage.restore("root's own file is the one from before"):
        stage.compare(f"{ion} to {sn}, afterwards", IN, login(stage, ion, sn), "", 0)
