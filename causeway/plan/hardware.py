"""What the site's makers burnt in: the hardware address of every port."""

from hashlib import sha256

from causeway.model.site import Site
from causeway.model.thing import Port


def mac_address(site: Site, port: Port) -> str:
    """A locally administered address that depends on lab, node and device only.

    Fixed addresses make the hash policies that look at them (layer2, layer2+3) come out the same in
    every run, as they do at home, where adapters keep theirs. A bond has its first member's.
    """
    for _, end, _ in site.channel_ends():
        if (end.node, end.name) == (port.node, port.device):
            port = Port(port.node, end.members[0])
    digest = sha256(f"{site.name} {port}".encode()).digest()
    return ":".join(f"{octet:02x}" for octet in (0x02, *digest[:5]))
