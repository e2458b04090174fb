"""The parallel filesystems, set up as their administrators would: by the mc commands, on the nodes they type them on.

Source: Redpaper, "Creating a single-node Blue Gene GPFS cluster on the service node" to "Adding the IONs".
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from causeway.errors import Unsupported
from causeway.lab.lab import Lab
from causeway.process import Result

#: What an administrator copies by hand from one centre to the other.
PUBLIC_KEY = "/var/mc/ssl/id_rsa.pub"
#: A command that works on all nodes of a cluster, restarts bricks, or waits for a server that is silent.
_PATIENCE_S = 600


def cluster_name(lab: Lab, cluster: str) -> str:
    """What a cluster is called by its administrators, and its key by its certificate: JUBL.site.example."""
    return f"{cluster}.{lab.site.topology.domain}"


def member(lab: Lab, node: str) -> str:
    """What a node is called in its cluster: SN is SN-b, nsd01 is nsd01f."""
    return lab.site.first_leg(node).names[0]


def configuration_server(lab: Lab, cluster: str) -> str:
    """Where a cluster's administrator works: the service node of a client cluster, the first server of an owner."""
    roles = ("service", "server")  # a topology with filesystems has one of them in every cluster
    able = [node for node in lab.site.members(cluster) if lab.site.nodes[node].role in roles]
    return min(able, key=lambda node: roles.index(lab.site.nodes[node].role))


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


def clients(lab: Lab) -> list[str]:
    """The clusters that mount what others own."""
    return [name for name, cluster in lab.site.topology.clusters.items() if cluster.kind == "client"]


def serve(lab: Lab, progress: Callable[[str], None]) -> None:
    """Make the owners' clusters and filesystems, and have the client clusters know and be granted them.

    Each client cluster begins with its configuration server alone; `join` adds the others.
    """
    owners = dict.fromkeys(f.owner for f in lab.site.topology.filesystems.values())
    for cluster in [*owners, *clients(lab)]:
        progress(f"cluster {cluster_name(lab, cluster)}")
        _create(lab, cluster, lab.site.members(cluster) if cluster in owners else [configuration_server(lab, cluster)])
    for name, filesystem in lab.site.topology.filesystems.items():
        progress(f"filesystem {name}")
        servers = ",".join(member(lab, node) for node in filesystem.servers)
        mc(lab, filesystem.servers[0], "mccrfs", name, "-T", filesystem.mount_point, "-s", servers).must()
    for owner in owners:
        for client in clients(lab):
            progress(f"{client} may mount what {owner} owns")
            _exchange_keys(lab, owner, client)


def _create(lab: Lab, cluster: str, nodes: Sequence[str]) -> None:
    server = configuration_server(lab, cluster)
    quorum = {node for node in nodes if lab.site.nodes[node].role in ("service", "server")}
    lines = [f"{member(lab, n)}:{'manager-quorum' if n in quorum else 'client-nonquorum'}\n" for n in nodes]
    put(lab, server, "/tmp/nodefile", "".join(lines))
    name = cluster_name(lab, cluster)
    mc(lab, server, "mccrcluster", "-n", "/tmp/nodefile", "-p", member(lab, server), "-C", name).must()
    mc(lab, server, "mcauth", "genkey", "new").must()
    mc(lab, server, "mcchconfig", "cipherList=AUTHONLY").must()
    mc(lab, server, "mcstartup", "-a").must()


def _exchange_keys(lab: Lab, owner: str, client: str) -> None:
    theirs, ours = configuration_server(lab, owner), configuration_server(lab, client)
    carry(lab, ours, PUBLIC_KEY, theirs, f"/tmp/{client}.pub")
    carry(lab, theirs, PUBLIC_KEY, ours, f"/tmp/{owner}.pub")
    mc(lab, theirs, "mcauth", "add", cluster_name(lab, client), "-k", f"/tmp/{client}.pub").must()
    owned = {name: f for name, f in lab.site.topology.filesystems.items() if f.owner == owner}
    contacts = ",".join(member(lab, n) for n in dict.fromkeys(n for f in owned.values() for n in f.servers))
    mc(lab, ours, "mcremotecluster", "add", cluster_name(lab, owner), "-k", f"/tmp/{owner}.pub", "-n", contacts).must()
    for name, filesystem in owned.items():
        mc(lab, theirs, "mcauth", "grant", cluster_name(lab, client), "-f", name, "-a", "rw", "-r", "no").must()
        place = ["-f", name, "-C", cluster_name(lab, owner), "-T", filesystem.mount_point, "-A", "no"]
        mc(lab, ours, "mcremotefs", "add", name, *place).must()


def join(lab: Lab, progress: Callable[[str], None]) -> None:
    """Add the other nodes that are up to the client clusters, start their daemons and mount everything."""
    for cluster in clients(lab):
        server = configuration_server(lab, cluster)
        up = [node for node in lab.site.members(cluster) if node != server and lab.state(node).startswith("up")]
        progress(f"{len(up)} nodes join {cluster_name(lab, cluster)}")
        if up:
            names = [member(lab, node) for node in up]
            put(lab, server, "/tmp/nodefile", "".join(f"{name}:client-nonquorum\n" for name in names))
            mc(lab, server, "mcaddnode", "-n", "/tmp/nodefile").must()
            mc(lab, server, "mcstartup", "-w", ",".join(names)).must()
        progress(f"mounting on {len(up) + 1} nodes of {cluster_name(lab, cluster)}")
        mc(lab, server, "mcmount", "all", "-a").must()


def put(lab: Lab, node: str, path: str, text: str) -> None:
    """Write a file on a node."""
    lab.file(node, path).write_text(text)


def carry(lab: Lab, source: str, path: str, target: str, to: str) -> None:
    """Copy a file from one centre's node to another's, as an administrator with a login at both does."""
    put(lab, target, to, lab.read(source, path))


def mounted_on(lab: Lab, mount_point: str) -> list[str]:
    """The nodes on which a filesystem is mounted there. It asks no filesystem, and so waits for none."""
    found = []
    for node in lab.site.nodes:
        if not lab.state(node).startswith("up"):
            continue
        mounts = Path(lab.file(node, "").parent, "mounts")
        fields = (line.split() for line in mounts.read_text().splitlines())
        if any(f[1] == mount_point and f[2] == "fuse.glusterfs" for f in fields):
            found.append(node)
    return found
