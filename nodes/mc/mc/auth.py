"""mcauth, mccrfs: this cluster's keys, its filesystems, and who may mount them.

Source: Redpaper, "On the remote OWNING cluster, allow access by the CLIENT cluster".
"""

import argparse
import re
from contextlib import suppress
from pathlib import Path

from mc import config as configuration
from mc import drivers, mounts
from mc.config import Config, Filesystem, Grant
from mc.native import Refused
from mc.table import show

#: The parity of a layout where none is given.
_PARITY = {"stripe": 1, "whole": 0}


def make_key(args: argparse.Namespace) -> None:
    """Make a new key pair (new), or use the new one and forget the old (commit).

    Native: `openssl req`; changes `ssl/id_rsa*` and {shown}; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.change() as config:
        driver = drivers.of(config)
        pairs = driver.KEYS.numbers(config.ssl)
        if args.step == "new":
            if len(pairs) > 1:
                raise Refused("a new key is waiting to be committed: mcauth genkey commit")
            driver.KEYS.generate(config.ssl, config.name)
        else:
            if len(pairs) < 2:
                raise Refused("there is no new key to commit; mcauth genkey new makes one")
            driver.KEYS.use(config.ssl, pairs[1])
            driver.KEYS.drop(config.ssl, pairs[0])
            driver.KEYS.publish(config.ssl)
        driver.trust(config)
    if args.step == "new" and pairs:
        print("both keys are in /var/mc/ssl/id_rsa.pub: give it to the other clusters (mcauth update,")
        print("mcremotecluster update), then: mcauth genkey commit")


def add(args: argparse.Namespace) -> None:
    """Know a cluster by its public key; it may mount nothing yet.

    Native: `openssl x509` checks the key; changes `gen/clusters`, `ssl/authorized_cluster.*`, {admitted};
    `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    configuration.need_name(args.cluster)
    with configuration.change() as config:
        if args.cluster in config.clusters or args.cluster == config.name:
            raise Refused(f"cluster {args.cluster} is known already; mcauth update changes its key")
        config.clusters.append(args.cluster)
        _know(config, args)


def update(args: argparse.Namespace) -> None:
    """Know a cluster by other public keys than until now.

    Native: `openssl x509` checks the keys; changes `ssl/authorized_cluster.*` and {admitted};
    `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.change() as config:
        _known(config, args.cluster)
        _know(config, args)


def _know(config: Config, args: argparse.Namespace) -> None:
    driver = drivers.of(config)
    driver.KEYS.know(_key_of(config, args.cluster), Path(args.key), args.cluster)
    driver.trust(config)


def delete(args: argparse.Namespace) -> None:
    """Forget a cluster and all that it was granted.

    Native: as `mcauth deny` for each filesystem; changes `gen/clusters`, `ssl/authorized_cluster.*`,
    {admitted}; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    configuration.need_name(args.cluster)
    with configuration.alone():
        config = configuration.load()
        if args.cluster not in config.clusters:
            print(f"there is no cluster {args.cluster} any more")
        for name in dict.fromkeys(g.filesystem for g in config.grants if g.cluster == args.cluster):
            _change_grant(config.filesystem(name), args.cluster, None)
        with configuration.change() as config:  # also where it is gone already: what was broken off ends here
            config.clusters = [name for name in config.clusters if name != args.cluster]
            drivers.of(config).KEYS.forget(_key_of(config, args.cluster))
            drivers.of(config).trust(config)


def grant(args: argparse.Namespace) -> None:
    """Let a cluster mount a filesystem, and say how (-a rw|ro) and who root is then (-r no|UID:GID).

    Native: {grant}; changes `gen/grants`; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    if args.root != "no" and not re.fullmatch(r"\d+:\d+", args.root):
        raise Refused(f"-r {args.root}: give `no`, or the UID:GID that root is to be")
    with configuration.alone():
        config = configuration.load()
        _known(config, args.cluster)
        filesystem = config.filesystem(args.filesystem)
        others = [g for g in config.grants if g.filesystem == filesystem.name and g.cluster != args.cluster]
        if differ := [g for g in others if g.counts and g.root != args.root]:
            raise Refused(
                f"for {differ[0].cluster} {_root(differ[0])} on {filesystem.name}, and it is the same for all clusters"
                f" (the servers have one setting a filesystem); use -r {differ[0].root}"
            )
        _change_grant(filesystem, args.cluster, Grant(args.cluster, filesystem.name, args.access, args.root))


