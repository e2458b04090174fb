"""mcstartup, mcshutdown, mcgetstate: the nodes' daemons."""

import argparse
import os
import subprocess
import time
from pathlib import Path

from mc import config as configuration
from mc import drivers, fstab, leases, mounts, native, states
from mc.config import Node
from mc.native import Refused
from mc.table import show

#: Run on a node when its daemon is active, where there is one (Redpaper: /var/mmfs/etc/mmfsup.scr).
_CALL_BACK = configuration.VAR / "etc" / "mcup.scr"
_LOGS = Path("/var/adm/ras")
#: How long a start waits to be active before it gives up on the call-back.
_JOIN_S = 60


def start(args: argparse.Namespace) -> None:
    """Start daemons: this node's, or others'.

    Native: where this node's may be old, `ssh` fetches `gen/*` and `ssl/*`, `sh` puts them in place;
    changes `/var/adm/ras/mc.log.*`, `/etc/fstab`, {start};
    `mcleased` where failureDetectionTime is set; `mcmount` where -A is yes.
    """
    config = configuration.load()
    if args.all or args.nodes:
        # who has all that there is to know need not ask for it: a session of ssh each
        newest = config.servers == [config.here().name]
        states.everywhere(config, args, f"mcstartup --as-of {config.edition}" if newest else "mcstartup")
        return
    if args.as_of != config.edition:
        config = configuration.fetch(config)
    here, driver = config.here(), drivers.of(config)
    fstab.write(config)
    if driver.answers(config):
        log(f"{here.name}: the daemon is up already")
    else:
        _new_log(here)
        driver.start(config)
        log(f"{here.name}: the daemon is up")
    if leases.FAILURE_DETECTION in config.settings and leases.expelled() is None:
        native.must(["mcleased"])
    for filesystem in mounts.known(config):
        if filesystem.automount:
            log(mounts.mount_here(config, filesystem))
    if os.access(_CALL_BACK, os.X_OK):
        if not native.comes(lambda: states.state_here(config) == states.ACTIVE, _JOIN_S, every_s=2):
            raise Refused(f"{here.name} has not become active within {_JOIN_S} s; {_CALL_BACK} is not called")
        native.step(str(_CALL_BACK))
        subprocess.run([str(_CALL_BACK)], check=False)


def stop(args: argparse.Namespace) -> None:
    """Stop daemons, this node's or others'; what is mounted is taken away.

    Native: `pkill` ends mcleased; {taken}; {stop}; changes `/var/adm/ras/mc.log.*`; `ssh` for -a, -w.
    """
    config = configuration.load()
    if args.all or args.nodes:
        states.everywhere(config, args, "mcshutdown")
        return
    name, driver = config.here().name, drivers.of(config)
    if leases.FAILURE_DETECTION in config.settings:
        native.run(["pkill", "-x", "mcleased"])
    for filesystem in mounts.known(config):
        if driver.mounted(filesystem.mount_point):
            log(f"{name}: taking {filesystem.mount_point} away")
            driver.unmount(filesystem.mount_point, force=True)
    driver.stop()
    log(f"{name}: the daemon is down")


def show_states(args: argparse.Namespace) -> None:
    """Say which daemons are up: active, arbitrating (no quorum), expelled, down, unknown (not reached).

    Native: {answers}; with -L {level}; `ssh` for -a, -w.
    """
    config = configuration.load()
    if args.all or args.nodes:
        nodes = states.chosen(config, args.nodes) if args.nodes else config.nodes
        found = states.states_and_levels(config, nodes, "-L" if args.levels else "")
    else:
        nodes, found = [config.here()], [(states.state_here(config), states.level_here(config) if args.levels else "")]
    heads = ["node number", "node name", "state", *(["level"] if args.levels else [])]
    rows = [[node.number, node.name, *said][: len(heads)] for node, said in zip(nodes, found, strict=True)]
    show(heads, rows, args.json)
    levels = {level for _, level in found if level}
    if len(levels) > 1 and not args.json:
        print(f"\nthe nodes have software of {len(levels)} levels")


def log(text: str) -> None:
    """Say it, and note it in the node's log."""
    print(text)
    with (_LOGS / "mc.log.latest").open("a") as file:
        file.write(f"{time.strftime('%F %T')} {text}\n")


def _new_log(here: Node) -> None:
    name = f"mc.log.{time.strftime('%Y.%m.%d.%H.%M.%S')}.{here.name}"
    native.link(_LOGS / "mc.log.latest", name)
