"""Pairs across a tree share its uplinks, and which ones is dealt out beforehand; inside a line chip nobody loses.

Claim: pairs of hosts at one line switch all have the hosts' own rate at once. Pairs across share the uplinks that the
tables give them: eight on three uplinks are three, three and two; slow uplinks halve that; four that go to hosts with
one uplink share it while the others are idle, and four to other hosts do not.

Cause: the table of a switch without adaptive routing has one port for each destination, whatever the load.

Source: CITA, "Xe cluster details", "tiered switch internals": six pairs within a group 11+ Gbit/s each, between groups
3.5 to 6.5 where 7.4 was expected (SDR); eight across with DDR more than about 0.5 of a host where 8:3 gives 0.375;
"1/4 bw at best and 1/8 bw at the moment" of twelve hosts a chip. The hosts' bus bounds them to 77 % of DDR, so their
share is 0.489 here; tree_ping_pong has the rest.
"""

from dataclasses import dataclass

from causeway.plan.fabrics import Fabric
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import host_mbit, host_ports, judge_load, load, show_loads, slower

PAIRS = 8


@dataclass(frozen=True)
class Cast:
    """A fabric, and pairs of its hosts: inside line switches, across, and across by one uplink."""

    fabric: Fabric
    inside: list[tuple[str, str]]
    across: list[tuple[str, str]]
    crowded: list[tuple[str, str]]

    @property
    def spread(self) -> list[tuple[str, str]]:
        """As many as the crowded ones, to the first hosts that come."""
        return self.across[: len(self.crowded)]

    @property
    def even(self) -> list[tuple[str, str]]:
        """Two for each uplink of a line switch."""
        return self.across[: 2 * len(next(iter(self.fabric.uplinks.values())))]


def cast(ask: Ask) -> Cast:
    fabric = ask.fabric(PAIRS)
    even = 2 * len(next(iter(fabric.uplinks.values())))
    return Cast(fabric, fabric.inside(even), fabric.across(PAIRS), fabric.by_one_uplink(PAIRS // 2))


def play(stage: Stage, cast: Cast) -> None:
    fabric, alone = cast.fabric, host_mbit(stage, cast.fabric)
    uplink_mbit = stage.site.sends_mbit(fabric.cables[0])

    with stage.healthy(f"{len(cast.inside)} pairs inside line switches have a host's own rate each"):
        inside = load(stage, fabric, cast.inside)
        judge_load(stage, "inside", inside)
        stage.near("inside: mean, in hosts", 1, inside.mean_mbit / alone, "", why="nobody shares a cable")

    with stage.perturb(f"the pairs go across: {len(cast.across)} of them, then by slow uplinks"):
        across = load(stage, fabric, cast.across)
        change, slow_site = slower(stage, fabric.cables, uplink_mbit // 2, f"uplinks of {uplink_mbit // 2} Mbit/s")
        slow_uplinks = stage.make(change)

    with stage.observe("pairs across slow uplinks"), stage.as_if(slow_site):
        slow = load(stage, fabric, cast.across)
        even = load(stage, fabric, cast.even)

    with stage.judge("all have the share of their uplink, by the tables"):
        judge_load(stage, f"{len(cast.across)} across", across)
        judge_load(stage, f"{len(cast.across)} across, slow uplinks", slow)
        judge_load(stage, f"{len(cast.even)} across, slow uplinks", even)
        slow_uplinks.undo()
        change, fast_site = slower(stage, host_ports(stage, fabric), uplink_mbit, f"hosts with {uplink_mbit} Mbit/s")
        fast_hosts = stage.make(change)
        with stage.as_if(fast_site):
            unbound, faster = load(stage, fabric, cast.across), host_mbit(stage, fabric)
            judge_load(stage, f"{len(cast.across)} across, hosts as fast as uplinks", unbound)
        fast_hosts.undo()
        crowded = load(stage, fabric, cast.crowded)
        judge_load(stage, f"{len(cast.crowded)} across by one uplink", crowded)

    with stage.contrast("as many pairs to other hosts have two or three times as much"):
        spread = load(stage, fabric, cast.spread)
        judge_load(stage, f"{len(cast.spread)} across by several uplinks", spread)
        stage.holds("more than by one uplink", spread.mean_mbit > 1.5 * crowded.mean_mbit, spread.mean_mbit)
        loads = {
            f"{len(cast.inside)} inside": (inside, alone),
            f"{len(cast.across)} across": (across, alone),
            f"{len(cast.across)} across, hosts as fast as uplinks": (unbound, faster),
            f"{len(cast.across)} across, slow uplinks": (slow, alone),
            f"{len(cast.even)} across, slow uplinks": (even, alone),
            f"{len(cast.crowded)} across by one uplink": (crowded, alone),
            f"{len(cast.spread)} across by several": (spread, alone),
        }
        show_loads(stage, "Loads, in Mbit/s of TCP payload", loads)

    with stage.restore("pairs inside have a host's own rate again"):
        judge_load(stage, "afterwards", load(stage, fabric, cast.inside))
