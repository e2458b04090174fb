"""Nodes that lease their addresses lose them when the front end is away for too long.

Claim: while the DHCP server is down nothing happens until the lease ends; then every node de-configures its
Ethernet and cannot be reached, although the node itself and the network are well. Nodes with fixed addresses
stay reachable through the same outage.

Cause: a lease is a promise for a time. Who cannot renew it must stop using the address.

Source: CITA Xe cluster notes, "give nodes fixed ip adresses 'cos at the moment if dhcp fails it de-configures
the eth interfaces if the front-end is down for too long".
"""

from causeway.lab import blocks
from causeway.lab.clock import Watch
from causeway.lab.faults import Undo, file_changed, service_stopped
from causeway.lab.wait import until
from causeway.process import run
from causeway.scenario.stage import Stage

NETWORK = "/bgl/dist/etc/sysconfig/network"
#: Two minutes, the least that dnsmasq lends: an hour would show the same, later.
LEASE_S = 120


def reachable(stage: Stage, nodes: list[str]) -> int:
    """The check that both halves of this scenario share: how many nodes answer FEN."""
    return sum(stage.lab.on("FEN", "ping", "-c", "1", "-W", "1", node).rc == 0 for node in nodes)


def play(stage: Stage) -> None:
    lab, service_node = stage.lab, blocks.service_node(stage.lab)
    boot = stage.site.topology.services.boot
    assert boot is not None
    nodes = lab.booted_io_nodes()[:2]

    def stop_dhcp() -> Undo:
        return service_stopped(lab, service_node, "dnsmasq")

    def restart_dhcp() -> None:
        stop_dhcp()()

    with stage.healthy(f"two nodes boot with leases of {LEASE_S} s, and answer FEN"):
        stage.defer(lambda: blocks.restart(lab, nodes))
        config = lab.read(service_node, "/etc/dnsmasq.conf")
        shorter = config.replace(f",{boot.lease_s}\n", f",{LEASE_S}\n")
        stage.defer(restart_dhcp)
        stage.defer(file_changed(lab, service_node, "/etc/dnsmasq.conf", shorter))
        restart_dhcp()
        stage.defer(file_changed(lab, service_node, NETWORK, "BOOTPROTO=dhcp\n"))
        blocks.restart(lab, nodes)
        stage.compare("nodes that answer", len(nodes), reachable(stage, nodes), "nodes", 0)

    with stage.perturb("the DHCP server is down"):
        start_dhcp = stop_dhcp()
        stage.defer(start_dhcp)
        outage = Watch()

    with stage.observe("both de-configure their Ethernet"):

        def configured() -> str:
            shown = {node: run(lab.plug(node, ["ip", "-4", "addr", "show", "dev", "eth0"])).must() for node in nodes}
            return " ".join(node for node, text in shown.items() if "inet " in text)

        until("no node has an address", configured, deadline_s=LEASE_S + 30, poll_s=5)
        lost_after_s = outage.virtual_s

    with stage.judge("neither can be reached, within a lease's time; their consoles say why"):
        stage.compare("nodes that answer, leases, server down", 0, reachable(stage, nodes), "nodes", 0)
        stage.compare("lost within a lease (and a look every 5 s)", True, lost_after_s <= LEASE_S + 10, "", 0)
        silent = blocks.silent(lab, nodes, "de-configured")
        stage.compare("consoles that say so", len(nodes), len(nodes) - len(silent), "nodes", 0)

    with stage.contrast("with fixed addresses the same outage is not noticed"):
        start_dhcp()
        lab.file(service_node, NETWORK).write_text("BOOTPROTO=static\n")
        blocks.restart(lab, nodes)
        stop_dhcp()
        outage = Watch()
        rest = f"the server is down for longer than a lease, {LEASE_S + 30} s"
        late = LEASE_S + 30
        until(
            rest, lambda: "" if outage.virtual_s > late else f"{outage.virtual_s:.0f} s", deadline_s=late + 10, poll_s=5
        )
        stage.compare(
            "nodes that answer, fixed addresses, server down", len(nodes), reachable(stage, nodes), "nodes", 0
        )

    with stage.restore("the DHCP server is back, and every node answers"):
        stage.compare("nodes that answer, afterwards", len(nodes), reachable(stage, nodes), "nodes", 0)
