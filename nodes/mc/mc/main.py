"""Names, options and exit codes of the commands: 0 done, 1 refused or failed, 2 wrong usage."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from mc import auth, daemons, disks, drivers, mounts, native, nodes, remotes, settings

Parser = argparse.ArgumentParser
Action = Callable[[argparse.Namespace], None]


def main() -> None:
    """Do the command that this program was called as."""
    name = Path(sys.argv[0]).name
    if name not in COMMANDS:
        sys.exit(f"call one of: {' '.join(sorted(COMMANDS))}")
    args = parser(name).parse_args()
    native.verbose = args.verbose
    if os.geteuid() != 0:
        sys.exit(f"{name}: you must be root")
    try:
        args.action(args)
    except native.Refused as refused:
        for line in str(refused).splitlines():
            print(f"{name}: {line}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def parser(name: str) -> Parser:
    """The command's parser; its help is the action's own text, what is native below the options."""
    made = Parser(name, formatter_class=_Help)
    COMMANDS[name](made)
    _verbose(made)
    return made


class _Help(argparse.HelpFormatter):
    """As wide as the terminal, which argparse would load shutil to ask for, whatever the command is to do."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            columns = 80
        super().__init__(prog, width=columns - 2)


def _verbose(made: Parser) -> None:
    made.add_argument("-v", dest="verbose", action="store_true", help="print each native command and change of a file")


def _does(made: Parser, action: Action, *, json: bool = False) -> Parser:
    made.description, _, native_steps = (action.__doc__ or "").partition("\n\n")
    made.epilog = native_steps.format_map(drivers.BY_NAME[drivers.DEFAULT].NATIVE)
    made.set_defaults(action=action)
    if json:
        made.add_argument("--json", action="store_true", help="print it as JSON")
    return made


