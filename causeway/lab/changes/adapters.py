"""Adapters that are set otherwise than nodes/base/adapters sets them."""

from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab
from causeway.model.topology import ChannelEnd

_SETTINGS = ("gro_flush_timeout", "napi_defer_hard_irqs")


def without_coalescing(lab: Lab, host: ChannelEnd) -> Change:
    """The adapters of a host's channel hand on every frame at once."""
    there, back = [], []
    for device in host.members:
        gro = Step(host.node, ("ethtool", "-k", device)).take(lab)
        on = "on" if "generic-receive-offload: on" in gro else "off"
        there.append(Step(host.node, ("ethtool", "-K", device, "gro", "off")))
        back.append(Step(host.node, ("ethtool", "-K", device, "gro", on)))
        for setting in _SETTINGS:
            file = f"/sys/class/net/{device}/{setting}"
            before = Step(host.node, ("cat", file)).take(lab).strip()
            there.append(_written(host.node, file, "0"))
            back.append(_written(host.node, file, before))
    return Change(f"{host.node}'s adapters do not coalesce", tuple(there), tuple(back))


def _written(node: str, file: str, value: str) -> Step:
    return Step(node, ("sh", "-c", 'echo "$1" >"$0"', file, value))
