"""An NTP server to which there is no route costs nobody anything today, and every node its time.

Claim: when the I/O nodes are given nsd01's m address as their NTP server, to which they have no route, they boot
without a complaint and never get a time: reach 0, stratum 0. With a route they do. When the route is lost later,
chronyd goes on saying stratum 11 and "Normal", and only its error bound grows, by skew, residual frequency and 1 ppm.

Cause: NTP is UDP, nobody waits for an answer, and a clock is not wrong at once.

All nodes of a lab have one kernel's clock, and chronyd does not steer it (-x): here no clock is ever wrong. What can be
seen, and is judged, is what chronyd knows and says.

Source: Redpaper, "Network Time Protocol": "If you use another NTP server, you also need to establish routing to that
server from the IONs"; chrony.conf(5), maxclockerror.
"""

from functools import partial

from causeway.lab import blocks
from causeway.lab.clock import Watch
from causeway.lab.counters import kernel_counters
from causeway.lab.faults import file_changed, route_missing
from causeway.lab.timekeeping import source, tracking
from causeway.lab.wait import until
from causeway.scenario.stage import Stage

RC = "/bgl/dist/etc/rc.d/rc3.d"
#: How many requests chronyd makes of a burst (iburst) at its start, 2 s apart.
BURST = 4
#: How well chronyd must know a clock's frequency before its bound is worth watching: it does after few answers.
SKEW = 10e-6
#: By how much the error bound may grow, in this scenario, before somebody should worry.
GROWTH_S = 1e-4
NO_TIME, TIME = "reach 0, stratum 0, Not synchronised", "answers come, stratum 11, Normal"


def verdict(stage: Stage, node: str) -> str:
    """The check that both halves share: whether the node has its time from somebody."""
    clock, server = tracking(stage.lab, node), source(stage.lab, node)
    reach = "answers come" if server.reach else "reach 0"
    return f"{reach}, stratum {clock.stratum}, {clock.leap}"


def play(stage: Stage) -> None:
    lab, site, sn = stage.lab, stage.site, blocks.service_node(stage.lab)
    nodes = lab.booted_io_nodes()[:2]
    ion, other = nodes[0], site.nodes["nsd01"].interfaces["eth1"]
    network = site.topology.networks[other.network].subnet
    script, routes = lab.read(sn, f"{RC}/S14etc_ntp_conf"), lab.read(sn, f"{RC}/S14routes_to_federation")

    def wait_for_time(server: str) -> None:
        for node in nodes:
            until(f"{node} has the time of {server}", partial(without_time, node, server), deadline_s=30, poll_s=1)

    def without_time(node: str, server: str) -> str:
        has = source(lab, node)
        return "" if has.address == server and has.selected else f"{has}"

    def still_to_ask(node: str) -> str:
        lost = kernel_counters(lab, node)["IpOutNoRoutes"]
        return "" if lost >= BURST else f"{lost} requests found no route"

    def still_to_learn() -> str:
        skew = tracking(lab, ion).skew
        return "" if skew < SKEW else f"{skew * 1e6} ppm"

    def judge_all(expected: str, when: str) -> None:
        for node in nodes:
            stage.compare(f"{node}, {when}", expected, verdict(stage, node), "", 0)

    with stage.healthy(f"two I/O nodes have the time of {sn}, and nsd01 answers who asks it for the time"):
        wait_for_time(str(site.first_leg(sn).address))
        judge_all(TIME, f"server {sn}")
        stage.defer(file_changed(lab, "nsd01", "/run/ntp.conf", "local stratum 10\nallow\n"))
        lab.on("nsd01", "chronyd", "-x", "-f", "/run/ntp.conf").must()
        stage.defer(lambda: lab.on("nsd01", "pkill", "-x", "chronyd").must())
        asked = lab.on("cn01", "chronyd", "-x", "-Q", "-t", "10", f"server {other.address} iburst")
        stage.compare("cn01 gets nsd01's time", 0, asked.rc, "exit code", 0)

    with stage.perturb(f"they are given {other.names[0]}, to which they have no route, and booted again"):
        stage.defer(lambda: blocks.restart(lab, nodes))
        theirs = script.replace(str(site.first_leg(sn).address), str(other.address))
        stage.defer(file_changed(lab, sn, f"{RC}/S14etc_ntp_conf", theirs))
        booted = blocks.restart(lab, nodes)

    with stage.observe(f"chronyd asks {BURST} times"):
        for node in nodes:
            until(f"{node} has asked", partial(still_to_ask, node), deadline_s=60, poll_s=1)

    with stage.judge("the boot says nothing, and no node has a time"):
        stage.compare(
            "nodes that booted without a complaint", len(nodes), list(booted.values()).count("up"), "nodes", 0
        )
        judge_all(NO_TIME, "no route")

    with stage.contrast(f"with a route to {network} in the start script the same server gives them the time"):
        line = f"/sbin/route add -net {network.network_address} netmask {network.netmask} gw 10.2.64.1\n"
        stage.defer(file_changed(lab, sn, f"{RC}/S14routes_to_federation", routes + line))
        blocks.restart(lab, nodes)
        wait_for_time(str(other.address))
        judge_all(TIME, "route there")
        until(f"{ion} knows its frequency", still_to_learn, deadline_s=300, poll_s=2)

    with stage.perturb(f"{ion} loses that route while it is up"):
        stage.defer(route_missing(lab, ion, str(network)))
        watch, begun = Watch(), tracking(lab, ion)

    with stage.observe(f"its error bound grows by {GROWTH_S * 1e3} ms, and a request stays unanswered"):

        def too_small() -> str:
            bound_s = tracking(lab, ion).root_dispersion_s
            return "" if bound_s > begun.root_dispersion_s + GROWTH_S else f"{bound_s} s"

        until("the bound has grown", too_small, deadline_s=200, poll_s=0.25)  # at 1 ppm alone half as long
        grown_after = watch.virtual_s
        answered = "the latest request was answered"
        until(
            "a request is unanswered", lambda: answered if source(lab, ion).reach & 1 else "", deadline_s=200, poll_s=5
        )

    with stage.judge("chronyd still says that all is well, and its bound has grown as its own figures say"):
        clock = tracking(lab, ion)
        stage.compare("stratum and leap", "11, Normal", f"{clock.stratum}, {clock.leap}", "", 0)
        why = "looked at four times a second"
        due = GROWTH_S / begun.grows_by
        stage.compare("until the bound has grown", round(due, 1), round(grown_after, 1), "s", 0.02, why)

    with stage.restore(f"they have the time of {sn} again"):
        wait_for_time(str(site.first_leg(sn).address))
        judge_all(TIME, "afterwards")
