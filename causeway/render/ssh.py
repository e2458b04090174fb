"""Whom root may log in from, and by which keys the nodes of a cluster know each other's sshds."""

from causeway.model.site import Site
from causeway.render import pools
from causeway.render.secrets import Secrets
from causeway.render.text import File, Files


def cluster_files(site: Site, cluster: str, secrets: Secrets) -> Files:
    """What is the same on all nodes of a cluster."""
    owners = list(dict.fromkeys(Secrets.owner(site, name) for name in site.members(cluster)))
    roots = [f"{secrets.root[owner].public} {root_name(site, cluster, owner)}\n" for owner in owners]
    return {
        "etc/ssh/ssh_known_hosts": File(_known_hosts(site, owners, secrets)),
        "root/.ssh/authorized_keys": File("".join(roots), 0o600),
    }


def root_name(site: Site, cluster: str, owner: str) -> str:
    """The comment of a root's key."""
    return f"root@{cluster}-{pools.called(site, owner)}".lower()


def _known_hosts(site: Site, owners: list[str], secrets: Secrets) -> str:
    """Names, long names and addresses of a cluster's sshds; of those that share a key, as their platform has them.

    Source: Redpaper, "Making the SSH daemons' public keys known".
    """
    domain = site.topology.domain
    lines = []
    for name in owners:
        if name in site.topology.pools:
            continue
        legs = site.nodes[name].interfaces.values()
        names = [n for leg in legs for host in leg.names for n in (host, f"{host}.{domain}")]
        patterns = ",".join([*names, *(str(leg.address) for leg in legs)])
        lines.append(f"{patterns} {secrets.host[name].public} {name}\n")
    for name in owners:
        if name in site.topology.pools:
            lines += pools.known_hosts(site, name, secrets.host[name].public)
    return "".join(lines)


def identity(site: Site, name: str, secrets: Secrets) -> Files:
    """A node's own keys."""
    cluster, owner = site.nodes[name].cluster, Secrets.owner(site, name)
    host, root = secrets.host[owner], secrets.root[owner]
    assert cluster is not None
    return {
        "etc/ssh/ssh_host_ed25519_key": File(host.private, 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": File(f"{host.public} {owner}\n"),
        "root/.ssh/id_ed25519": File(root.private, 0o600),
        "root/.ssh/id_ed25519.pub": File(f"{root.public} {root_name(site, cluster, owner)}\n"),
    }
