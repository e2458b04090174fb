"""The plain containerlab file: deploy it with containerlab alone, or read it."""

from typing import Any

import yaml

from causeway.model.site import Site
from causeway.plan.hardware import mac_address
from causeway.render import pools

IMAGE = "causeway/node:latest"
#: Where node-init finds the rendered tree, and, beside the files, the ports of its node.
SITE = "/site"


def text(site: Site) -> str:
    """Nodes with what they are started from, and every cable with both ends' hardware addresses."""
    links = [
        {
            "type": "veth",
            "endpoints": [{"node": p.node, "interface": p.device, "mac": mac_address(site, p)} for p in cable.ends],
        }
        for cable in site.cables
    ]
    nodes: dict[str, dict[str, Any]] = {}
    own = pools.containers(site)
    for name, node in site.nodes.items():
        more = dict(own.get(name, {}))
        binds = [f"nodes/{name}:{SITE}:ro", *more.pop("binds", [])]
        nodes[name] = {"binds": binds, "labels": {"role": node.role}} | more
    topology = {
        "defaults": {
            "kind": "linux",
            "image": IMAGE,
            "image-pull-policy": "Never",
            "network-mode": "none",
            "cmd": "/sbin/node-init",
        },
        "nodes": nodes,
        "links": links,
    }
    return yaml.safe_dump({"name": site.name, "topology": topology}, sort_keys=False)
