"""The parallel filesystems, set up as their administrators would: by the mc commands, on the nodes they type them on.

Source: Redpaper, "Creating a single-node Blue Gene GPFS cluster on the service node" to "Adding the IONs".
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from causeway.errors import BadInput, Unsupported
from causeway.lab.lab import Lab
from causeway.process import Result

#: What an administrator copies by hand from one centre to the other.
PUBLIC_KEY = "/var/mc/ssl/id_rsa.pub"
#: A command that works on all nodes of a cluster, restarts daemons, or waits for a server that is silent.
_PATIENCE_S = 600


def cluster_name(lab: Lab, cluster: str) -> str:
    """What a cluster is called by its administrators, and its key by its certificate: JUBL.site.example."""
    return f"{cluster}.{lab.site.topology.domain}"


def member(lab: Lab, node: str) -> str:
    """What a node is called in its cluster: SN is SN-b, nsd01 is nsd01f."""
    return lab.site.known_by(node).names[0]


def place(lab: Lab, cluster: str) -> str:
    """The node that a cluster's administrator works on. A site's rules give one to each that owns or mounts."""
    node = lab.site.administrator(cluster)
    if node is None:
        raise Unsupported(f"{cluster} has no administrator, and this takes one")
    return node


def need(lab: Lab) -> None:
    """For what takes a filesystem: Unsupported where the site has none."""
    if not lab.site.topology.filesystems:
        raise Unsupported(f"{lab.site.name} has no filesystems, and this takes one")


def mc(lab: Lab, node: str, *argv: str) -> Result:
    """One of the administrator's commands, on a node."""
    return lab.on(node, *argv, timeout_s=_PATIENCE_S)


def rows(lab: Lab, node: str, *argv: str) -> list[dict[str, Any]]:
    """What a command that lists something says, as JSON."""
    listed: list[dict[str, Any]] = json.loads(mc(lab, node, *argv, "--json").must())
    return listed


def states(lab: Lab, node: str) -> dict[str, str]:
    """What `mcgetstate -a` says on a node: name of member -> active, arbitrating, down or unknown."""
    return {row["node_name"]: row["state"] for row in rows(lab, node, "mcgetstate", "-a")}


def serve(lab: Lab, progress: Callable[[str], None]) -> None:
    """Make the clusters and the filesystems, and have those clusters that mount others' know and be granted them.

    Each cluster begins with its quorum nodes; `join` adds the others.
    """
    site = lab.site
    owners = site.owners()
    for cluster in dict.fromkeys([*owners, *site.clients()]):
        progress(f"cluster {cluster_name(lab, cluster)}")
        _create(lab, cluster)
    for name, filesystem in site.topology.filesystems.items():
        progress(f"filesystem {name}")
        servers = ",".join(member(lab, node) for node in site.servers(name))
        kind = ["--layout", filesystem.layout, "--parity", str(filesystem.parity)]
        where = ["-T", filesystem.mount_point, "-s", servers]
        mc(lab, place(lab, filesystem.owner), "mccrfs", name, *where, *kind).must()
    for owner in owners:
        for client in site.clients(owner):
            progress(f"{client} may mount what {owner} owns")
            _exchange_keys(lab, owner, client)


def _create(lab: Lab, cluster: str) -> None:
    server = place(lab, cluster)
    quorum = lab.site.quorum(cluster)
    lines = [f"{member(lab, n)}:manager-quorum\n" for n in lab.site.members(cluster) if n in quorum]
    put(lab, server, "/tmp/nodefile", "".join(lines))
    about = ["-p", member(lab, server), "-C", cluster_name(lab, cluster), "--driver", driver_name(lab, cluster)]
    mc(lab, server, "mccrcluster", "-n", "/tmp/nodefile", *about).must()
    mc(lab, server, "mcauth", "genkey", "new").must()
    mc(lab, server, "mcchconfig", "cipherList=AUTHONLY").must()
    if seconds := lab.site.topology.clusters[cluster].failure_detection_s:
        mc(lab, server, "mcchconfig", f"failureDetectionTime={seconds}").must()
    mc(lab, server, "mcstartup", "-a").must()


