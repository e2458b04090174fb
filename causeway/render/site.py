"""Render a whole site. Pure: returns the files, writes none."""

from causeway.model.site import Site
from causeway.render import containerlab, filesystems, names, network, pools, ssh, time
from causeway.render.secrets import Secrets
from causeway.render.text import File, Files, together


def render(site: Site, secrets: Secrets) -> Files:
    """Every file of the lab by its path: LAB.clab.yml, and nodes/NODE/... as it stands on the node.

    ValueError where one path would be rendered twice.
    """
    files: Files = {f"{site.name}.clab.yml": File(containerlab.text(site))}
    shared = {cluster: ssh.cluster_files(site, cluster, secrets) for cluster in site.topology.clusters}
    hosts = names.hosts(site)
    diskless = set(site.diskless())
    for name, node in site.nodes.items():
        tree: Files = {"ports": File(network.ports(site, name))}
        if name not in diskless:  # whose files come from the boot server
            tree = together(tree, network.files(site, name), time.files(site, name), names.server_files(site, name))
            if node.cluster is not None:
                own = ssh.identity(site, name, secrets)
                tree = together(tree, hosts, shared[node.cluster], own, names.client_files(site, name))
            tree = together(tree, _tunables(site, name), filesystems.files(site, name))
        tree = together(tree, *pools.server_files(site, name, secrets, tree))
        files = together(files, {f"nodes/{name}/{path}": file for path, file in tree.items()})
    return together(files, pools.shared_files(site))


def tunables(site: Site, node: str) -> dict[str, int | str]:
    """A node's kernel tunables: the site's for nodes of clusters, its cluster's, and its own, which count most."""
    about = site.nodes[node]
    if about.cluster is None:
        return about.sysctl
    return site.topology.sysctl | site.topology.clusters[about.cluster].sysctl | about.sysctl


def _tunables(site: Site, node: str) -> Files:
    settings = tunables(site, node)
    text = "".join(f"{key} = {value}\n" for key, value in settings.items())
    return {"etc/sysctl.d/90-site.conf": File(text)} if settings else {}
