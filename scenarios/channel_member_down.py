"""A channel that loses a link loses no stream, and a quarter of its rate.

Claim: when one of nsd01's four cables is pulled, the streams that were on it go on over another member, and eight
streams get what the hash policy gives them on three members. With the cable back it is four again.

Cause: both ends see the carrier go; the bond takes the member out of its table, and the same hash is now taken
modulo three, so that streams on other members may move, too.

Source: Redpaper, "EtherChannel setup" and "Multiple streams between an NSD server and several IONs"; bonding.rst
(miimon, xmit_hash_policy).
"""

from causeway.lab import nuttcp
from causeway.lab.channels import read_channel
from causeway.lab.faults import link_down
from causeway.lab.switching import deal_buckets
from causeway.lab.wait import until
from causeway.model.site import Port
from causeway.plan.paths import without_member
from causeway.scenario.stage import Stage
from causeway.scenario.streams import SECONDS, draw, end_of, judge, measure

PULLED = "eth3"


def play(stage: Stage) -> None:
    lab, whole = stage.lab, end_of(stage, "nsd01", "zam870")
    io_nodes = [(name, "b") for name in lab.booted_io_nodes()[:8]]
    fewer = without_member(stage.site, Port("nsd01", PULLED))

    def members_up() -> str:
        return " ".join(device for device, up in read_channel(lab, whole).members.items() if up)

    def switch_agrees() -> bool:
        return read_channel(lab, end_of(stage, "zam870", "nsd01")).negotiated

    def wait_for(members: list[str]) -> None:
        wanted = " ".join(members)
        until(f"{wanted} are up", lambda: "" if members_up() == wanted else members_up() or "none", deadline_s=10)

    with stage.healthy("four members are up, and eight streams get what is computed for four"):
        stage.compare("members up", " ".join(whole.members), members_up(), "", 0)
        judge(stage, "four members", measure(stage, whole, draw(stage, whole, io_nodes, "t")))

    with stage.perturb(f"the cable of nsd01's {PULLED} is pulled while eight streams transmit"):
        streams = draw(stage, whole, io_nodes, "t")
        servers = [stream.server for stream in streams]
        with nuttcp.servers(lab, servers), nuttcp.running(lab, streams, SECONDS) as transmitting:
            plug_in = link_down(lab, "nsd01", PULLED)
            stage.defer(plug_in)
            results = transmitting.results()

    with stage.observe("the bond goes on with three members"):
        left = [device for device in whole.members if device != PULLED]
        wait_for(left)

    with stage.judge("no stream was lost, and eight streams get what is computed for three members"):
        stage.compare("streams that went on to their end", len(streams), len(results), "streams", 0)
        stage.compare("members up, cable pulled", " ".join(left), members_up(), "", 0)
        with stage.as_if(fewer):
            three = end_of(stage, "nsd01", "zam870")
            judge(stage, "three members", measure(stage, three, draw(stage, three, io_nodes, "t")))

    with stage.contrast("with the cable back it is four members again, as computed"):
        plug_in()
        wait_for(list(whole.members))
        until("the switch takes it again", lambda: "" if switch_agrees() else "not yet", deadline_s=10)
        deal_buckets(lab)  # what the switch sends has moved, too, and does not move back by itself
        judge(stage, "four members again", measure(stage, whole, draw(stage, whole, io_nodes, "t")))

    with stage.restore("four members are up"):
        stage.compare("members up, afterwards", " ".join(whole.members), members_up(), "", 0)
