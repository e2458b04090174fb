"""A node whose public key nobody has authorized is asked for a password that nobody can type.

Claim: without the I/O nodes' key in SN's authorized_keys, root on an I/O node cannot log in on SN, while the
other way, and FEN's way, go on as before. With the key it can, and no daemon is restarted for it.

Cause: an ssh connection has two halves. known_hosts says whom the client trusts, authorized_keys says whom
the server lets in; each is kept at its own end.

Source: Redpaper, "Setting up ssh authorization", step 6.
"""

from causeway.lab import blocks
from causeway.lab.faults import file_changed
from causeway.scenario.ssh import IN, NOT_AUTHORIZED, login
from causeway.scenario.stage import Stage

AUTHORIZED = "/root/.ssh/authorized_keys"


def play(stage: Stage) -> None:
    lab, sn = stage.lab, blocks.service_node(stage.lab)
    ion = lab.booted_io_nodes()[0]

    with stage.healthy("root goes both ways between SN and an I/O node, and from FEN to SN"):
        for client, server in ((ion, sn), (sn, ion), ("FEN", sn)):
            stage.compare(f"{client} to {server}", IN, login(stage, client, server), "", 0)

    with stage.perturb("the I/O nodes' line is missing in SN's authorized_keys"):
        lines = lab.read(sn, AUTHORIZED).splitlines(keepends=True)
        own = lab.read(ion, "/root/.ssh/id_ed25519.pub").split()[1]
        put_back = file_changed(lab, sn, AUTHORIZED, "".join(line for line in lines if own not in line))
        stage.defer(put_back)

    with stage.judge("only the I/O nodes' way to SN is closed"):
        stage.compare(f"{ion} to {sn}, key missing", NOT_AUTHORIZED, login(stage, ion, sn), "", 0)
        stage.compare(f"{sn} to {ion}, meanwhile", IN, login(stage, sn, ion), "", 0)
        stage.compare(f"FEN to {sn}, meanwhile", IN, login(stage, "FEN", sn), "", 0)

    with stage.contrast("with the line in its place the same login succeeds"):
        put_back()
        stage.compare(f"{ion} to {sn}, key there", IN, login(stage, ion, sn), "", 0)

    with stage.restore("both ways are open"):
        stage.compare(f"{ion} to {sn}, afterwards", IN, login(stage, ion, sn), "", 0)
