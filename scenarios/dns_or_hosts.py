"""A name that is in /etc/hosts only is no name for a command that asks DNS.

Claim: an I/O node that everybody can ping by name cannot be added to the cluster while its name is missing in
DNS, for `host -t a NAME` does not read /etc/hosts. With the name in the zone the same command succeeds.

Cause: gethostbyname() goes by nsswitch.conf, files first; host(1) always asks a name server.

Source: Redpaper, "Adding a single ION", the note on mmaddnode and NXDOMAIN.
"""

from causeway.lab import blocks, filesystems
from causeway.lab.faults import name_missing
from causeway.process import Result
from causeway.scenario.membership import ADDED, NO_NAME, add, state, take_out
from causeway.scenario.stage import Stage


def play(stage: Stage) -> None:
    filesystems.need(stage.lab)
    lab, service_node = stage.lab, blocks.service_node(stage.lab)
    node = lab.booted_io_nodes()[0]

    def host() -> Result:
        return lab.on(service_node, "host", "-t", "a", node)

    with stage.healthy(f"{node} is in DNS and in /etc/hosts, and can be deleted and added"):
        stage.compare(f"host -t a {node}", 0, host().rc, "exit code", 0)
        take_out(stage, node)
        stage.compare(f"mcaddnode {node}", ADDED, add(stage, node), "", 0)
        lab.on(service_node, "mcdelnode", node).must()

    with stage.perturb(f"{node} is taken out of the zone; /etc/hosts stays as it is"):
        put_back = name_missing(lab, service_node, node)
        stage.defer(put_back)

    with stage.judge("everybody still finds the node, and only `host` does not"):
        stage.compare(f"getent hosts {node}", 0, lab.on(service_node, "getent", "hosts", node).rc, "exit code", 0)
        stage.compare(f"ping {node}", 0, lab.on(service_node, "ping", "-c", "1", node).rc, "exit code", 0)
        stage.compare(f"host -t a {node} says NXDOMAIN", True, "NXDOMAIN" in host().stdout, "", 0)
        stage.compare(f"mcaddnode {node}, name in /etc/hosts only", NO_NAME, add(stage, node), "", 0)

    with stage.contrast("with the name in DNS again, the same command adds the node"):
        put_back()
        stage.compare(f"mcaddnode {node}, name in DNS", ADDED, add(stage, node), "", 0)

    with stage.restore("the zone is as it was, and the node a member"):
        stage.compare(f"host -t a {node}, afterwards", 0, host().rc, "exit code", 0)
        stage.compare(f"mcgetstate -w {node}", "active", state(stage, node), "", 0)
