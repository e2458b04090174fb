"""/etc/network/interfaces: what a node gets of it. Source: interfaces(5), interfaces-bond(5)."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Interface

from causeway.rehearse.commands import apply
from causeway.rehearse.state import Fails, NotPredicted, State

#: What the prediction does not ask: how fast a bond notices things, and what is for people.
_PASSED_OVER = ("bond-miimon", "bond-lacp-rate", "bond-downdelay", "bond-updelay", "broadcast", "network")


@dataclass
class Stanza:
    """An interface: its options in their order, each with its words."""

    device: str
    method: str
    options: list[tuple[str, str]] = field(default_factory=list)

    def option(self, *names: str) -> str | None:
        return next((value for name, value in self.options if name in names), None)


def stanzas(text: str) -> tuple[list[Stanza], list[str]]:
    """The interfaces that come up by themselves, in the order of the file; and the lines that are not interpreted."""
    found: list[Stanza] = []
    auto: list[str] = []
    strange: list[str] = []
    here: Stanza | None = None
    for line in text.replace("\\\n", " ").splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] in ("auto", "allow-auto"):
            auto += words[1:]
            here = None
        elif words[0] == "iface" and len(words) > 3 and words[2] == "inet":
            here = Stanza(words[1], words[3])
            found.append(here)
        elif words[0] in ("iface", "source", "source-directory", "mapping", "allow-hotplug", "no-auto-down"):
            strange.append(line.strip())
            here = None
        elif here is not None:
            here.options.append((words[0].replace("_", "-"), line.split(None, 1)[1].strip() if len(words) > 1 else ""))
        else:
            strange.append(line.strip())
    return sorted((s for s in found if s.device in auto), key=lambda s: auto.index(s.device)), strange


def apply_file(state: State, node: str, text: str) -> Iterator[str]:
    """Give a node the interfaces, channels and routes of a file; yields what is not predicted, and what would fail."""
    wanted, strange = stanzas(text)
    yield from (f"{line!r} is not interpreted" for line in strange)
    for device, leg in state.site.nodes[node].interfaces.items():
        state.remove_address(node, device, leg.address)
    state.clear_routes(node)
    for stanza in wanted:
        if stanza.method == "loopback":
            continue
        if stanza.method != "static":
            yield f"{stanza.device}: inet {stanza.method} is not interpreted"
            continue
        for does in _channel, _address, _rest:
            try:
                with state.all_or_nothing():
                    yield from (f"{stanza.device}: {said}" for said in does(state, node, stanza))
            except NotPredicted as why:
                yield f"{stanza.device}: {why}"
            except Fails as why:
                yield f"ifup {stanza.device} fails: {why}"


def _address(state: State, node: str, stanza: Stanza) -> Iterator[str]:
    address, netmask, mtu = stanza.option("address"), stanza.option("netmask"), stanza.option("mtu")
    try:
        whole = IPv4Interface(f"{address}/{netmask}" if netmask else str(address))
    except ValueError:
        raise Fails(f"{address} is no address with a prefix") from None
    state.add_address(node, stanza.device, whole)
    if mtu is not None:
        state.set_mtu(node, stanza.device, int(mtu) if mtu.isdecimal() else 0)
    yield from ()


def _channel(state: State, node: str, stanza: Stanza) -> Iterator[str]:
    slaves, policy = stanza.option("bond-slaves"), stanza.option("bond-xmit-hash-policy")
    if slaves is None:
        return
    protocol = state.protocol(node, stanza.device)
    if (mode := stanza.option("bond-mode")) not in _MODES[protocol]:
        raise NotPredicted(f"a bond of mode {mode}, where its channel's ends are of protocol {protocol}")
    wanted = slaves.split()
    for member in state.members(node, stanza.device):
        if member not in wanted:
            state.take_out(node, stanza.device, member)
    for member in wanted:
        state.put_back(node, stanza.device, member)
    state.set_policy(node, stanza.device, policy or "layer2")  # bonding.rst: the default
    yield from ()


def _rest(state: State, node: str, stanza: Stanza) -> Iterator[str]:
    for name, value in stanza.options:
        try:
            if name in ("up", "post-up"):
                apply(state, node, " ".join(shlex.split(value)) if value else "")
            elif name == "gateway":
                apply(state, node, f"ip route add default via {value}")
            elif name not in ("address", "netmask", "mtu", *_PASSED_OVER) and not name.startswith(_CHANNEL):
                yield f"{name} is not interpreted"
        except NotPredicted as why:
            yield f"{name} {value}: {why}"
        except Fails as why:
            yield f"{name} {value} fails: {why}"


#: By name and number (bonding.rst, mode).
_MODES = {"lacp": ("802.3ad", "4"), "static": ("balance-xor", "2")}
_CHANNEL = ("bond-slaves", "bond-mode", "bond-xmit-hash-policy")
