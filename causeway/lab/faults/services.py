"""Daemons that do not run, or not yet."""

import re

from causeway.errors import BadInput
from causeway.lab.faults.parameters import NodeName, Seconds, Service
from causeway.lab.faults.undo import Step, Undo, change
from causeway.lab.lab import Lab

#: Kernel threads: no process of a node, so the commands stand here (service node's /etc/init.d/bgl-boot).
_NFSD = "nfsd"
_NFSD_STOP, _NFSD_START = ("rpc.nfsd", "0"), ("rpc.nfsd", "-N", "3")
#: $0 is the daemon, "$@" how it is started. A start that is still to come (service_slow) is called off first.
_STOP = 'pkill -f "late-$0"; pkill -x "$0"; while pgrep -x "$0" >/dev/null; do sleep 0.05; done'
_START = 'pkill -f "late-$0"; pgrep -x "$0" >/dev/null || exec "$@" >/dev/null 2>&1'


def service_stopped(lab: Lab, node: NodeName, service: Service) -> Undo:
    """A daemon does not run on a node.

    Injected: it is ended as `pkill` ends it; the undo starts it as it was started. `nfsd` is the kernel's NFS server.
    Triggers: who asks it is refused (TCP) or gets no answer (UDP). What it has given goes on: sshd's sessions,
    DHCP's leases; a node's NFS mounts wait.
    Look: ask each daemon on each node for what it is there for, from another node.
    """
    if service == _NFSD:
        return change(lab, [Step(node, _NFSD_STOP)], [Step(node, _NFSD_START)])
    command = how_started(lab, node, service)
    return change(lab, [_stop(node, service)], [_start(node, service, command)])


def service_slow(lab: Lab, node: NodeName, service: Service, seconds: Seconds) -> Undo:
    """A daemon is restarted on a node, and takes its time to be there.

    Injected: it is ended, and started again as it was when the seconds are over.
    Triggers: for so long what `service_stopped` does, and then nothing: whoever did not try again goes without.
    Look: note when things that depend on each other were started, and which of them waits for the other.
    """
    if service == _NFSD:
        raise BadInput(f"{_NFSD} is the kernel's and there at once; name a daemon")
    command = how_started(lab, node, service)
    late = 'setsid sh -c \'sleep "$1"; shift; exec "$@"\' "late-$0" "$@" >/dev/null 2>&1 &'
    later = Step(node, ("sh", "-c", late, service, f"{seconds:g}", *command))
    return change(lab, [_stop(node, service), later], [_start(node, service, command)])


def restart(node: str, service: str, command: list[str]) -> list[Step]:
    """End a daemon, and start it anew."""
    return [_stop(node, service), _start(node, service, command)]


def how_started(lab: Lab, node: str, service: str) -> list[str]:
    """The command that a daemon was started with. BadInput when it does not run."""
    pid = lab.on(node, "pgrep", "-o", "-x", service).stdout.strip()
    if not pid:
        raise BadInput(f"{service} does not run on {node}; `causeway exec {node} -- ps ax` shows what does")
    words = lab.on(node, "cat", f"/proc/{pid}/cmdline").must().split("\0")
    # sshd's listener shows what it does in place of its arguments
    if title := re.match(r"sshd: (.*) \[listener\]", words[0]):
        return title[1].split()
    return [word for word in words if word]


def _stop(node: str, service: str) -> Step:
    return Step(node, ("sh", "-c", _STOP, service))


def _start(node: str, service: str, command: list[str]) -> Step:
    return Step(node, ("sh", "-c", _START, service, *command))
