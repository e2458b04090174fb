"""mccrcluster, mcchcluster, mclscluster, mcaddnode, mcdelnode, mclsnode: who is in the cluster."""

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mc import config as configuration
from mc import native, states
from mc.config import Config, Node
from mc.native import Refused
from mc.table import show

#: What may stand behind NODE: (Redpaper: SN-b:manager-quorum, FEN-b:client-nonquorum). Only quorum counts here.
_ROLES = {"manager", "client", "quorum", "nonquorum"}


def create(args: argparse.Namespace) -> None:
    """Make a cluster of the nodes in a node file; this node keeps its configuration.

    Native: `host` and `ssh` try each node; changes `gen/*`; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    wanted = _from_file(args.nodefile)
    if configuration.member():
        raise Refused(f"this node is in cluster {configuration.load().name} already ({configuration.VAR}/gen/cluster)")
    names = [name for name, _ in wanted]
    if args.primary not in names:
        raise Refused(f"the configuration server {args.primary} is none of the nodes in {args.nodefile}")
    if dict(wanted)[args.primary] != "quorum":
        raise Refused(f"the configuration server {args.primary} must be a quorum node")
    if args.secondary and args.secondary not in names:
        raise Refused(f"the secondary configuration server {args.secondary} is none of the nodes in {args.nodefile}")
    if args.secondary == args.primary:
        raise Refused(f"{args.primary} is the configuration server; another node can be the secondary one")
    settings = {"driver": args.driver}
    if args.autoload:
        settings["autoload"] = "yes"
    if args.uid_domain:
        settings["uidDomain"] = args.uid_domain
    for name in filter(None, (args.cluster, args.uid_domain)):
        configuration.need_name(name)
    for option, program in {"-r": args.shell, "-R": args.copy}.items():
        if program and not (program.split() == [program] and program.startswith("/") and os.access(program, os.X_OK)):
            raise Refused(f"{option} {program}: this is no program here; give its path from / on")
    native.use(args.shell, args.copy)
    addresses = _check(wanted, [], local=args.primary)
    first = Config(args.cluster, os.urandom(8).hex(), args.primary)
    first.secondary, first.shell, first.copy = args.secondary, args.shell, args.copy
    first.nodes, first.settings = list(_numbered(1, wanted, addresses)), settings
    with configuration.change(first):
        print(f"cluster {args.cluster} has {len(names)} node{'s' if len(names) > 1 else ''}: {' '.join(names)}")


def change_servers(args: argparse.Namespace) -> None:
    """Change who keeps the configuration (-p), and who has each change before it counts (-s); on either of them.

    Where the one that keeps it is lost, the secondary is made that one, on the secondary: from then on changes are
    made there. Who is made neither, while he cannot be told, must not be worked on before his mcstartup.

    Native: `ssh` asks the other configuration server; changes `gen/cluster`;
    `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    if args.primary is None and args.secondary is None:
        raise Refused("say who keeps the configuration (-p), or who is the secondary (-s)")
    with configuration.change(moves=True) as config:
        primary = config.node(args.primary).name if args.primary else config.server
        if args.secondary is not None:
            secondary = config.node(args.secondary).name if args.secondary else ""
        else:
            secondary = "" if primary == config.secondary else config.secondary
        if primary == secondary:
            raise Refused(f"{primary} cannot be both; give another node to -s, or ''")
        config.server, config.secondary = primary, secondary
    print(f"the configuration of cluster {config.name} is kept on {primary}; secondary: {secondary or '(none)'}")


def add(args: argparse.Namespace) -> None:
    """Add nodes; each must be up, known to DNS, and reached by ssh without a prompt.

    Native: `host` and `ssh` try each node; changes `gen/nodes`; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    wanted = _from_file(args.nodefile) if args.nodefile else _named(args.nodes)
    if not wanted:
        raise Refused("name the nodes to add, or a file of them (-n)")
    with configuration.change() as config:
        addresses = _check(wanted, config.nodes, local=config.server)
        for node in _numbered(max(node.number for node in config.nodes) + 1, wanted, addresses):
            config.nodes.append(node)
            print(f"{node.name} is node {node.number} of cluster {config.name}")


def delete(args: argparse.Namespace) -> None:
    """Delete nodes; their daemons must be down. One that is off keeps its /var/mc.

    Native: `ssh` asks each for its state; changes `gen/nodes`;
    `tar`, `ssh`, `scp` and `sh` give it to all nodes; `ssh` empties those deleted.
    """
    with configuration.alone():
        with configuration.change() as config:
            leaving = [config.node(name) for name in args.nodes]
            serving = {server for f in config.filesystems for server in f.server_names}
            for node in leaving:
                if node.name in config.servers:
                    kind = "the" if node.name == config.server else "the secondary"
                    raise Refused(f"{node.name} is {kind} configuration server; it cannot be deleted")
                if node.name in serving:
                    raise Refused(f"{node.name} serves filesystems; it cannot be deleted")
            up = [
                node.name
                for node, state in zip(leaving, states.states(config, leaving), strict=True)
                if state in states.UP
            ]
            if up:
                raise Refused(f"{' '.join(up)}: the daemon is up; first: mcshutdown -w {','.join(up)}")
            config.nodes = [node for node in config.nodes if node not in leaving]
            gone_names = {node.name for node in leaving}
            config.node_settings = [row for row in config.node_settings if row.node not in gone_names]
        for node in leaving:
            gone = native.ssh(node.name, configuration.forget()).rc == 0
            left = "" if gone else f"; it does not answer, and what it keeps in its {configuration.VAR} stays there"
            print(f"{node.name} is deleted from cluster {config.name}{left}")


def show_cluster(args: argparse.Namespace) -> None:
    """Show the cluster and its nodes."""
    config = configuration.load()
    about = {
        "cluster name": config.name,
        "cluster id": config.id,
        "UID domain": config.settings.get("uidDomain", config.name),
        "remote shell": config.shell or "ssh",
        "remote file copy": config.copy or "by the remote shell",
        "configuration server": config.server,
        "secondary server": config.secondary or "(none)",
    }
    if not args.json:
        for key, value in about.items():
            print(f"{key + ':':<22} {value}")
        print()
    _show_nodes(config, args.json, about)


def show_nodes(args: argparse.Namespace) -> None:
    """List the nodes."""
    _show_nodes(configuration.load(), args.json)


def _show_nodes(config: Config, as_json: bool, about: dict[str, str] | None = None) -> None:
    heads = ["node number", "node name", "address", "remarks"]
    rows = [[node.number, node.name, node.address, "quorum node" if node.quorum else ""] for node in config.nodes]
    show(heads, rows, as_json, about)


def _from_file(file: str) -> list[tuple[str, str]]:
    try:
        words = Path(file).read_text().split()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "this is no text"
        raise Refused(f"{file}: {why}; a node file has a line NODE:ROLE for each node") from None
    return _named(words)


def _named(words: Iterable[str]) -> list[tuple[str, str]]:
    """The names and roles that NODE:ROLE... says; Refused with all that are no roles."""
    named: list[tuple[str, str]] = []
    wrong: list[str] = []
    for word in words:
        name, _, designation = word.partition(":")
        parts = set(designation.split("-")) - {""}
        if strange := parts - _ROLES:
            wrong.append(f"{word}: {', '.join(sorted(strange))} is no role; use {', '.join(sorted(_ROLES))}")
        named.append((name, "quorum" if "quorum" in parts else "nonquorum"))
    if wrong:
        raise Refused("\n".join(wrong))
    return named


def _numbered(first: int, named: Iterable[tuple[str, str]], addresses: Iterable[str]) -> Iterator[Node]:
    """Rows for new members."""
    for number, ((name, role), address) in enumerate(zip(named, addresses, strict=True), first):
        yield Node(number, name, address, role)


def _check(wanted: Iterable[tuple[str, str]], members: list[Node], *, local: str) -> list[str]:
    """The addresses of nodes that are to become members; Refused with all that is wrong with any of them."""
    taken = {node.address: node.name for node in members}
    wrong: list[str] = []
    addresses: list[str] = []
    for name, _ in wanted:
        try:
            address = resolve(name)
            if address in taken:
                raise Refused(f"{name} is in the cluster already, as {taken[address]}")
            taken[address] = name
            if name != local:
                _reach(name)
            addresses.append(address)
        except Refused as refused:
            wrong.append(str(refused))
    if wrong:
        raise Refused("\n".join([*wrong, "nothing has been changed"]))
    return addresses


def resolve(name: str) -> str:
    """A name's address. As at home by `host -t a`, which does not read /etc/hosts."""
    said = native.run(["host", "-t", "a", name])
    if said.rc != 0 or " has address " not in said.out:
        raise Refused(f"unexpected output of 'host -t a {name}': {said.said}; add it to DNS")
    return said.out.split(" has address ")[1].split()[0]


def _reach(name: str) -> None:
    var = configuration.VAR
    said = native.ssh(name, f"cat {var}/gen/cluster 2>/dev/null || :")
    if said.rc != 0:
        raise Refused(f"{name} cannot be reached by ssh without a prompt: {said.said}")
    if said.out:
        cluster = said.out.split()[1]
        raise Refused(f"{name} is in a cluster already, {cluster}, by its own {var}/gen/cluster")
