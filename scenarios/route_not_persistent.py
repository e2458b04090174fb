"""A route that somebody set by hand works until the node is rebooted.

Claim: a node whose static route is in the kernel's table and in none of its files reaches all, and nobody sees anything
wrong; a comparison of what runs with what files say names the route. After a reboot exactly the pairs that need it
cannot talk. With the line in the file the same reboot changes nothing.

Cause: `ip route add` changes the running table alone; the persistent store is another place, and is read at start.

Source: Redpaper, "Routing setup for cross-cluster connectivity" ("the route add command will not be persistent").
"""

from dataclasses import dataclass

from causeway.lab.faults import route_not_persistent
from causeway.lab.power import reboot
from causeway.lab.probes.drift import drift
from causeway.plan.paths import without_routes
from causeway.scenario.cast import Ask, WayBack
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import start_daemon
from causeway.scenario.words.routes import computed_cut, cut


@dataclass(frozen=True)
class Cast:
    """A node with a disk and a route that it needs to answer, and all hosts."""

    lacking: WayBack
    hosts: list[str]


def cast(ask: Ask) -> Cast:
    ask.computable()
    return Cast(ask.way_back(disk=True), ask.hosts())


def play(stage: Stage, cast: Cast) -> None:
    lab, site, hosts = stage.lab, stage.site, cast.hosts
    node, network = cast.lacking.node, str(site.topology.networks[cast.lacking.to].subnet)
    whole, due = computed_cut(site, hosts), computed_cut(without_routes(site, [node], [cast.lacking.to]), hosts)

    def drifted() -> list[str]:
        return [f"{one.what}: {one.files} / {one.runs}" for one in drift(lab, [node])]

    def up_again() -> None:
        reboot(lab, node)
        start_daemon(stage, node)

    with stage.healthy(f"{node} runs as its files say, and those talk that have ways there and back"):
        stage.same("what differs from its files", [], drifted())
        stage.same("pairs that cannot talk", whole, cut(stage, hosts))

    with stage.perturb(f"the line of its route to {network} is not in {node}'s file; the route itself is there"):
        (via,) = (f"via {route.via[0]}" for route in site.nodes[node].routes if route.to == cast.lacking.to)
        by_hand = stage.make(route_not_persistent(lab, node, network))

    with stage.observe("the matrix is taken again; then the node is rebooted, and the matrix taken"):
        before, named = cut(stage, hosts), drifted()
        up_again()
        after = cut(stage, hosts)

    with stage.judge("all is well before the reboot, but for what `causeway drift` says; after it pairs are cut"):
        stage.same("pairs that cannot talk, before the reboot", whole, before)
        stage.same("what differs from its files, before the reboot", [f"route {network}: - / {via}"], named)
        stage.same("pairs that cannot talk, after the reboot", due, after)
        stage.same("what differs from its files, after the reboot", [], drifted())

    with stage.contrast("with the line in the file the same reboot changes nothing"):
        by_hand.undo()
        up_again()
        stage.same("pairs that cannot talk, rebooted with the line", whole, cut(stage, hosts))

    with stage.restore(f"{node} runs as its files say"):
        stage.same("what differs from its files, afterwards", [], drifted())
