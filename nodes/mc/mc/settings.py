"""mcchconfig, mclsconfig: the cluster's attributes."""

import argparse
import re

from mc import config as configuration
from mc import drivers, leases, native, states
from mc.config import Config, Node, NodeSetting
from mc.native import Refused
from mc.table import show

#: A page pool may take one in so many parts of a node's memory (Redpaper: "must not exceed 50%").
_SHARE = 2
_KIB = {"K": 1, "M": 2**10, "G": 2**20}
#: GPFS's own, and that of write-behind's cache, which a page pool is here (KiB).
_LEAST_POOL_KIB, _LARGEST_POOL_KIB = 4 * 2**10, 2**20
#: The sizes that a block may have (KiB).
_BLOCKS_KIB = (16, 64, 128, 256, 512, 1024)


def change(args: argparse.Namespace) -> None:
    """Change an attribute: cipherList=AUTHONLY (keys are used from then on), pingTimeout=SECONDS,
    failureDetectionTime=SECONDS (nodes that begin from then on expel who cannot reach a peer for so long),
    subnets=NETWORK/LENGTH,... (by which they talk where both have an address there),
    pagepool=SIZE (what a client may hold back of a file that is written, from its next mount on; at most half of a
    node's memory; -N for some nodes only), maxblocksize=SIZE (how much of it a client sends at once, at most),
    autoload=yes|no (daemons are started when nodes boot), uidDomain=NAME (kept and shown, and no more: users' numbers
    are the same in all clusters, as at home, where nothing mapped them); DEFAULT takes all but the first two away.

    Native: {attributes}; `ssh` asks whether daemons are down, `cat /proc/meminfo` and `ssh` for
    memory; changes `gen/settings`, with -N node_settings there; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    attribute, _, value = args.setting.partition("=")
    with configuration.change() as config:
        known = {"cipherList": _cipher_list, **_OPTIONAL, **drivers.of(config).ATTRIBUTES}
        if attribute not in known and attribute != _POOL:
            raise Refused(f"there is no attribute {attribute!r}; the attributes are {', '.join([*known, _POOL])}")
        if args.nodes and attribute != _POOL:
            raise Refused(f"{attribute} is the same on all nodes; -N is for {_POOL}")
        on = states.chosen(config, args.nodes) if args.nodes else []
        if value == _DEFAULT and attribute in (*_OPTIONAL, _POOL):
            _forget(config, attribute, on)
        elif attribute == _POOL:
            _pagepool(config, value, on or config.nodes)
            _keep(config, value, on)
        else:
            known[attribute](config, value)
            config.settings[attribute] = value
    where = f"on {args.nodes}" if args.nodes else f"in cluster {config.name}"
    print(f"{attribute} is {value} {where}")


def show_all(args: argparse.Namespace) -> None:
    """List the attributes; those that nodes have of their own with their names."""
    config = configuration.load()
    about = {"clusterName": config.name, "clusterId": config.id}
    own = [(f"{row.attribute} [{row.node}]", row.value) for row in config.node_settings]
    show(["attribute", "value"], [*(about | config.settings).items(), *own], args.json)


def kib(size: str) -> int:
    """Read a size, as 128M or 1024K; Refused where it is none."""
    match = re.fullmatch(r"([1-9]\d{0,8})([KMG])", size)
    if not match:
        raise Refused(f"{size!r} is no size; give it as 1024K, 128M or 1G")
    return int(match[1]) * _KIB[match[2]]


def _keep(config: Config, value: str, on: list[Node]) -> None:
    """Set the page pool, of some nodes, or of the cluster."""
    if not on:
        config.settings[_POOL] = value
    _forget(config, _POOL, on, only_nodes=True)
    config.node_settings += [NodeSetting(node.name, _POOL, value) for node in on]


def _forget(config: Config, attribute: str, on: list[Node], *, only_nodes: bool = False) -> None:
    """Take an attribute away: from some nodes, or, where none are named, from the cluster, which all then go by."""
    names = {node.name for node in on}
    if not (names or only_nodes):
        config.settings.pop(attribute, None)
    config.node_settings = [row for row in config.node_settings if row.attribute != attribute or row.node not in names]


def _cipher_list(config: Config, value: str) -> None:
    if value != "AUTHONLY":
        raise Refused(f"cipherList={value}: use AUTHONLY (what is sent is encrypted then, too)")
    _need_key(config)
    states.need_all_down(config, "a new cipherList")


def _need_key(config: Config) -> None:
    if drivers.of(config).KEYS.in_use(config.ssl) is None:
        raise Refused("you must first generate a key: mcauth genkey new")


def _failure_detection(config: Config, value: str) -> None:
    if not value.isdigit() or int(value) < _LEAST_S:
        raise Refused(f"{leases.FAILURE_DETECTION}={value}: give seconds, {_LEAST_S} or more, or {_DEFAULT}")
    _need_key(config)


def _subnets(_config: Config, value: str) -> None:
    leases.parse_subnets(value)


def _pagepool(config: Config, value: str, on: list[Node]) -> None:
    """At least GPFS's least, and at most half of the memory of each node that it is for."""
    size = kib(value)
    if not _LEAST_POOL_KIB <= size <= _LARGEST_POOL_KIB:
        raise Refused(f"{_POOL}={value}: give {_LEAST_POOL_KIB // 2**10}M to {_LARGEST_POOL_KIB // 2**10}M")
    mine = config.here()
    small: list[str] = []
    for node, memory in zip(on, native.side_by_side(lambda node: _memory_kib(node, mine), on), strict=True):
        if memory is not None and size > memory // _SHARE:
            small.append(f"{node.name} has {memory // 2**10} MiB of memory, and {_POOL} may take half of it")
    if small:
        raise Refused("\n".join([*small, "nothing has been changed"]))


def _memory_kib(node: Node, mine: Node) -> int | None:
    """A node's memory, as its kernel says; None of one that does not answer."""
    ask = ["cat", "/proc/meminfo"]
    said = native.run(ask) if node == mine else native.ssh(node.name, " ".join(ask))
    found = re.search(r"^MemTotal: *(\d+) kB", said.out, re.MULTILINE)
    return int(found[1]) if said.rc == 0 and found else None


def _max_block_size(config: Config, value: str) -> None:
    if kib(value) not in _BLOCKS_KIB:
        raise Refused(f"maxblocksize={value}: give one of {', '.join(f'{size}K' for size in _BLOCKS_KIB)}")
    states.need_all_down(config, "a new maxblocksize")


def _yes_or_no(_config: Config, value: str) -> None:
    if value not in ("yes", "no"):
        raise Refused(f"autoload={value}: give yes or no")


def _uid_domain(_config: Config, value: str) -> None:
    configuration.need_name(value)


_POOL = "pagepool"
#: The attributes that a cluster need not have, and GPFS's word for having none. The first two are leases' (mcleased).
_OPTIONAL = {
    leases.FAILURE_DETECTION: _failure_detection,
    leases.SUBNETS: _subnets,
    "maxblocksize": _max_block_size,
    "autoload": _yes_or_no,
    "uidDomain": _uid_domain,
}
_DEFAULT = "DEFAULT"
_LEAST_S = 5
