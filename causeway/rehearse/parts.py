"""A change in the parts in which an administrator makes it: commands, files and the reloads that belong to them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from shlex import quote

from causeway.errors import BadInput
from causeway.model.site import Site
from causeway.model.topology import ChannelEnd
from causeway.rehearse.change import Carried, Change, carried
from causeway.rehearse.interfaces import stanzas
from causeway.render.secrets import Secrets
from causeway.render.site import render


@dataclass(frozen=True)
class Command:
    """A line that root types on a node."""

    node: str
    line: str

    def __str__(self) -> str:
        return f"{self.node}# {self.line}"


@dataclass(frozen=True)
class Put:
    """A file that a node gets, with its path as it stands there."""

    node: str
    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.node}: {self.path} is another one"


@dataclass(frozen=True)
class Part:
    """What is done before anybody looks again; `after` is the site then, where that is computed, and `refused` what
    could not be mounted anew: (cluster, filesystem) -> why."""

    title: str
    acts: tuple[Command | Put | Carried, ...]
    after: Site | None
    refused: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def nodes(self) -> list[str]:
        """Whom it is about."""
        return list(dict.fromkeys(act.node for act in self.acts))


#: Of native files what has them read again, by their paths; $ is the path. Those without are read when they are used.
_RELOADS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("etc/sysctl.d/*.conf", ("sysctl -e -q -p $",)),  # -e: net.core's are the kernel's, for all nodes at once
    ("etc/exports", ("exportfs -ra",)),
    ("etc/chrony/chrony.conf", ("stop-daemon chronyd", "chronyd -x")),
    ("etc/ssh/sshd_config", ("pkill -HUP -o -x sshd",)),
    ("etc/bind/*", ("pkill -HUP -x named",)),
    ("etc/hosts", ()),
    ("etc/resolv.conf", ()),
    ("etc/ssh/ssh_known_hosts", ()),
    ("root/.ssh/*", ()),
)
_INTERFACES = "etc/network/interfaces"
_SWITCH = "etc/openvswitch/switch"
#: What comes with the commands for a switch and with a node's interfaces.
_DONE_OTHERWISE = ("ports", _SWITCH)


def parts(change: Change) -> list[Part]:
    """The parts, in the order in which they are made. BadInput with every reason why one cannot be made in a lab."""
    if change.steps:
        found = _of_commands(change)
    elif change.overlay:
        texts = [why for why in change.unpredicted if why.endswith("this is no text")]
        found, refused = _of_files(change.before, change.overlay)
        _refuse([*texts, *refused])
    else:
        found = _of_versions(change.before, change.after)
    off = {node for part in found for node in part.nodes if not change.before.comes_up(node)}
    _refuse(f"{node} is off when the lab comes up, and nothing can be done on it" for node in sorted(off))
    if not found:
        raise BadInput("this changes nothing on any node; say --predict to see what it moves")
    return found


def parts_back(commands: list[tuple[int, list[str], str]]) -> list[Part]:
    """The user's own way back, read as commands are."""
    return [Part(f"line {line}: {command}", _typed(nodes, command), None) for line, nodes, command in commands]


def _typed(nodes: list[str], line: str) -> tuple[Command | Carried, ...]:
    file = carried(line)
    return (file,) if file is not None else tuple(Command(node, line) for node in nodes)


def _refuse(reasons: Iterator[str] | list[str]) -> None:
    if found := list(reasons):
        raise BadInput("\n".join(f"{why}; --predict says what it moves" for why in found))


def _of_commands(change: Change) -> list[Part]:
    return [
        Part(
            f"line {step.line}: {step.command}",
            _typed(step.nodes, step.command),
            step.after,
            {(client, name): why for client, name, why in step.keys.refused()},
        )
        for step in change.steps
    ]


def _of_files(site: Site, overlay: Mapping[str, Mapping[str, str]]) -> tuple[list[Part], list[str]]:
    """Node by node in the site's order: what must go down goes, files are put, and what reads them reads them."""
    rendered = render(site, Secrets(site))
    found, refused = [], []
    for node in sorted(overlay, key=list(site.nodes).index):
        before: list[str] = []
        after: list[str] = []
        puts = [Put(node, f"/{path}", text) for path, text in overlay[node].items()]
        for path, text in overlay[node].items():
            reload = next((lines for pattern, lines in _RELOADS if fnmatchcase(path, pattern)), None)
            if path == _INTERFACES:
                old = rendered.get(f"nodes/{node}/{path}")
                down, up = _moved(old.text if old else "", text)
                before += [f"ifdown {device}" for device in reversed(down)]
                after += [f"ifup {device}" for device in up]
            elif reload is None:
                refused.append(f"{node}: /{path}: it is not known what has a node take such a file")
            else:
                after += [line.replace("$", quote(f"/{path}")) for line in reload]
        lines = [Command(node, line) for line in before], [Command(node, line) for line in dict.fromkeys(after)]
        title = f"{node}: {', '.join(put.path for put in puts)}"
        found.append(Part(title, (*lines[0], *puts, *lines[1]), None))
    return found, refused


