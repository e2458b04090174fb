"""Nodes that lease their addresses lose them when their server is away for too long.

Claim: while the DHCP server is down nothing happens until the lease ends; then every node de-configures its
Ethernet and cannot be reached, although the node itself and the network are well. Nodes with fixed addresses
stay reachable through the same outage.

Cause: a lease is a promise for a time. Who cannot renew it must stop using the address.

Source: CITA Xe cluster notes, "give nodes fixed ip adresses 'cos at the moment if dhcp fails it de-configures
the eth interfaces if the front-end is down for too long".
"""

from dataclasses import dataclass

from causeway.lab.changes.files import file_changed
from causeway.lab.clock import Watch
from causeway.lab.faults import service_stopped
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import NETWORK
from causeway.scenario.words.diskless import boots, leases, saying
from causeway.scenario.words.routes import own_addresses, pings

#: Two minutes, the least that dnsmasq lends: an hour would show the same, later.
LEASE_S = 120
#: How often the nodes' addresses are looked at.
LOOK_S = 5


@dataclass(frozen=True)
class Cast:
    """Diskless nodes, the server that lends them their addresses, and another host that calls them."""

    nodes: list[str]
    server: str
    caller: str


def cast(ask: Ask) -> Cast:
    found = ask.diskless(2, platform="bluegene")
    return Cast(found.nodes, found.server, ask.caller(*found.nodes, but=[found.server]))


def play(stage: Stage, cast: Cast) -> None:
    lab, server, nodes, caller = stage.lab, cast.server, cast.nodes, cast.caller

    def answering() -> list[str]:
        return [node for node in nodes if pings(stage, caller, node)]

    def configured() -> list[str]:
        return [node for node in nodes if own_addresses(stage, node)]

    with stage.arrange(f"{' and '.join(nodes)} boot with leases of {LEASE_S} s"):
        stage.make(leases(lab, server, LEASE_S))
        leased = stage.make(file_changed(lab, server, NETWORK, "BOOTPROTO=dhcp\n"), then=boots(stage, nodes))

    with stage.healthy(f"they answer {caller}"):
        stage.same("nodes that answer", nodes, answering())

    with stage.perturb(f"the DHCP server on {server} is down"):
        down = stage.make(service_stopped(lab, server, "dnsmasq"))
        outage = Watch()

    with stage.observe("they de-configure their Ethernet"):
        stage.until("nodes with an address", configured, is_=[], within_s=LEASE_S + 30, poll_s=LOOK_S)
        lost_after_s = outage.virtual_s

    with stage.judge("none can be reached, within a lease's time; their consoles say why"):
        stage.same("nodes that answer, leases, server down", [], answering())
        in_time = lost_after_s <= LEASE_S + 2 * LOOK_S
        stage.holds(f"lost within a lease (and a look every {LOOK_S} s)", in_time, f"{lost_after_s:.0f} s")
        stage.same("consoles that say so", nodes, saying(stage, nodes, "de-configured"))

    with stage.contrast("with fixed addresses the same outage is not noticed"):
        down.undo()
        leased.undo()
        stage.make(service_stopped(lab, server, "dnsmasq"))
        stage.let_pass(LEASE_S + 30, "the server is down for longer than a lease")
        stage.same("nodes that answer, fixed addresses, server down", nodes, answering())

    with stage.restore("the DHCP server is back, and every node answers"):
        stage.same("nodes that answer, afterwards", nodes, answering())
