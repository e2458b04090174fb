"""Tunables of a node's network with other values than the site has given them."""

from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab


def kernel_setting(lab: Lab, node: str, key: str, value: int | str) -> Change:
    """A tunable of a node's network (net.ipv4.conf.all.rp_filter) has another value."""
    before = _sysctl(node, "-n", key).take(lab).strip()
    there, back = (_sysctl(node, "-qw", f"{key}={setting}") for setting in (value, before))
    return Change(f"{key} is {value} on {node}", (there,), (back,))


def _sysctl(node: str, *words: str) -> Step:
    return Step(node, ("sysctl", *words))
