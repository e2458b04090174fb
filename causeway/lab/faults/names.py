"""Names that DNS does not have."""

import re

from causeway.errors import BadInput
from causeway.lab.faults.files import put_back, write
from causeway.lab.faults.parameters import DnsName, NameServer
from causeway.lab.faults.undo import Step, Undo, change
from causeway.lab.lab import Lab

#: $0 is the name; "0": wait until the server has it, "1": until it has it no more.
_READ_AGAIN = """pkill -HUP -x named
while host -t a "$0" 127.0.0.1 >/dev/null; [ $? -ne "$1" ]; do sleep 0.05; done"""


def name_missing(lab: Lab, server: NameServer, name: DnsName) -> Undo:
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
    there = [write(server, zone, without), _read_again(lab, server, name, 1)]
    return change(lab, there, [put_back(lab, server, zone), _read_again(lab, server, name, 0)])


def _read_again(lab: Lab, server: str, name: str, rc: int) -> Step:
    """named reads its zones, and it is waited until `host` ends as told for the name."""
    return Step(server, ("sh", "-c", _READ_AGAIN, f"{name}.{lab.site.topology.domain}.", str(rc)))
