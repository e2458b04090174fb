"""A cable that carries nothing and keeps its light is found by LACP alone: after 3 s, or after 90.

Claim: when nsd01's eth3 falls silent in both directions, miimon sees nothing, now or later. Until LACP has missed three
frames the channel goes on sending by it, and exactly the connections that hash to it, there or back, cannot be opened.
In slow rate, a frame in 30 s, each end takes the member out 90 s after the last frame that it heard; in fast rate, a
frame in 1 s, after 3 s. (A Linux bond counts these in steps of 0.1 s and a timer tick: 99 s and 3.3 s at 100 ticks.)

Cause: miimon asks the adapter for its carrier; that frames arrive, only the other end's frames can tell.

Source: Redpaper, "Setting up Linux bonding on the SN and FEN(s)": "You should also set the miimon option"; bonding.rst,
miimon and lacp_rate; IEEE 802.1AX, Short_Timeout_Time and Long_Timeout_Time.
"""

import re
import time
from ipaddress import IPv4Address

from causeway.lab.channels import read_channel
from causeway.lab.clock import tick_s
from causeway.lab.faults import Undo, link_silent
from causeway.lab.lacp import listening
from causeway.lab.reach import opened
from causeway.lab.wait import until
from causeway.model.site import Port
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_member
from causeway.plan.streams import StreamEnds, expect
from causeway.report.result import Table
from causeway.scenario.bonds import wait_until_negotiated
from causeway.scenario.stage import Stage
from causeway.scenario.streams import SOURCE_PORTS, address, end_of

SILENT = "eth3"
#: LACP's time-outs in seconds, three frames each.
TIMEOUT_S = {"slow": 90.0, "fast": 3.0}
#: The bonding driver counts a time-out in steps, each of which the kernel's timer makes longer by a tick.
STEP_S = 0.1
WHY = "this scenario looks at both ends 100 times in a time-out; and a step of 0.1 s may have begun before"
SSH = 22
#: label -> ((own address, own port), address)
Tries = dict[str, tuple[tuple[IPv4Address, int], IPv4Address]]


def connections(stage: Stage) -> tuple[Tries, str]:
    """Four connections from nsd01 to each I/O node; and those of them that fail when SILENT carries nothing."""
    members = end_of(stage, "nsd01", "zam870").members
    own, tries, lost = address(stage, "nsd01", "b"), {}, []
    for node in stage.lab.booted_io_nodes():
        for port in stage.random.sample(SOURCE_PORTS, 4):
            label, target = f"{port} > {node}", address(stage, node, "b")
            tries[label] = ((own, port), target)
            planned = expect(stage.site, [StreamEnds(label, "nsd01", (own, port), (target, SSH))])
            back = slb_member(mac_address(stage.site, Port(node, "eth0")), members)  # the same cable at either end
            if SILENT in (planned.member(label, "nsd01"), back):
                lost.append(label)
    return tries, ", ".join(sorted(lost))