def deny(args: argparse.Namespace) -> None:
    """Take a filesystem from a cluster, mounted or not.

    Native: {grant}; changes `gen/grants`; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.alone():
        config = configuration.load()
        _known(config, args.cluster)
        filesystem = config.filesystem(args.filesystem)
        if not any((g.cluster, g.filesystem) == (args.cluster, filesystem.name) for g in config.grants):
            print(f"{args.cluster} has no access to {filesystem.name}; its servers are told so once more")
        _change_grant(filesystem, args.cluster, None)


def _change_grant(filesystem: Filesystem, cluster: str, wanted: Grant | None) -> None:
    """Have the servers enforce another grant, or none, and write it down when they do.

    Until then its row says that it is coming or leaving, and a row that leaves counts no more. So what is broken off at
    any moment is seen, keeps nobody in whom it was to keep out, and ends when the command is repeated. Where servers do
    not take a new grant, the row is put back; one that leaves goes on leaving. A new grant takes all servers; a denial
    those that serve: the others hear of it before they serve again.
    """
    config = configuration.load()
    driver = drivers.of(config)
    before = [g for g in config.grants if g.filesystem == filesystem.name]
    broken_off = any(g.state != "held" for g in before)
    absent = driver.absent(filesystem)
    some = 0 < len(absent) < len(filesystem.server_names)
    if absent and not broken_off and (wanted or not some):
        missing = " ".join(absent)
        raise Refused(f"{missing}: not all servers of {filesystem.name} serve it, and all must take it; mcstartup -a")
    earlier = next((g for g in before if g.cluster == cluster), None)
    if wanted:
        marked: Grant | None = wanted._replace(state="coming")
    else:
        marked = earlier and earlier._replace(state="leaving")
    after = [g for g in before if g.cluster != cluster] + ([marked] if marked else [])
    restart = broken_off or _read_only(before) != _read_only(after)
    # a server that starts anew reads its own table; nobody else needs to know of it before it is settled
    _write_down(filesystem, cluster, marked, half=not restart)
    try:
        if wanted is None and some:
            _tell_present(filesystem, absent, restart=restart)
        else:
            _tell(filesystem, restart=restart)
    except Refused as refused:
        if wanted is None:
            again = f"{cluster} is leaving {filesystem.name}; the same command again ends it"
            raise Refused(f"{refused}\n{again}") from None
        back = earlier._replace(state="coming") if earlier else wanted._replace(state="leaving")
        _write_down(filesystem, cluster, back)
        with suppress(Refused):  # what the servers have taken of it already
            _tell(filesystem, restart=restart)
        raise


def _write_down(filesystem: Filesystem, cluster: str, row: Grant | None, *, half: bool = False) -> None:
    """Have a cluster's row for a filesystem be this one, or none."""
    with configuration.change(half=half) as config:
        config.grants = [g for g in config.grants if (g.cluster, g.filesystem) != (cluster, filesystem.name)]
        config.grants += [row] if row else []


def _tell_present(filesystem: Filesystem, absent: list[str], *, restart: bool) -> None:
    """`_tell` while servers are absent, which learn of it when they start (`mcstartup`).

    A server that is down lets nobody in; one that cannot be reached, and serves all the same, has too little of a
    stripe for anybody to read it.

    Refused, with all that can be done done, where that does not hold, and where some would have to start anew: without
    the absent ones that would take the filesystem from everybody.
    """
    driver, missing = drivers.of(configuration.load()), " ".join(absent)
    silent = [server for server in absent if not driver.end(filesystem, server)]
    driver.grant(configuration.load(), filesystem, restart=False)
    if restart:
        raise Refused(
            f"{missing}: not all servers of {filesystem.name} serve it, and some must start anew; mcstartup -a"
        )
    enough = 1 if filesystem.layout == "whole" else len(filesystem.server_names) - filesystem.parity
    if len(silent) >= enough:
        unsure = " ".join(silent)
        raise Refused(f"{unsure} cannot be reached, and may serve {filesystem.name} all the same; switch it off")
    print(f"{missing}: does not serve {filesystem.name}, and is told when it starts; mcstartup")
    _settle(filesystem)


