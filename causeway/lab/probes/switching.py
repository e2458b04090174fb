"""Where Open vSwitch sends frames, as its datapath counts them."""

import codecs
import json
import re
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.process import transcript


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


def table(lab: Lab, switch: str) -> dict[str, str]:
    """What a switch that does not learn has in its table: the port by which it sends to each hardware address."""
    bridge = f"br-{lab.site.nodes[switch].switch}"
    return parse_table(lab.on(switch, "ovs-ofctl", "--names", "--no-stats", "dump-flows", bridge).must())


def parse_table(text: str) -> dict[str, str]:
    """Read `ovs-ofctl --names --no-stats dump-flows`; the rule for groups is left out, and what drops the rest."""
    rules = re.findall(r'dl_dst=([0-9a-f:]{17}) actions=output:"?([^",\s]+)"?$', text, re.MULTILINE)
    return dict(rules)


#: Hash buckets of an OVS bond (ofproto/bond.c, BOND_MASK + 1).
_BUCKETS = 256


def deal_buckets(lab: Lab) -> None:
    """Give bucket i of every balance-slb channel end to member i mod n, as hardware has it wired.

    Open vSwitch deals them out at random when it starts, and unevenly when members come up one after the
    other; two runs with one seed would differ. By hand: `ovs-appctl bond/migrate CHANNEL BUCKET MEMBER`.
    Its control socket is used here, for there are 256 calls a channel. (balance-tcp does not take it.)
    """
    for switch in lab.site.switches():
        ends = [end for _, end, _ in lab.site.channel_ends() if end.node == switch]
        calls = [
            ("bond/migrate", end.name, str(bucket), end.members[bucket % len(end.members)])
            for end in ends
            if end.hash_policy == "balance-slb"
            for bucket in range(_BUCKETS)
        ]
        if calls:
            _unixctl(lab, switch, calls)
            transcript.note(f"# {switch}: ovs-appctl bond/migrate CHANNEL BUCKET MEMBER, {len(calls)} times")


def _unixctl(lab: Lab, switch: str, calls: Sequence[tuple[str, ...]]) -> None:
    """Make calls to ovs-vswitchd's control socket (JSON-RPC, ovs-appctl(8)), all on one connection."""
    pid = lab.read(switch, "/run/openvswitch/ovs-vswitchd.pid").strip()
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(60)
        control.connect(str(lab.file(switch, f"/run/openvswitch/ovs-vswitchd.{pid}.ctl")))
        answers = json_objects(control)
        for number, (method, *params) in enumerate(calls):
            control.sendall(json.dumps({"method": method, "params": params, "id": number}).encode())
            reply = next(answers)
            if reply["error"]:
                raise LabBroken(f"{switch}: ovs-appctl {method} {' '.join(params)}: {reply['error']}")


def json_objects(stream: socket.socket) -> Iterator[dict[str, Any]]:
    """The JSON objects that come from a socket, with nothing between them."""
    characters, decoder, text = codecs.getincrementaldecoder("utf-8")(), json.JSONDecoder(), ""
    while data := stream.recv(65536):
        text += characters.decode(data)
        while text:
            try:
                found, end = decoder.raw_decode(text)
            except json.JSONDecodeError:  # the rest of it is still to come
                break
            text = text[end:]
            yield found
    raise LabBroken("ovs-vswitchd hung up")
