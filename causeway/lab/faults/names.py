"""Names that DNS does not have."""

import re

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.changes.files import put_back, write
from causeway.lab.faults.parameters import DnsName, NameServer
from causeway.lab.lab import Lab


def name_missing(lab: Lab, server: NameServer, name: DnsName) -> Change:
    """A name server does not have a name; /etc/hosts on every node has it as before.

    Injected: the name's line is taken out of the server's zone, and named reads it again. Its address still leads to a
    name.
    Triggers: `host` and all that asks DNS alone get NXDOMAIN from that server; ping and ssh, which read /etc/hosts
    first, go on.
    Look: resolve each name in more than one way, from both clusters, and back from its address.
    """
    zone = f"/etc/bind/db.{lab.site.topology.domain}"
    text = lab.read(server, zone)
    without = re.sub(rf"^{re.escape(name)}\t.*\n", "", text, flags=re.MULTILINE)
    if without == text:
        raise BadInput(f"{server} has no name {name} in {zone}")
    there = (write(server, zone, without), _read_again(lab, server, name, "gone"))
    back = (put_back(lab, server, zone), _read_again(lab, server, name, "there"))
    return Change(f"{server} has no name {name}", there, back)


def _read_again(lab: Lab, server: str, name: str, is_: str) -> Step:
    """named reads its zones, and it is waited until the name is there, or gone."""
    return Step(server, ("reread-zone", f"{name}.{lab.site.topology.domain}.", is_))
