"""What the kernel and Open vSwitch say of a lab's channels."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from causeway.lab.lab import Lab
from causeway.model.topology import ChannelEnd
from causeway.process import run
from causeway.render.network import BOND_POLICY
from causeway.wait import until

#: LACP in fast rate agrees within 3 frames a second apart, and looks again for a partner that it has lost within 30 s.
_NEGOTIATE_S = 60
#: LACP's bit for "sends through this port" (IEEE 802.1AX, Actor_State).
_DISTRIBUTING = 0x20


@dataclass(frozen=True)
class ChannelState:
    """One end of a channel as its node reports it."""

    node: str
    name: str
    mode: str
    hash_policy: str
    negotiated: bool
    members: dict[str, bool]  # device -> whether frames may leave through it


def read_channel(lab: Lab, end: ChannelEnd) -> ChannelState:
    """The state of a channel's end, from /proc/net/bonding or from ovs-appctl."""
    if not lab.site.is_linux_bond(end):
        return _read_ovs(lab, end)
    text = lab.on(end.node, "cat", f"/proc/net/bonding/{end.name}").must()
    state = parse_bonding(end, text)
    return replace(state, hash_policy=policy_in_force(lab, end)) if state.hash_policy == "encap3+4" else state


def wait_for_channels(lab: Lab, ends: Iterable[ChannelEnd], progress: Callable[[str], None]) -> None:
    """Wait until ends of channels are negotiated. LabBroken where they are not, with those that are left."""
    left = list(ends)

    def not_negotiated() -> str:
        nonlocal left
        left = [end for end in left if not read_channel(lab, end).negotiated]
        progress(f"{len(left)} channel ends still negotiating")
        return ", ".join(f"{end.node}:{end.name}" for end in left)

    until("every channel is negotiated", not_negotiated, deadline_s=_NEGOTIATE_S, poll_s=1)


def policy_in_force(lab: Lab, end: ChannelEnd) -> str:
    """The policy that a Linux bond sends by, another maker's, too."""
    return run(lab.enter(end.node, ["python3", "-", end.name]), stdin=BOND_POLICY.read_text()).must().strip()


def parse_bonding(end: ChannelEnd, text: str) -> ChannelState:
    """Read /proc/net/bonding/NAME as root sees it.

    Negotiated: all members are up, and with LACP in the active aggregator, with a partner. Where no member has one
    the bond sends by those of the active aggregator, one as a rule, and says of none that it distributes
    (ad_agg_selection_logic).
    """
    head, *parts = text.split("\nSlave Interface: ")
    mode, active = _field(head, "Bonding Mode"), _field(head, "Aggregator ID")
    lacp = "802.3ad" in mode
    has_partner = not lacp or _field(head, "Partner Mac Address") not in ("", "00:00:00:00:00:00")
    members = {}
    for part in parts:
        device = part.split("\n", 1)[0].strip()
        up = _field(part, "MII Status") == "up"
        # the first is the actor's own; a member that LACP has taken out keeps its aggregator for a while
        distributes = int(_field(part, "port state") or 0) & _DISTRIBUTING
        chosen = active != "" and _field(part, "Aggregator ID") == active
        members[device] = up and (not lacp or (chosen and (bool(distributes) or not has_partner)))
    return ChannelState(
        node=end.node,
        name=end.name,
        mode="802.3ad" if lacp else mode,
        hash_policy=_field(head, "Transmit Hash Policy").split(" ")[0],
        negotiated=has_partner and {d for d, up in members.items() if up} == set(end.members),
        members=members,
    )


def _field(text: str, name: str) -> str:
    match = re.search(rf"^\s*{re.escape(name)}(?: \(\d\))?:\s*(.*)$", text, re.MULTILINE)
    return match.group(1).strip() if match else ""


def _read_ovs(lab: Lab, end: ChannelEnd) -> ChannelState:
    text = lab.on(end.node, "ovs-appctl", "bond/show", end.name).must()
    return parse_ovs_bond(end, text)


def parse_ovs_bond(end: ChannelEnd, text: str) -> ChannelState:
    """Read `ovs-appctl bond/show NAME`."""
    members = {name: state == "enabled" for name, state in re.findall(r"^member (\S+): (\w+)", text, re.MULTILINE)}
    return ChannelState(
        end.node,
        end.name,
        "802.3ad",
        _field(text, "bond_mode"),
        _field(text, "lacp_status") == "negotiated" and {m for m, up in members.items() if up} == set(end.members),
        members,
    )


def parse_ovs_bonds(text: str) -> dict[str, str]:
    """Read `ovs-appctl bond/show`: what it says of each bond, by the bond's name."""
    _, *parts = re.split(r"^---- (\S+) ----$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))