def _sub(made: Parser) -> Callable[..., Parser]:
    """Add subcommands to a command: name, what it does, and whether it can print JSON."""
    group = made.add_subparsers(required=True, metavar="SUBCOMMAND")

    def add(name: str, action: Action, *, json: bool = False) -> Parser:
        one = group.add_parser(name, help=(action.__doc__ or "").splitlines()[0], formatter_class=_Help)
        one.add_argument("-v", dest="verbose", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        return _does(one, action, json=json)

    return add


def _where(made: Parser) -> None:
    which = made.add_mutually_exclusive_group()
    which.add_argument("-a", dest="all", action="store_true", help="on all nodes")
    which.add_argument("-w", dest="nodes", metavar="NODE,...", help="on these nodes")


def _mccrcluster(made: Parser) -> None:
    _does(made, nodes.create)
    made.add_argument("-n", dest="nodefile", required=True, metavar="FILE", help="a line NODE:ROLE for each node")
    made.add_argument("-p", dest="primary", required=True, metavar="NODE", help="the configuration server, this node")
    made.add_argument("-s", dest="secondary", default="", metavar="NODE", help="the secondary configuration server")
    program = "a program by which nodes are"
    made.add_argument(
        "-r", dest="shell", default="", metavar="FILE", help=f"{program} reached, with ssh's options (ssh)"
    )
    made.add_argument(
        "-R", dest="copy", default="", metavar="FILE", help=f"{program} given it, with scp's options (-r)"
    )
    made.add_argument("-C", dest="cluster", required=True, metavar="NAME", help="the cluster's name")
    made.add_argument("-U", dest="uid_domain", metavar="NAME", help="its uidDomain (the cluster's name)")
    made.add_argument("-A", dest="autoload", action="store_true", help="start daemons when nodes boot (autoload=yes)")
    known = list(drivers.BY_NAME)
    made.add_argument("--driver", choices=known, default=drivers.DEFAULT, help=f"of its filesystems ({known[0]})")


def _mcchcluster(made: Parser) -> None:
    _does(made, nodes.change_servers)
    made.add_argument("-p", dest="primary", metavar="NODE", help="who keeps the configuration from now on")
    made.add_argument("-s", dest="secondary", metavar="NODE", help="who has each change, too; '' for nobody")


def _mclscluster(made: Parser) -> None:
    _does(made, nodes.show_cluster, json=True)


def _mcaddnode(made: Parser) -> None:
    _does(made, nodes.add)
    which = made.add_mutually_exclusive_group(required=True)
    which.add_argument("-n", dest="nodefile", metavar="FILE", help="a line NODE:ROLE for each node")
    role = "ROLE is client-nonquorum where it is not given"
    which.add_argument("nodes", nargs="*", default=[], metavar="NODE[:ROLE]", help=role)


def _mcdelnode(made: Parser) -> None:
    _does(made, nodes.delete)
    made.add_argument("nodes", nargs="+", metavar="NODE")


def _mclsnode(made: Parser) -> None:
    _does(made, nodes.show_nodes, json=True)


def _mcstartup(made: Parser) -> None:
    _where(_does(made, daemons.start))
    # what a configuration server tells those that it starts
    made.add_argument("--as-of", metavar="EDITION", help=argparse.SUPPRESS)


def _mcshutdown(made: Parser) -> None:
    _where(_does(made, daemons.stop))


def _mcgetstate(made: Parser) -> None:
    _where(_does(made, daemons.show_states, json=True))
    made.add_argument("-L", dest="levels", action="store_true", help="with the level of each node's software")


def _mcchconfig(made: Parser) -> None:
    _does(made, settings.change)
    made.add_argument("setting", metavar="ATTRIBUTE=VALUE")
    made.add_argument("-N", dest="nodes", metavar="NODE,...", help="on these nodes alone (pagepool)")


def _mclsconfig(made: Parser) -> None:
    _does(made, settings.show_all, json=True)


def _mccrfs(made: Parser) -> None:
    _does(made, auth.create_filesystem)
    made.add_argument("name", metavar="FILESYSTEM")
    made.add_argument("-T", dest="mount_point", required=True, metavar="DIR", help="where its own nodes mount it")
    made.add_argument("-s", dest="servers", required=True, metavar="NODE,...", help="its servers")
    over = "stripe: each file over all servers; whole: each on one (stripe)"
    made.add_argument("--layout", choices=["stripe", "whole"], default="stripe", help=over)
    made.add_argument("--parity", type=int, metavar="N", help="servers that may be missing (stripe 1, whole 0)")


def _mclsnsd(made: Parser) -> None:
    _does(made, disks.show_disks, json=True)
    made.add_argument("-f", dest="filesystem", default="all", metavar="FILESYSTEM", help="its local name (all)")


def _mcauth(made: Parser) -> None:
    add = _sub(made)
    add("genkey", auth.make_key).add_argument("step", choices=["new", "commit"])
    for name, action in {"add": auth.add, "update": auth.update}.items():
        one = add(name, action)
        one.add_argument("cluster")
        one.add_argument("-k", dest="key", required=True, metavar="FILE", help="its id_rsa.pub")
    add("delete", auth.delete).add_argument("cluster")
    grant = add("grant", auth.grant)
    grant.add_argument("-a", dest="access", choices=["rw", "ro"], default="rw", help="what it may do (rw)")
    grant.add_argument("-r", dest="root", default="no", metavar="no|UID:GID", help="who its root is here (no: root)")
    for one in (grant, add("deny", auth.deny)):
        one.add_argument("cluster")
        one.add_argument("-f", dest="filesystem", required=True)
    add("show", auth.show_clusters, json=True).add_argument("cluster", nargs="?", default="all")


def _mcremotecluster(made: Parser) -> None:
    add = _sub(made)
    for name, action in {"add": remotes.add_cluster, "update": remotes.update_cluster}.items():
        new = name == "add"
        one = add(name, action)
        one.add_argument("cluster")
        one.add_argument("-k", dest="key", required=new, metavar="FILE", help="its id_rsa.pub")
        one.add_argument("-n", dest="contacts", required=new, metavar="NODE,...", help="asked one after the other")
    add("delete", remotes.delete_cluster).add_argument("cluster")
    add("show", remotes.show_clusters, json=True).add_argument("cluster", nargs="?", default="all")


def _mcremotefs(made: Parser) -> None:
    add = _sub(made)
    one = add("add", remotes.add_filesystem)
    one.add_argument("name")
    one.add_argument("-f", dest="remote", metavar="NAME", help="its name at the owner, if it is another one")
    one.add_argument("-C", dest="cluster", required=True, help="the owner")
    one.add_argument("-T", dest="mount_point", required=True, metavar="DIR")
    one.add_argument("-o", dest="access", choices=["rw", "ro"], default="rw", help="how to mount it (rw)")
    one.add_argument("-A", dest="automount", choices=["yes", "no"], default="no", help="mount it at start-up (no)")
    add("delete", remotes.delete_filesystem).add_argument("name")
    show = add("show", remotes.show_filesystems, json=True)
    show.add_argument("name", nargs="?", default="all")
    show.add_argument("-C", dest="cluster", help="of this owner only")


def _filesystem(made: Parser) -> None:
    made.add_argument("filesystem", help="its local name, or all")


def _mcmount(made: Parser) -> None:
    _where(_does(made, mounts.mount))
    _filesystem(made)


def _mcumount(made: Parser) -> None:
    _where(_does(made, mounts.unmount))
    _filesystem(made)


def _mclsmount(made: Parser) -> None:
    _does(made, mounts.show_mounts, json=True)
    made.add_argument("filesystem", nargs="?", default="all", help="its local name (all)")
    made.add_argument("-a", dest="all", action="store_true", help="on all nodes")


COMMANDS: dict[str, Callable[[Parser], None]] = {
    "mccrcluster": _mccrcluster,
    "mcchcluster": _mcchcluster,
    "mclscluster": _mclscluster,
    "mcaddnode": _mcaddnode,
    "mcdelnode": _mcdelnode,
    "mclsnode": _mclsnode,
    "mcstartup": _mcstartup,
    "mcshutdown": _mcshutdown,
    "mcgetstate": _mcgetstate,
    "mcchconfig": _mcchconfig,
    "mclsconfig": _mclsconfig,
    "mccrfs": _mccrfs,
    "mclsnsd": _mclsnsd,
    "mcauth": _mcauth,
    "mcremotecluster": _mcremotecluster,
    "mcremotefs": _mcremotefs,
    "mcmount": _mcmount,
    "mcumount": _mcumount,
    "mclsmount": _mclsmount,
}
