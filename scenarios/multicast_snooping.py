"""A switch that snoops on who joined, and nobody who asks: programs that talk by multicast fall silent after minutes.

Claim: with IGMP snooping at their switch programs that begin hear each other as before, for the switch has heard them
join. Five minutes later each hears itself alone, while unicast is as it was. Without snooping they hear each other on;
with it they do, too, where somebody asks every two minutes who is in which group.

Cause: a switch forgets a member that does not report itself (Open vSwitch: after 300 s), and hosts report when they
join, and when they are asked. Asking is a multicast router's part, and this network has none.

Source: CITA, "Xe cluster details": the Gigabit switch's IGMP snooping is turned off "to allow ganglia's multicast to
work". Heartbeats and their group are ganglia's; that the switch floods nothing that nobody joined is assumed.
"""

from causeway.lab.faults import snooping_on
from causeway.lab.probes.heartbeats import EVERY_S, SILENT_S, Heard, beating
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Company
from causeway.scenario.stage import Stage
from causeway.scenario.words.routes import pings

#: For how long a member counts that does not report itself (seconds; Open vSwitch's default, mcast-snooping-aging-
#: time).
AGING_S = 300
#: When all still hear each other, and when nobody does who was forgotten (seconds after they began).
EARLY_S, LATE_S = 200.0, AGING_S + SILENT_S + 2 * EVERY_S
SHORT_S = 45.0


def cast(ask: Ask) -> Company:
    return ask.company()


def play(stage: Stage, cast: Company) -> None:
    hosts, switch, rows = cast.hosts, cast.switch, list[list[str]]()
    all_, alone = dict.fromkeys(hosts, len(hosts)), dict.fromkeys(hosts, 1)

    def beat(title: str, for_s: float, querier: str | None = None) -> Heard:
        with beating(stage.lab, cast.network, hosts, for_s, querier) as running:
            heard = running.heard()
        for at in (SHORT_S, EARLY_S, for_s):
            if at <= for_s:
                counts = sorted(set(heard.at(at).values()))
                rows.append([title, f"{at:g}", " to ".join(map(str, dict.fromkeys([counts[0], counts[-1]])))])
        return heard

    with stage.healthy(f"{len(hosts)} hosts at {switch} hear each other, and themselves"):
        stage.same("how many each hears", all_, beat("no snooping", SHORT_S).at(SHORT_S))

    with stage.perturb(f"{switch} snoops, and the hosts' programs begin anew"):
        snooping = stage.make(snooping_on(stage.lab, switch))

    with stage.observe("they send for seven minutes"):
        heard = beat("snooping", LATE_S)

    with stage.judge("at first all hear each other; forgotten after five minutes, each hears itself alone"):
        stage.same(f"how many each hears, after {EARLY_S:g} s", all_, heard.at(EARLY_S))
        stage.same(f"how many each hears, after {LATE_S:g} s", alone, heard.at(LATE_S))
        last = heard.last_s()
        in_time = AGING_S - EVERY_S <= last <= AGING_S + EVERY_S
        stage.holds(f"silent once {AGING_S} s have passed, and a heartbeat more or less", in_time, f"{last:.0f} s")
        others = [str(stage.site.address(host, cast.network)) for host in hosts[1:]]
        stage.same(f"who answers {hosts[0]}'s ping", others, [to for to in others if pings(stage, hosts[0], to)])

    with stage.contrast("with somebody who asks they hear each other all the time, and without snooping, too"):
        asked = beat("snooping, and a querier", LATE_S, querier=hosts[0])
        stage.same(f"how many each hears, after {LATE_S:g} s, asked", all_, asked.at(LATE_S))
        snooping.undo()
        free = beat("no snooping again", LATE_S)
        stage.same(f"how many each hears, after {LATE_S:g} s, no snooping", all_, free.at(LATE_S))

    with stage.restore(f"{switch} floods multicast again"):
        stage.same("how many each hears, afterwards", all_, beat("afterwards", SHORT_S).at(SHORT_S))
        stage.show(Table("How many a host hears", ["switch", "seconds after they began", "heard"], rows))