def driver_name(lab: Lab, cluster: str) -> str:
    """The driver of all that a cluster owns and mounts; BadInput where it is not one."""
    owned = {name: f for name, f in lab.site.topology.filesystems.items() if f.owner == cluster}
    names = {f.driver for f in (owned | lab.site.mounts(cluster)).values()}
    if len(names) > 1:
        raise BadInput(f"{cluster} owns or mounts filesystems of {', '.join(sorted(names))}; a cluster has one driver")
    return names.pop()


def _exchange_keys(lab: Lab, owner: str, client: str) -> None:
    theirs, ours = place(lab, owner), place(lab, client)
    carry(lab, ours, PUBLIC_KEY, theirs, f"/tmp/{client}.pub")
    carry(lab, theirs, PUBLIC_KEY, ours, f"/tmp/{owner}.pub")
    mc(lab, theirs, "mcauth", "add", cluster_name(lab, client), "-k", f"/tmp/{client}.pub").must()
    wanted = {name: f for name, f in lab.site.mounts(client).items() if f.owner == owner}
    contacts = ",".join(member(lab, n) for n in dict.fromkeys(n for name in wanted for n in lab.site.servers(name)))
    mc(lab, ours, "mcremotecluster", "add", cluster_name(lab, owner), "-k", f"/tmp/{owner}.pub", "-n", contacts).must()
    for name, filesystem in wanted.items():
        mc(lab, theirs, "mcauth", "grant", cluster_name(lab, client), "-f", name, "-a", "rw", "-r", "no").must()
        where = ["-f", name, "-C", cluster_name(lab, owner), "-T", filesystem.mount_point, "-A", "no"]
        mc(lab, ours, "mcremotefs", "add", name, *where).must()


def join(lab: Lab, progress: Callable[[str], None]) -> None:
    """Add the other nodes that are up to their clusters, start their daemons and mount what each cluster mounts."""
    for cluster in dict.fromkeys([*lab.site.owners(), *lab.site.clients()]):
        first = lab.site.quorum(cluster)
        up = [n for n in lab.site.members(cluster) if n not in first and lab.state(n).startswith("up")]
        progress(f"{len(up)} nodes join {cluster_name(lab, cluster)}")
        if up:
            _add(lab, cluster, [member(lab, node) for node in up])
        if lab.site.mounts(cluster):
            progress(f"mounting on {len(first) + len(up)} nodes of {cluster_name(lab, cluster)}")
            mount_everywhere(lab, cluster)


def _add(lab: Lab, cluster: str, names: Sequence[str]) -> None:
    server = place(lab, cluster)
    put(lab, server, "/tmp/nodefile", "".join(f"{name}:client-nonquorum\n" for name in names))
    mc(lab, server, "mcaddnode", "-n", "/tmp/nodefile").must()
    mc(lab, server, "mcstartup", "-w", ",".join(names)).must()


def mount_everywhere(lab: Lab, cluster: str) -> None:
    """Have all that a cluster mounts mounted on all its nodes, as the lab came up."""
    mounts = lab.site.mounts(cluster)
    owned = [name for name, f in lab.site.topology.filesystems.items() if f.owner == cluster]
    for name in ["all"] if mounts.keys() >= set(owned) else mounts:
        mc(lab, place(lab, cluster), "mcmount", name, "-a").must()


def put(lab: Lab, node: str, path: str, text: str) -> None:
    """Write a file on a node."""
    lab.file(node, path).write_text(text)


def carry(lab: Lab, source: str, path: str, target: str, to: str) -> None:
    """Copy a file from one centre's node to another's, as an administrator with a login at both does."""
    put(lab, target, to, lab.read(source, path))
