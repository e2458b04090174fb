"""With slow uplinks a host sees a fast and a slow half of one switch: its own line chip, and the other.

Claim: a stream to each of the other hosts, one after the other, has the host's own rate everywhere while the cables
inside the switch are as fast; with these at half their rate there are two classes of hosts, and the slow one is exactly
whom the tables of the host's switch lead to by an uplink.

Cause: a big switch is a tree of small ones inside; who is at another one is reached by one of a few cables.

Source: CITA, "Xe cluster details", "tiered switch internals": 11.4 Gbit/s within xe,9-13 and 2,14-19, 7.4 Gbit/s
between, with the switch set to SDR and the adapters at DDR; after July 2007 the groups are xe,3-5,7-8,11,16-19 and
1-2,6,9-10,12-15, "easiest to obtain via the ibroute command". 7.4 / 11.4 = 0.649, and 742.5 / 1138.5 = 0.652 here.
"""

from dataclasses import dataclass

from causeway.plan.fabrics import Fabric
from causeway.report.result import Lines, Table
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import beyond, classes, near_each, one_by_one, slower


@dataclass(frozen=True)
class Cast:
    """A fabric, a host that looks around, and the others: who is at the same line switch, and who is not."""

    fabric: Fabric
    host: str
    line: str

    @property
    def others(self) -> list[str]:
        return [host for host in self.fabric.hosts if host != self.host]

    @property
    def far(self) -> list[str]:
        return [host for host in self.others if self.fabric.line_of(host) != self.line]


def cast(ask: Ask) -> Cast:
    fabric = ask.fabric()
    host = fabric.hosts[0]
    return Cast(fabric, host, fabric.line_of(host))


def play(stage: Stage, cast: Cast) -> None:
    fabric, host, others = cast.fabric, cast.host, cast.others
    half_mbit = stage.site.sends_mbit(fabric.cables[0]) // 2

    with stage.healthy(f"streams from {host} to each of {len(others)} others, one after the other, are alike"):
        fast = one_by_one(stage, fabric, host, others)
        near_each(stage, "fast uplinks", fast)
        stage.same("classes of hosts", 1, len(classes(fast)))

    with stage.perturb(f"the cables between the switches have {half_mbit} Mbit/s"):
        change, slow_site = slower(stage, fabric.cables, half_mbit, f"uplinks of {half_mbit} Mbit/s")
        slow_uplinks = stage.make(change)

    with stage.observe("the same streams again"), stage.as_if(slow_site):
        slow = one_by_one(stage, fabric, host, others)

    with stage.judge("there are two classes now, by the line switch that a host is plugged into"):
        near_each(stage, "slow uplinks", slow)
        groups = classes(slow)
        stage.same("classes of hosts", 2, len(groups))
        stage.same("the slow ones are those at the other line switch", set(cast.far), set(groups[-1]))
        asked = set(beyond(stage, fabric, cast.line)) - {host}
        stage.same(f"and those that {cast.line}'s own table leads to by an uplink", set(cast.far), asked)
        rows = [[f"{slow[group[0]].rate_mbit:.1f}", str(len(group)), " ".join(group)] for group in groups]
        stage.show(Table("Classes, with slow uplinks", ["Mbit/s", "hosts", "who"], rows))
        rates = {
            "fast uplinks": [fast[other].rate_mbit for other in others],
            "slow uplinks": [slow[other].rate_mbit for other in others],
            "slow uplinks (expected)": [slow[other].due_mbit for other in others],
        }
        stage.show(Lines(f"One stream from {host}", "to host", others, "Mbit/s", rates))

    with stage.contrast("with fast uplinks there is one class, though the tree is the same: one pair cannot see it"):
        slow_uplinks.undo()
        again = one_by_one(stage, fabric, host, others)
        near_each(stage, "fast uplinks again", again)
        stage.same("classes of hosts", 1, len(classes(again)))
        stage.same(
            "whom the table leads to by an uplink", set(cast.far), set(beyond(stage, fabric, cast.line)) - {host}
        )

    with stage.restore("one host of each kind is as fast as at first"):
        near_each(stage, "afterwards", one_by_one(stage, fabric, host, [others[0], cast.far[0]]))