def _moved(old: str, new: str) -> tuple[list[str], list[str]]:
    """The interfaces that go down because they are others or gone, and those that come up, in their files' order."""
    was, now = ({s.device: (s.method, s.options) for s in stanzas(text)[0]} for text in (old, new))
    down = [device for device, about in was.items() if now.get(device) != about]
    return down, [device for device, about in now.items() if was.get(device) != about]


def _of_versions(before: Site, after: Site) -> list[Part]:
    """Two versions of a site's file: switches first, by their own commands, then nodes by the files that differ."""
    _refuse(_fixed(before, after))
    old, new = Secrets(before), Secrets(after)
    new.host, new.root = old.host, old.root
    was, now = render(before, old), render(after, new)
    overlay: dict[str, dict[str, str]] = {}
    refused = []
    for path in sorted(was.keys() | now.keys()):
        top, _, rest = path.partition("/")
        node, _, own = rest.partition("/")
        if top != "nodes" or was.get(path) == now.get(path) or own in _DONE_OTHERWISE:
            continue
        if path not in now or path not in was:
            refused.append(f"{node}: /{own}: a file that comes or goes")
        elif node in before.diskless() or before.pool_name(node) in before.boot_pools():
            refused.append(f"{node}: /{own}: it boots over the network, and takes files then")
        elif own.startswith(("etc/ssh/", "root/.ssh/")):
            refused.append(f"{node}: /{own}: it has keys, which are a lab's own; log in and change it by commands")
        elif any(line.startswith("net.core.") for line in _differing(was[path].text, now[path].text)):
            refused.append(f"{node}: /{own}: net.core's tunables are the kernel's, for all nodes at once")
        else:
            overlay.setdefault(node, {})[own] = now[path].text
    switches = [
        Part(f"{name}: its ports and channels", tuple(Command(name, line) for line in lines), None)
        for name in before.switches()
        if (lines := list(_switch(before, after, name)))
    ]
    found, more = _of_files(before, overlay)
    _refuse([*refused, *more])
    return [*switches, *found]


def _differing(one: str, other: str) -> set[str]:
    return set(one.splitlines()) ^ set(other.splitlines())


def _fixed(before: Site, after: Site) -> Iterator[str]:
    """What of a lab that is up nobody can change: who is there, what is plugged in, what boots and what is mounted."""
    for name in sorted(before.nodes.keys() ^ after.nodes.keys()):
        comes = "comes" if name in after.nodes else "goes"
        yield f"node {name} {comes}: nothing is plugged into a lab that is up, or out of it"
    if before.nodes.keys() != after.nodes.keys():
        return
    for cable in sorted(set(before.cables) ^ set(after.cables), key=str):
        yield f"the cable {cable.a} - {cable.b}: it comes, goes, or is of another rate or length"
    for name, node in before.nodes.items():
        then = after.nodes[name]
        if (node.switch, node.forwarding) != (then.switch, then.forwarding):
            yield f"{name}: it switches otherwise"
        if name in before.diskless() and node != then:
            yield f"{name}: it boots over the network, and takes what is new then"
    was, now = ({(e.node, e.name): (c, e) for c, e, _ in site.channel_ends()} for site in (before, after))
    for key in sorted(was.keys() | now.keys()):
        if key not in was or key not in now or _made(before, *was[key]) != _made(after, *now[key]):
            yield f"{key[0]}:{key[1]}: a channel of other members, or one that agrees otherwise"
    if before.topology.filesystems != after.topology.filesystems:
        yield "filesystems: their administrators make and remove them, by commands"
    for name, cluster in before.topology.clusters.items():
        now_is = after.topology.clusters.get(name, cluster)
        if cluster.mounts != now_is.mounts:
            yield f"cluster {name}: its administrator mounts, by commands"
        if cluster.failure_detection_s != now_is.failure_detection_s:
            yield f"cluster {name}: its administrator says when a node is lost, by commands"


def _made(site: Site, channel: object, end: ChannelEnd) -> object:
    """What of a channel's end a command cannot change while it carries something."""
    return end.members, end.protocol, getattr(channel, "lacp_rate", None), site.is_linux_bond(end)


def _switch(before: Site, after: Site, name: str) -> Iterator[str]:
    """The commands that give a switch other policies and frames of another size."""
    network = before.nodes[name].switch or ""
    own = before.nodes[name].interfaces
    mtu = after.topology.networks[network].mtu
    if mtu != before.topology.networks[network].mtu:
        ports = [end.device for cable in before.cables for end in cable.ends if end.node == name]
        yield from (f"ip link set {port} mtu {mtu}" for port in ports if port not in own)
        yield f"ovs-vsctl set interface br-{network} mtu_request={mtu}"
    ends = [(a, b) for (_, a, _), (_, b, _) in zip(before.channel_ends(), after.channel_ends(), strict=True)]
    for old, new in ends:
        if old.node == name and old.name not in own and old.hash_policy != new.hash_policy:
            if after.is_linux_bond(new):
                yield f'bond-policy {new.name} "{new.hash_policy}"'
            else:
                yield f"ovs-vsctl set port {new.name} bond_mode={new.hash_policy}"
