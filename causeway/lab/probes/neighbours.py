"""Whom nodes ask for a hardware address, and are not answered."""

import json

from causeway.lab.lab import Lab
from causeway.process import run
from causeway.wait import until

#: A question is asked three times, a second apart (arp(7), mcast_solicit, retrans_time).
_GIVEN_UP_S = 10


def settle(lab: Lab) -> None:
    """Wait until what hosts asked before now is answered, or given up.

    A daemon that starts before its node's channel has agreed asks in vain. For three seconds whoever wants the same
    neighbour waits for that question's end, and is told "No route to host" though there is one by then.
    """
    hosts = [host for host in lab.site.hosts() if host not in lab.site.diskless()]
    asking = {host: asked(lab, host) for host in hosts}

    def left() -> str:
        for host, addresses in asking.items():
            if addresses:
                addresses &= asked(lab, host)
        return ", ".join(f"{host} asks for {' '.join(sorted(those))}" for host, those in asking.items() if those)

    until("who asked for a neighbour is answered, or gives up", left, deadline_s=_GIVEN_UP_S, poll_s=0.25)


def asked(lab: Lab, host: str) -> set[str]:
    """The addresses whose neighbour a host asks for now."""
    shown = run(lab.plug(host, ["ip", "-j", "-4", "neigh", "show", "nud", "incomplete"])).must()
    return {one["dst"] for one in json.loads(shown)}
