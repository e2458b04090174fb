"""Whoever wants to mend one direction of a channel must change the end that sends it.

Claim: I/O nodes' writes to nsd01 come by the members that zam870's policy gives, source MAC addresses. Another policy
at nsd01 moves its reads, to where that policy says, and not one of the writes; another policy at zam870 moves those.

Cause: a channel has no policy. Each end has its own, for what it sends; LACP does not tell one of the other's.

Source: Redpaper, Figure 3 ("ION write is controlled by the Cisco/CatOS setup of the 4x channel to the NSD server") and
"EtherChannel (or channel bonding) setup", with the hash functions of three makers.
"""

from collections.abc import Callable

from causeway.lab.switching import deal_buckets
from causeway.model.site import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_member
from causeway.scenario.stage import Stage
from causeway.scenario.streams import Outcome, draw, end_of, judge, measure, set_policy

BY_MAC, OTHERWISE = "where their source MAC addresses say", "elsewhere"


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    server, switch = end_of(stage, "nsd01", "zam870"), end_of(stage, "zam870", "nsd01")
    io_nodes = [(name, "b") for name in lab.booted_io_nodes()[:8]]
    # stream -> zam870's member, before anything is measured: buckets of MAC addresses, dealt in turn
    by_mac = {
        f"nsd01:r:{node.lower()}": slb_member(mac_address(site, Port(node, "eth0")), switch.members)
        for node, _ in io_nodes
    }

    def writes() -> Outcome:
        return measure(stage, switch, draw(stage, server, io_nodes, "r"))

    def verdict(written: Outcome) -> str:
        """The check that both halves share."""
        return BY_MAC if written.observed == by_mac else OTHERWISE

    def switch_sends_by(policy: str) -> Callable[[], object]:
        argv = ("ovs-vsctl", "set", "port", switch.name)
        lab.on("zam870", *argv, f"bond_mode={policy}").must()
        return lambda: lab.on("zam870", *argv, f"bond_mode={switch.hash_policy}").must()

    with stage.healthy("the writes come by the members that zam870's policy gives"):
        before = writes()
        stage.compare("members of the writes, policies as they are", BY_MAC, verdict(before), "", 0)
        due = before.per_member(by_mac)
        stage.compare("writes per member of zam870's end", due, before.per_member(before.observed), "", 0)
        judge(stage, "ION write, policies as they are", before)

    with stage.perturb("somebody who wants the writes elsewhere changes nsd01's policy, to layer2"):
        stage.defer(set_policy(stage, server, "layer2"))

    with stage.observe("eight writes, and eight reads"):
        written = writes()
        read = measure(stage, server, draw(stage, server, io_nodes, "t"), policies={"nsd01": "layer2"})

    with stage.judge("the reads have moved to where layer2 puts them, and the writes have not moved"):
        stage.compare("members of the writes, layer2 at nsd01", BY_MAC, verdict(written), "", 0)
        judge(stage, "ION write, layer2 at nsd01", written)
        due = read.per_member(read.computed)
        stage.compare("reads per member of nsd01's end, layer2", due, read.per_member(read.observed), "", 0)
        judge(stage, "ION read, layer2 at nsd01", read)

    with stage.contrast("zam870's policy moves the writes: balance-tcp, which looks at addresses and ports"):
        stage.defer(lambda: deal_buckets(lab))
        stage.defer(switch_sends_by("balance-tcp"))
        by_ports = writes()
        stage.compare("members of the writes, balance-tcp at zam870", OTHERWISE, verdict(by_ports), "", 0)
        judge(stage, "ION write, balance-tcp at zam870", by_ports)

    with stage.restore("both policies are as before, and one stream is as fast as a link"):
        wire = tcp_goodput_mbit(1000, site.topology.networks["b"].mtu)
        alone = measure(stage, switch, draw(stage, server, io_nodes[:1], "r"))
        ((label, measured),) = alone.measured.items()
        stage.compare("one write, afterwards", wire, measured.rate_mbit, "Mbit/s", 0.001, "the wire's own rate")
        stage.compare("its member, afterwards", by_mac[label], alone.observed[label], "", 0)
