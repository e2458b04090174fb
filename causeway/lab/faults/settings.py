"""Tunables of a node's network with other values than the site has given them."""

from causeway.lab.faults.undo import Step, Undo, change
from causeway.lab.lab import Lab


def kernel_setting(lab: Lab, node: str, key: str, value: int) -> Undo:
    """A tunable of a node's network (net.ipv4.conf.all.rp_filter) has another value."""
    before = _sysctl(node, "-n", key).take(lab).strip()
    return change(lab, [_sysctl(node, "-qw", f"{key}={value}")], [_sysctl(node, "-qw", f"{key}={before}")])


def _sysctl(node: str, *words: str) -> Step:
    return Step(node, ("sysctl", *words))
