"""A node that loses the route to its time server says for a long time that all is well.

Claim: when the route is lost, chronyd goes on saying stratum 11 and "Normal", and only its error bound grows, by
skew, residual frequency and 1 ppm. With the route back it asks, is answered, and the bound is small again.

Cause: a clock is not wrong at once. Without answers its error can only be bounded by how well it was known to run.

All nodes of a lab have one kernel's clock, and chronyd does not steer it (-x): here no clock is ever wrong. What can be
seen, and is judged, is what chronyd knows and says.

Source: Redpaper, "Network Time Protocol": "If you use another NTP server, you also need to establish routing to that
server from the IONs"; chrony.conf(5), maxclockerror.
"""

from dataclasses import dataclass

from causeway.lab.clock import Watch
from causeway.lab.faults import route_missing
from causeway.lab.probes.timekeeping import source, tracking
from causeway.scenario.cast import Ask, AwayTime
from causeway.scenario.stage import Stage
from causeway.scenario.words.routes import route_too
from causeway.scenario.words.timekeeping import TIME, serves_time, takes_time_of, time_of, until_timed

#: How well chronyd must know a clock's frequency before its bound is worth watching: it does after few answers.
SKEW = 10e-6
#: By how much the error bound may grow, in this scenario, before somebody should worry.
GROWTH_S = 1e-4


@dataclass(frozen=True)
class Cast:
    """A node, and somebody whose time it takes here, by a route that it is given or has."""

    node: str
    away: AwayTime


def cast(ask: Ask) -> Cast:
    return Cast(*ask.timed_away())


def play(stage: Stage, cast: Cast) -> None:
    lab, node, away = stage.lab, cast.node, cast.away
    network = str(stage.site.topology.networks[away.network].subnet)

    def bound_s() -> float:
        return tracking(lab, node).root_dispersion_s

    def latest_answered() -> bool:
        return bool(source(lab, node).reach & 1)

    with stage.arrange(f"{node} takes the time of {away.name}, by a route to {network}"):
        stage.make(serves_time(lab, away.host))
        if away.gateway:
            stage.make(route_too(node, network, away.gateway))
        stage.make(takes_time_of(lab, node, away.address))

    with stage.healthy(f"{node} has the time, and knows how fast its clock runs"):
        until_timed(stage, [node], away.address)
        stage.same(f"{node}'s time", TIME, time_of(stage, node))
        stage.until(
            "its skew is small", lambda: tracking(lab, node).skew, is_=lambda s: s < SKEW, within_s=300, poll_s=2
        )

    with stage.perturb(f"{node} loses that route"):
        lost = stage.make(route_missing(lab, node, network))
        watch, begun = Watch(), tracking(lab, node)
        enough_s = begun.root_dispersion_s + GROWTH_S

    with stage.observe(f"its error bound grows by {GROWTH_S * 1e3:g} ms, and a request stays unanswered"):
        # at 1 ppm alone it takes half of the deadline
        stage.until("its bound has grown", bound_s, is_=lambda seen: seen > enough_s, within_s=200, poll_s=0.1)
        grown_after = watch.virtual_s
        stage.until("the latest request was answered", latest_answered, is_=False, within_s=200, poll_s=5)

    with stage.judge("chronyd still says that all is well, and its bound has grown as its own figures say"):
        clock = tracking(lab, node)
        stage.same("stratum and leap", "11, Normal", f"{clock.stratum}, {clock.leap}")
        due, why = GROWTH_S / begun.grows_by, "looked at ten times a second"
        stage.near("until the bound has grown", round(due, 1), round(grown_after, 1), "s", within=0.02, why=why)

    with stage.contrast("with the route back it is answered, and its bound is small again"):
        lost.undo()
        stage.until("the latest request was answered", latest_answered, is_=True, within_s=200, poll_s=5)
        # it may take one answer more before chronyd goes by its samples again
        stage.until(
            "its bound is below what it had grown to", bound_s, is_=lambda s: s < enough_s, within_s=200, poll_s=5
        )

    with stage.restore(f"{node} has its own server's time again"):
        own = stage.site.known_by(stage.site.time_server(node) or node).address
        until_timed(stage, [node], own)
        stage.same(f"{node}'s time, afterwards", TIME, time_of(stage, node))
