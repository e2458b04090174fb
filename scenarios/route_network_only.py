"""Without the host routes everything works, and the filesystem's data takes the slow way.

Claim: when clients have the network's route only, what they send to servers that they could reach directly goes
through a gateway: their streams share its links and get what these let through. With the host routes each goes by its
server's own link or channel, and nothing passes the gateway.

Cause: a host route is preferred to a network's; without it the network's is good enough, and nobody complains.

Source: Redpaper, "Routing setup for cross-cluster connectivity": host routes to the NSD servers "via their
BlueGene interfaces", and the routes' use of deisa-b for all else.
"""

from causeway.errors import Unsupported
from causeway.lab.changes import change
from causeway.lab.faults import route_missing
from causeway.model.site import Site
from causeway.plan.paths import path, without_routes
from causeway.scenario.cast import Ask, Detour
from causeway.scenario.stage import Stage
from causeway.scenario.words.routes import counting, next_hop, sent_on_by
from causeway.scenario.words.streams import computable, coupled, near_rates, rates_of, together

DIRECT, DETOUR = "directly", "by the gateway"


def cast(ask: Ask) -> list[Detour]:
    """Clients and servers in pairs, rather clients without disks: two, or one where the rates of two are not known."""
    two = ask.maybe(lambda: ask.detours(2, diskless=True)) or ask.maybe(lambda: ask.detours(2))
    for found in (two, ask.detours(1)):
        if found and all(computable(site, ends(found)) for site in (ask.site, without(ask.site, found))):
            return found
    raise Unsupported(f"{ask.site.name} has no host with a longer way on which a switch's choice can be computed")


def ends(found: list[Detour]) -> list[tuple[str, str]]:
    return [(pair.client, pair.server) for pair in found]


def without(site: Site, found: list[Detour]) -> Site:
    """The site where the clients have the network's route only."""
    return without_routes(site, [pair.client for pair in found], [pair.address for pair in found])


def play(stage: Stage, cast: list[Detour]) -> None:
    lab, site = stage.lab, stage.site
    clients, addresses = [pair.client for pair in cast], [pair.address for pair in cast]
    first, gateway = cast[0], cast[0].gateway
    directly = [(c, to) for c in clients for to in addresses if to in [route.to for route in site.nodes[c].routes]]
    lacking = without(site, cast)
    onward = list(dict.fromkeys(port for pair in cast for port in sent_on_by(lacking, pair.client, pair.address)[1]))

    def judge_streams(when: str, way: str) -> None:
        """Each client sends to its server: by which way, and how fast."""
        with counting(stage, gateway, onward) as passed:
            expected, measured = together(stage, coupled(stage, ends(cast)))
            part = passed() / (sum(m.megabytes for m in measured) * 2**20)
        seen = DETOUR if part > 0.9 else DIRECT if part < 0.01 else f"{100 * part:.0f} % by the gateway"
        stage.same(f"{when}: way of the data", way, seen)
        near_rates(stage, when, expected, rates_of(measured))

    def judge_next(when: str) -> None:
        due = path(stage.site, first.client, first.address).hops[0].next_hop
        stage.same(f"ip route get on {first.client}, {when}", due, next_hop(stage, first.client, first.address))

    with stage.healthy(f"the data goes by the servers' own links, past {gateway}"):
        judge_streams("host routes", DIRECT)

    with stage.perturb(f"the host routes to {', '.join(p.server for p in cast)} are missing on {', '.join(clients)}"):
        faults = [route_missing(lab, client, str(to)) for client, to in directly]
        missing = stage.make(change.together("the clients have the network's route only", faults))

    with stage.judge(f"everything works, by {gateway}, whose links bound it, as computed"), stage.as_if(lacking):
        judge_next("network's route only")
        judge_streams("network's route only", DETOUR)

    with stage.contrast("with the host routes back the data goes directly again"):
        missing.undo()
        judge_streams("host routes back", DIRECT)

    with stage.restore("the host routes are there"):
        judge_next("afterwards")
