"""The rules of a switch whose tables are made beforehand, as ovs-ofctl(8) reads them from a file."""

from causeway.model.site import Site
from causeway.plan.forwarding import is_static, table, tree
from causeway.plan.hardware import mac_address
from causeway.render.text import File, Files, fill


def files(site: Site, name: str) -> Files:
    """/etc/openvswitch/flows, which node-init gives to the switch; none on a node that learns or does not switch."""
    network = site.nodes[name].switch
    if network is None or not is_static(site, name):
        return {}
    rules = [
        (site.nodes[port.node].interfaces[port.device].lid, str(port), mac_address(site, port), out)
        for port, out in table(site, name).items()
    ]
    flows = fill("templates/flows.j2", name=name, rules=rules, tree=tree(site, network)[name])
    return {"etc/openvswitch/flows": File(flows)}
