"""Who gives the time to whom."""

from causeway.model.site import Site
from causeway.render.text import File, Files, fill


def files(site: Site, node: str) -> Files:
    """chrony's configuration of a node that takes the time from a server, or gives it to clusters."""
    clients = [name for name, cluster in site.topology.clusters.items() if cluster.ntp == node]
    server = site.time_server(node)
    if not clients and server is None:
        return {}
    near = {leg.network for c in clients for n in site.members(c) for leg in site.nodes[n].interfaces.values()}
    text = fill(
        "templates/chrony.conf.j2",
        server=site.known_by(server).address if server else None,
        subnets=[network.subnet for name, network in site.topology.networks.items() if name in near],
    )
    return {"etc/chrony/chrony.conf": File(text)}
