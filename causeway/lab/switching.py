"""Where Open vSwitch sends frames, as its datapath counts them."""

import re
from collections import Counter

from causeway.lab.lab import Lab


def forwarded(lab: Lab, switch: str) -> Counter[tuple[str, str]]:
    """Bytes that a switch's present flows carried, by (port in, port out)."""
    text = lab.on(switch, "ovs-appctl", "dpctl/dump-flows", "--names").must()
    return parse_flows(text)


def parse_flows(text: str) -> Counter[tuple[str, str]]:
    """Read `ovs-appctl dpctl/dump-flows --names`.

    What leaves through an OVS bond passes the datapath twice: the first pass ends in a hash, the second
    names the member. Both match the port that the frame came in by. Floods are left out.
    """
    carried: Counter[tuple[str, str]] = Counter()
    for line in text.splitlines():
        found = re.search(r"in_port\(([^)]+)\).*bytes:(\d+).*actions:([^,()\s]+)$", line)
        if found:
            carried[found[1], found[3]] += int(found[2])
    return carried