def _tell(filesystem: Filesystem, *, restart: bool) -> None:
    """Have the servers allow what the table says of a filesystem; then nothing of it is coming or leaving any more."""
    config = configuration.load()
    drivers.of(config).grant(config, filesystem, restart=restart)
    _settle(filesystem)


def _settle(filesystem: Filesystem) -> None:
    """The servers have been told: what was coming is held, what was leaving is gone."""
    with configuration.change() as config:
        mine = [g for g in config.grants if g.filesystem == filesystem.name]
        rest = [g for g in config.grants if g not in mine]
        config.grants = rest + [g._replace(state="held") for g in mine if g.counts]


def show_clusters(args: argparse.Namespace) -> None:
    """Show this cluster and those that it knows, their keys' digests and what they may mount.

    Native: `openssl x509` says the digests.
    """
    config = configuration.load()
    everyone = [config.name, *config.clusters]
    if args.cluster not in ("all", *everyone):
        _known(config, args.cluster)
    rows = []
    for name in everyone if args.cluster == "all" else [args.cluster]:
        own = name == config.name
        file = config.ssl / "id_rsa.pub" if own else _key_of(config, name)
        granted = [f"{g.filesystem} ({_says(g)})" for g in config.grants if g.cluster == name]
        access = "(all rw)" if own else ", ".join(granted) or "(none authorized)"
        cipher = config.settings.get("cipherList", "(none specified)")
        digests = ", ".join(drivers.of(config).KEYS.digests(file)) or "(no key)"
        rows.append([name + (" (this cluster)" if own else ""), cipher, digests, access])
    show(["cluster name", "cipher list", "SHA-256 digest", "filesystem access"], rows, args.json)


def create_filesystem(args: argparse.Namespace) -> None:
    """Make a filesystem on servers of this cluster; each has a disk for it below /disks.

    Native: {serve}; changes `gen/filesystems`; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.change() as config:
        driver = drivers.of(config)
        if any(f.name == args.name for f in config.filesystems):
            raise Refused(f"cluster {config.name} has a filesystem {args.name} already")
        if "cipherList" not in config.settings:
            raise Refused("filesystems are served to those who have a key only; first: mcchconfig cipherList=AUTHONLY")
        mounts.need_mount_point(args.mount_point)
        configuration.need_filesystem_name(args.name)
        servers = [config.node(name).name for name in args.servers.split(",")]
        parity = _PARITY[args.layout] if args.parity is None else args.parity
        bricks = f"/disks/{args.name}/brick"
        made = Filesystem(args.name, args.mount_point, ",".join(servers), bricks, args.layout, parity)
        configuration.wellformed(made)  # before its servers make it
        if (here := config.here().name) in servers and not Path(made.bricks).parent.is_dir():
            raise Refused(f"{here} has no disk for {args.name}, {Path(made.bricks).parent}")
        if not driver.answers(config):
            raise Refused("the daemon of this node is down; first: mcstartup -a")
        driver.serve(config, made)
        config.filesystems.append(made)


def _says(grant: Grant) -> str:
    said = f"{grant.access}, {_root(grant)}"
    if grant.state == "held":
        return said
    command = "grant" if grant.counts else "deny"
    return f"{said}; {grant.state}, for that was broken off: mcauth {command} again"


def _root(grant: Grant) -> str:
    return "root allowed" if grant.root == "no" else f"root is {grant.root}"


def _known(config: Config, cluster: str) -> None:
    if cluster not in config.clusters:
        known = ", ".join(config.clusters) or "none"
        raise Refused(f"there is no cluster {cluster}; known are: {known} (mcauth add adds one)")


def _key_of(config: Config, cluster: str) -> Path:
    return config.ssl / f"authorized_cluster.{cluster}"


def _read_only(grants: list[Grant]) -> set[str]:
    return {g.cluster for g in grants if g.access == "ro" and g.counts}
