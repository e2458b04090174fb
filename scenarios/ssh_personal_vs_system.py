"""A diskless node takes root's known_hosts from the site's tree, and the system-wide one it does not.

Claim: with the keys in /bgl/dist/etc/ssh/ssh_known_hosts only, no diskless node knows a host, and ssh from it fails;
with the same file as /bgl/dist/root/.ssh/known_hosts it succeeds.

Cause: of the site's etc/ssh the start-up takes the host keys, and nothing else; root's folder it takes whole.

Source: Redpaper, "Making the SSH daemons' public keys known": "this does NOT get pulled in on IONs".
"""

from dataclasses import dataclass

from causeway.lab.changes.files import file_changed, moved_away
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import ROOT_KNOWN, SYSTEM_KNOWN
from causeway.scenario.words.diskless import UP, boots, how_booted
from causeway.scenario.words.logins import IN, KNOWN, NOT_KNOWN, login


@dataclass(frozen=True)
class Cast:
    """A diskless node, its server, and the hosts that it logs in on."""

    node: str
    server: str
    hosts: list[str]


def cast(ask: Ask) -> Cast:
    found = ask.diskless(1, platform="bluegene")
    (node,) = found.nodes
    return Cast(node, found.server, [found.server, ask.caller(node, but=[found.server])])


def play(stage: Stage, cast: Cast) -> None:
    lab, node, server = stage.lab, cast.node, cast.server

    def judge_logins(due: str, when: str) -> None:
        for host in cast.hosts:
            stage.same(f"{node} to {host}, {when}", due, login(stage, node, host))

    with stage.healthy(f"both files are there, and {node} reaches {' and '.join(cast.hosts)}"):
        stage.holds("the two files are the same", lab.read(server, SYSTEM_KNOWN) == lab.read(server, ROOT_KNOWN))
        judge_logins(IN, "both files")

    with stage.perturb("root's own file is moved away, and the node booted again"):
        stage.make(moved_away(lab, server, ROOT_KNOWN), then=boots(stage, [node]))

    with stage.judge(f"the system-wide file is on {server}, not on {node}, which knows nobody"):
        stage.same(f"how {node} booted", [UP], how_booted(stage, [node]))
        stage.same(f"{node} has a system-wide file", False, lab.file(node, KNOWN).exists())
        judge_logins(NOT_KNOWN, "system-wide file only")

    with stage.contrast("the system-wide file is copied to root's place, and the node booted again"):
        copied = file_changed(lab, server, ROOT_KNOWN, lab.read(server, SYSTEM_KNOWN))
        stage.make(copied, then=boots(stage, [node]))
        judge_logins(IN, "root's own file")

    with stage.restore("root's own file is the one from before"):
        judge_logins(IN, "afterwards")
