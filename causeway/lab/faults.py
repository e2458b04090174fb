"""States that a site should not be in. Each brings it about and returns its undo; none of them judges."""

from collections.abc import Callable

from causeway.lab.lab import Lab

Undo = Callable[[], object]


def route_missing(lab: Lab, node: str, to: str) -> Undo:
    """A node lacks its static route to a network (10.2.64.0/22) or a host (10.1.33.202), until the undo.

    Seen by: `ip route get`, the paths of packets, a matrix of who reaches whom.
    """
    route = lab.on(node, "ip", "route", "show", to).must().split()
    lab.on(node, "ip", "route", "del", *route).must()
    return lambda: lab.on(node, "ip", "route", "replace", *route).must()


def link_down(lab: Lab, node: str, device: str) -> Undo:
    """A cable is pulled: both of its ends lose their carrier, until the undo.

    Seen by: `ip link` (NO-CARRIER, state DOWN), /proc/net/bonding (MII Status: down), `ovs-appctl bond/show`.
    """
    lab.on(node, "ip", "link", "set", device, "down").must()
    return lambda: lab.on(node, "ip", "link", "set", device, "up").must()


def file_changed(lab: Lab, node: str, path: str, text: str) -> Undo:
    """A file on a node has another text, as an editor would leave it, or is there at all, until the undo."""
    file = lab.file(node, path)
    before = file.read_text() if file.exists() else None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file.unlink if before is None else lambda: file.write_text(before)
