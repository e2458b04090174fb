"""What native commands do to a site: iproute2's, sysctl, bonding's files in /sys, and some of ovs-vsctl."""

import re
import shlex
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Interface

from causeway.model.topology import AIX_POLICIES, CISCO_POLICIES, Route
from causeway.rehearse.state import Fails, NotPredicted, State, destination

_BONDING = re.compile(r"/sys/class/net/(?P<device>[^/]+)/bonding/(?P<file>[a-z_]+)")
_MTU = re.compile(r"/sys/class/net/(?P<device>[^/]+)/mtu")
#: Asks for something, and changes nothing.
_ASKING = {"show", "list", "get", "ls"}
#: Programs that only look, or wait.
_LOOKING = {"cat", "ping", "sleep", "true", "echo", "tracepath", "grep"}


def apply(state: State, node: str, command: str) -> None:
    """Do to a site what root's command does on a node.

    Raises Fails when the command would, and NotPredicted for what is not interpreted.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise NotPredicted(f"a shell's quotes: {error}") from None
    if any(sign in word for word in words for sign in ("|", ";", "&", "$", "`", "*", "<")):
        raise NotPredicted("more than a single command")
    if not words:
        return
    with state.all_or_nothing():
        if ">" in words:
            _write(state, node, words)
        elif words[0] in _PROGRAMS:
            _PROGRAMS[words[0]](state, node, words[1:])
        elif words[0] not in _LOOKING:
            raise NotPredicted(f"what {words[0]} does")


def _write(state: State, node: str, words: list[str]) -> None:
    """`echo VALUE > FILE` for files of /sys."""
    if words[0] != "echo" or words.index(">") != len(words) - 2:
        raise NotPredicted("a file that is written")
    value, file = " ".join(words[1:-2]), words[-1]
    if found := _MTU.fullmatch(file):
        state.set_mtu(node, found["device"], _number(value))
        return
    found = _BONDING.fullmatch(file)
    if found is None:
        raise NotPredicted(f"what is written to {file}")
    if found["file"] == "xmit_hash_policy":
        state.set_policy(node, found["device"], value)
    elif found["file"] == "slaves" and value[:1] in ("+", "-"):
        (state.take_out if value[0] == "-" else state.put_back)(node, found["device"], value[1:])
    else:
        raise NotPredicted(f"bonding's {found['file']}")


def _ip(state: State, node: str, words: list[str]) -> None:
    words = [word for word in words if word != "-4"]
    for name, does in (("route", _route), ("link", _link), ("address", _address)):
        if words and name.startswith(words[0]):
            if len(words) > 1 and words[1] not in _ASKING:
                does(state, node, words[1], words[2:])
            return
    raise NotPredicted(f"ip {' '.join(words[:1])}")


def _route(state: State, node: str, does: str, words: list[str]) -> None:
    if does in ("add", "append", "replace", "change"):
        route, device = read_route(words)
        if does == "append":
            raise NotPredicted("a route beside one of the same metric")
        if does == "change":
            state.remove_route(node, state.site.destination(route), None, route.metric)
        if device is not None:
            _same_device(state, node, route, device)
        state.add_route(node, route, instead=does == "replace")
    elif does in ("del", "delete"):
        known = dict(_pairs(words[1:], ("via", "metric", "dev")))
        metric = _number(known["metric"]) if "metric" in known else None
        state.remove_route(node, destination(_first(words)), _address_of(known.get("via")), metric)
    else:
        raise NotPredicted(f"ip route {does}")


def read_route(words: list[str]) -> tuple[Route, str | None]:
    """A route as ip-route(8) is told it, and the device that it names.

    Raises Fails where ip would, NotPredicted for what a site's file has no word for.
    """
    to, rest = destination(_first(words)), words[1:]
    hops = [index for index, word in enumerate(rest) if word == "nexthop"]
    single = rest[: hops[0]] if hops else rest
    known = dict(_pairs(single, ("via", "dev", "metric", "mtu", "src")))
    gateways = [known["via"]] if "via" in known else []
    for begin, end in zip(hops, [*hops[1:], len(rest)], strict=False):
        gateways += [dict(_pairs(rest[begin + 1 : end], ("via", "dev"))).get("via", "")]
    if not gateways:
        raise NotPredicted("a route without a gateway")
    route = Route(
        to=to,
        via=[_address_of(gateway) for gateway in gateways],  # type: ignore[misc]
        metric=_number(known.get("metric", "0")),
        mtu=_number(known["mtu"]) if "mtu" in known else None,
        src=_address_of(known.get("src")),
    )
    return route, known.get("dev")


def _same_device(state: State, node: str, route: Route, device: str) -> None:
    """A gateway must be where the model says that it is: on the network of that device."""
    leg = state.site.nodes[node].interfaces.get(device)
    if leg is None or route.via[0] not in state.site.topology.networks[leg.network].subnet:
        raise Fails("Error: Nexthop has invalid gateway.")


def _link(state: State, node: str, does: str, words: list[str]) -> None:
    if does != "set":
        raise NotPredicted(f"ip link {does}")
    words = words[1:] if words[:1] == ["dev"] else words
    device, rest = _first(words), words[1:]
    while rest:
        if rest[0] == "mtu":
            state.set_mtu(node, device, _number(_first(rest[1:])))
            rest = rest[2:]
        elif rest[0] in ("up", "down"):
            (state.switch_on if rest[0] == "up" else state.switch_off)(node, device)
            rest = rest[1:]
        else:
            raise NotPredicted(f"ip link set {rest[0]}")


def _address(state: State, node: str, does: str, words: list[str]) -> None:
    known = dict(_pairs(words[1:], ("dev", "broadcast", "brd")))
    try:
        address = IPv4Interface(_first(words))
    except ValueError:
        raise Fails(f'Error: any valid prefix is expected rather than "{words[0]}".') from None
    if "dev" not in known:
        raise Fails('Not enough information: "dev" argument is required.')
    if does == "add":
        state.add_address(node, known["dev"], address)
    elif does in ("del", "delete"):
        state.remove_address(node, known["dev"], address.ip)
    else:
        raise NotPredicted(f"ip address {does}")


def _sysctl(state: State, node: str, words: list[str]) -> None:
    for word in words:
        if word.startswith("-"):
            if set(word[1:]) - set("wqe"):
                raise NotPredicted(f"sysctl {word}")
        elif "=" in word:
            key, _, value = word.partition("=")
            state.set_tunable(node, key.strip().replace("/", "."), value.strip())


def _ovs_vsctl(state: State, node: str, words: list[str]) -> None:
    if len(words) < 4 or words[0] != "set":
        raise NotPredicted(f"ovs-vsctl {' '.join(words[:1])}")
    table, record, columns = words[1].lower(), words[2], dict(word.partition("=")[::2] for word in words[3:])
    for column, value in columns.items():
        if (table, column) == ("port", "bond_mode"):
            state.set_policy(node, record, value)
        elif (table, column) == ("interface", "mtu_request"):
            state.set_mtu(node, record, _number(value))
        else:
            raise NotPredicted(f"ovs-vsctl set {words[1]} {column}")


def _bond_policy(state: State, node: str, words: list[str]) -> None:
    """nodes/bonding: a host's bond sends by AIX's policies, a switch's by Cisco's."""
    if len(words) > 1:
        own = CISCO_POLICIES if state.site.nodes[node].switch else AIX_POLICIES
        state.set_policy(node, words[0], " ".join(words[1:]), own)


_PROGRAMS: dict[str, Callable[[State, str, list[str]], None]] = {
    "ip": _ip,
    "sysctl": _sysctl,
    "ovs-vsctl": _ovs_vsctl,
    "bond-policy": _bond_policy,
}


def _first(words: list[str]) -> str:
    if not words:
        raise Fails("the command ends too early")
    return words[0]


def _pairs(words: list[str], known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """KEY VALUE KEY VALUE; NotPredicted for other keys."""
    for key, value in zip(words[::2], [*words[1::2], ""], strict=False):
        if key not in known:
            raise NotPredicted(key)
        yield key, _first([value] if value else [])


def _number(text: str) -> int:
    if not text.isdecimal():
        raise Fails(f"{text!r} is no number")
    return int(text)


def _address_of(text: str | None) -> IPv4Address | None:
    try:
        return IPv4Address(text) if text is not None else None
    except ValueError:
        raise Fails(f'Error: any valid address is expected rather than "{text}".') from None