def play(stage: Stage) -> None:
    lab = stage.lab
    server, switch = end_of(stage, "nsd01", "zam870"), end_of(stage, "zam870", "nsd01")
    ends = {"nsd01": (server, SILENT), "zam870": (switch, switch.members[server.members.index(SILENT)])}

    def speak(rate: str) -> None:
        """Have both ends ask for LACP's frames at a rate, for which a bond must be down; they agree anew."""

        def set_links(devices: list[str], state: str) -> None:
            script = f"for d; do ip link set $d {state} || exit; done"
            lab.on("nsd01", "sh", "-c", script, "sh", *devices).must()

        def still_there() -> str:
            return ", ".join(member for member, enabled in read_channel(lab, switch).members.items() if enabled)

        set_links([server.name, *server.members], "down")
        until("zam870 has seen the cables go", still_there, deadline_s=10)
        lab.on("nsd01", "ip", "link", "set", server.name, "type", "bond", "lacp_rate", rate).must()
        lab.on("zam870", "ovs-vsctl", "set", "port", switch.name, f"other_config:lacp-time={rate}").must()
        set_links([*server.members, server.name], "up")
        wait_until_negotiated(stage, [server, switch])

    def fall_silent() -> tuple[Undo, float, tuple[float, float]]:
        """Returns the undo, when it happened, and when nsd01 and zam870 had last heard of each other."""
        with listening(lab, "nsd01", SILENT) as last_heard:
            mend = link_silent(lab, "nsd01", SILENT)
            stage.defer(mend)
            cut = time.time()
            return mend, cut, last_heard(cut)

    def mii() -> str:
        text = lab.on("nsd01", "cat", f"/proc/net/bonding/{server.name}").must()
        found = re.search(rf"Slave Interface: {SILENT}\nMII Status: (\w+)", text)
        return found[1] if found else "no such member"

    def failing(tries: Tries) -> str:
        return ", ".join(sorted(set(tries) - set(opened(lab, "nsd01", tries))))

    def wait_until_out(rate: str) -> dict[str, float]:
        """When each end has taken the member out."""
        at: dict[str, float] = {}

        def still_in() -> str:
            for node, (end, member) in ends.items():
                if node not in at and not read_channel(lab, end).members[member]:
                    at[node] = time.time()
            return ", ".join(node for node in ends if node not in at)

        limit_s = TIMEOUT_S[rate]
        until("both ends have taken the member out", still_in, deadline_s=2 * limit_s, poll_s=limit_s / 100)
        return at

    rows = []

    def judge(rate: str, cut: float, heard: tuple[float, float], out: dict[str, float]) -> None:
        due = {"nsd01": TIMEOUT_S[rate] / STEP_S * (STEP_S + tick_s()), "zam870": TIMEOUT_S[rate]}
        for node, last in zip(ends, heard, strict=True):
            what = f"{rate}: from the last frame that {node} heard to {ends[node][1]} out"
            stage.compare(what, round(due[node], 2), round(out[node] - last, 2), "s", 0.05, WHY)
            rows.append([rate, f"{node}:{ends[node][1]}", f"{out[node] - cut:.2f}", f"{out[node] - last:.2f}"])
        stage.compare(f"{rate}: MII status of {SILENT}, member out", "up", mii(), "", 0)

    with stage.healthy("all members are in, and every connection can be opened"):
        tries, _ = connections(stage)
        stage.compare("connections that cannot be opened", "", failing(tries), "", 0)

    with stage.perturb(f"both ends speak in slow rate, and then the cable of nsd01's {SILENT} falls silent"):
        stage.defer(lambda: speak("fast"))
        speak("slow")
        mend, cut, heard = fall_silent()

    with stage.observe("the channel goes on sending by it, until both ends take it out"):
        tries, due = connections(stage)
        lost = failing(tries)
        mii_then = mii()
        out = wait_until_out("slow")

    with stage.judge("miimon saw nothing, and LACP took 90 s, in which exactly the computed connections failed"):
        stage.compare("MII status of the silent member", "up", mii_then, "", 0)
        stage.compare("connections that cannot be opened, silent", due, lost, "", 0)
        judge("slow", cut, heard, out)
        tries, _ = connections(stage)
        stage.compare("connections that cannot be opened, member out", "", failing(tries), "", 0)

    with stage.contrast("in fast rate the same silence lasts 3 s"):
        mend()
        speak("fast")
        _, cut, heard = fall_silent()
        judge("fast", cut, heard, wait_until_out("fast"))
        columns = ["LACP rate", "end", "out after the silence began, s", "after the last frame heard, s"]
        stage.show(Table("How long a silent member is sent by", columns, rows))

    with stage.restore("all members are in again, and every connection can be opened"):
        wait_until_negotiated(stage, [server, switch])
        tries, _ = connections(stage)
        stage.compare("connections that cannot be opened, afterwards", "", failing(tries), "", 0)
