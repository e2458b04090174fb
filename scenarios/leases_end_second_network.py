"""Nodes that lose the lease of one network's addresses are reached by another one, and mended by it.

Claim: nodes lease their addresses in one network, and have fixed ones in a second. When the DHCP server has been down
for a lease's time none of them answers in the first network, all of them do in the second, and their consoles say why.
Who logs in by the second network gives a node its address back, and it answers in both. With fixed addresses in both
networks nobody notices.

Cause: a lease is of one adapter's address; what the node has in other networks it goes on using, its root, too.

Source: CITA, "Xe cluster details", "TODO": "if dhcp fails it de-configures the eth interfaces", "can still get in on
the IB interfaces". That the nodes' root comes by InfiniBand is ours.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab.changes.files import file_changed
from causeway.lab.clock import Watch
from causeway.lab.faults import service_stopped
from causeway.scenario.cast import Ask, Diskless, TwoNetworks
from causeway.scenario.stage import Stage
from causeway.scenario.words.diskless import boots, leases, saying
from causeway.scenario.words.onesis import NETWORK, ROOT, readdress
from causeway.scenario.words.routes import own_addresses, pings

#: Two minutes, the least that dnsmasq lends: an hour would show the same, later.
LEASE_S = 120
#: How often the nodes' addresses are looked at.
LOOK_S = 5


@dataclass(frozen=True)
class Cast:
    """Diskless nodes and their server; their addresses in both networks, and who calls them."""

    diskless: Diskless
    networks: TwoNetworks


def cast(ask: Ask) -> Cast:
    diskless = ask.diskless(8, platform="onesis", least=2)
    return Cast(diskless, ask.two_networks(diskless))


def play(stage: Stage, cast: Cast) -> None:
    lab, server, nodes = stage.lab, cast.diskless.server, cast.diskless.nodes
    leased, fixed, caller = cast.networks.leased, cast.networks.fixed, cast.networks.caller

    def answering(at: dict[str, IPv4Address]) -> list[str]:
        return [node for node in nodes if pings(stage, caller, at[node])]

    def configured() -> list[str]:
        return [node for node in nodes if str(leased[node]) in own_addresses(stage, node)]

    with stage.arrange(f"they boot with leases of {LEASE_S} s"):
        stage.make(leases(lab, server, LEASE_S), then=boots(stage, nodes))

    with stage.healthy(f"they answer {caller} in both networks"):
        stage.same("nodes that answer in the first network", nodes, answering(leased))
        stage.same("nodes that answer in the second network", nodes, answering(fixed))

    with stage.perturb(f"the DHCP server on {server} is down"):
        down = stage.make(service_stopped(lab, server, "dnsmasq"))
        outage = Watch()

    with stage.observe("they lose what they have leased"):
        stage.until("nodes with a leased address", configured, is_=[], within_s=LEASE_S + 2 * LOOK_S, poll_s=LOOK_S)
        lost_after_s = outage.virtual_s

    with stage.judge("within a lease's time none answers in the first network, and all do in the second"):
        in_time = lost_after_s <= LEASE_S + 2 * LOOK_S
        stage.holds(f"lost within a lease (and a look every {LOOK_S} s)", in_time, f"{lost_after_s:.0f} s")
        stage.same("nodes that answer in the first network, server down", [], answering(leased))
        stage.same("nodes that answer in the second network, server down", nodes, answering(fixed))
        stage.same("consoles that say so", nodes, saying(stage, nodes, "de-configured"))

    with stage.judge(f"{nodes[0]} gets its address back from who logs in by the second network"):
        readdress(stage, caller, fixed[nodes[0]], nodes[0])
        stage.same("nodes that answer in the first network, one mended", nodes[:1], answering(leased))

    with stage.contrast("with fixed addresses in both networks the same outage is not noticed"):
        down.undo()
        stage.make(file_changed(lab, server, f"{ROOT}{NETWORK}", "BOOTPROTO=static\n"), then=boots(stage, nodes))
        stage.make(service_stopped(lab, server, "dnsmasq"))
        stage.let_pass(LEASE_S + 30, "the server is down for longer than a lease")
        stage.same("nodes that answer in the first network, fixed, server down", nodes, answering(leased))
        stage.same("nodes that answer in the second network, fixed, server down", nodes, answering(fixed))

    with stage.restore("the DHCP server is back, and all answer in both networks"):
        stage.same("nodes that answer in the first network, afterwards", nodes, answering(leased))
        stage.same("nodes that answer in the second network, afterwards", nodes, answering(fixed))
