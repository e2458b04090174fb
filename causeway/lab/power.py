"""Nodes that go down and come up again, as by `reboot`: with what is on their disks, and nothing else."""

from causeway.errors import LabBroken
from causeway.lab import pools
from causeway.lab.clock import Watch
from causeway.lab.lab import Lab
from causeway.lab.probes import neighbours
from causeway.lab.probes.channels import wait_for_channels
from causeway.lab.probes.switching import deal_buckets
from causeway.wait import until

#: A diskless node is given more: it loads its system over the network.
_REBOOT_S = 120


def reboot(lab: Lab, node: str) -> float:
    """Reboot a node and wait until it is up, and its channels; returns the seconds that took on the lab's clock.

    What an administrator starts by hand is not up by then: the daemons of parallel filesystems, and their mounts.
    LabBroken where it does not come up.
    """
    watch = Watch()
    if pools.console_log(lab, node) is not None:
        if (ended := pools.restart(lab, [node])[node]) != "up":
            raise LabBroken(f"{node} is {ended}")
        return watch.virtual_s
    state = lab.file(node, "/run/node-state")
    before = state.stat().st_mtime_ns
    lab.on(node, "reboot")  # who says so is ended by it, so the exit code says nothing

    def not_up() -> str:
        try:
            written, said = state.stat().st_mtime_ns, state.read_text().strip()
        except FileNotFoundError:
            return f"{node} is starting"
        if said.startswith("failed"):
            raise LabBroken(f"{node} is {said}")
        return "" if said == "up" and written != before else f"{node} is {said}"

    until(f"{node} is up again", not_up, deadline_s=_REBOOT_S)
    pairs = [ends for _, *ends in lab.site.channel_ends() if ends[0].node == node]
    wait_for_channels(lab, [end for both in pairs for end in both], lambda _: None)
    if lab.site.nodes[node].switch:
        deal_buckets(lab)
    neighbours.settle(lab)
    return watch.virtual_s
