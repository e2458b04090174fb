"""Daemons that do not run, or not yet."""

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.changes.daemons import how_started, start, start_late, stop
from causeway.lab.faults.parameters import NodeName, Seconds, Service
from causeway.lab.lab import Lab

#: Kernel threads: no process of a node, so the commands stand here (service node's /etc/init.d/bgl-boot).
_NFSD = "nfsd"
_NFSD_STOP, _NFSD_START = ("rpc.nfsd", "0"), ("rpc.nfsd", "-N", "3")


def service_stopped(lab: Lab, node: NodeName, service: Service) -> Change:
    """A daemon does not run on a node.

    Injected: it is ended as `pkill` ends it; the undo starts it as it was started. `nfsd` is the kernel's NFS server.
    Triggers: who asks it is refused (TCP) or gets no answer (UDP). What it has given goes on: sshd's sessions,
    DHCP's leases; a node's NFS mounts wait.
    Look: ask each daemon on each node for what it is there for, from another node.
    """
    title = f"{service} does not run on {node}"
    if service == _NFSD:
        return Change(title, (Step(node, _NFSD_STOP),), (Step(node, _NFSD_START),))
    command = how_started(lab, node, service)
    return Change(title, (stop(node, service),), (start(node, service, command),))


def service_slow(lab: Lab, node: NodeName, service: Service, seconds: Seconds) -> Change:
    """A daemon is restarted on a node, and takes its time to be there.

    Injected: it is ended, and started again as it was when the seconds are over.
    Triggers: for so long what `service_stopped` does, and then nothing: whoever did not try again goes without.
    Look: note when things that depend on each other were started, and which of them waits for the other.
    """
    if service == _NFSD:
        raise BadInput(f"{_NFSD} is the kernel's and there at once; name a daemon")
    command = how_started(lab, node, service)
    there = (stop(node, service), start_late(node, service, seconds, command))
    return Change(f"{service} of {node} takes {seconds:g} s to start", there, (start(node, service, command),))
