"""A name that is in /etc/hosts only is no name for a command that asks DNS.

Claim: a node that everybody can ping by name cannot be added to the cluster while its name is missing in
DNS, for `host -t a NAME` does not read /etc/hosts. With the name in the zone the same command succeeds.

Cause: gethostbyname() goes by nsswitch.conf, files first; host(1) always asks a name server.

Source: Redpaper, "Adding a single ION", the note on mmaddnode and NXDOMAIN.
"""

from dataclasses import dataclass

from causeway.lab.faults import name_missing
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.membership import ADDED, NO_NAME, add, delete, state, take_out
from causeway.scenario.words.routes import pings


@dataclass(frozen=True)
class Cast:
    """A node that can be deleted and added, where its cluster's administrator works, and who answers that for names."""

    node: str
    administrator: str
    names: str


def cast(ask: Ask) -> Cast:
    found = ask.member()
    return Cast(found.node, found.administrator, ask.name_server(found.administrator))


def play(stage: Stage, cast: Cast) -> None:
    lab, administrator, node = stage.lab, cast.administrator, cast.node
    name = stage.site.known_by(node).names[0]

    def host() -> Result:
        return lab.on(administrator, "host", "-t", "a", name)

    with stage.arrange(f"{node} is deleted from the cluster"):
        take_out(stage, node)

    with stage.healthy(f"{name} is in DNS and in /etc/hosts, and can be added"):
        stage.same(f"host -t a {name}, exit code", 0, host().rc)
        stage.same(f"mcaddnode {name}", ADDED, add(stage, node))

    with stage.perturb(f"{name} is deleted, and taken out of {cast.names}'s zone; /etc/hosts stays as it is"):
        delete(stage, node)
        missing = stage.make(name_missing(lab, cast.names, name))

    with stage.judge("everybody still finds the node, and only `host` does not"):
        stage.same(f"getent hosts {name}, exit code", 0, lab.on(administrator, "getent", "hosts", name).rc)
        stage.holds(f"{administrator} pings {name}", pings(stage, administrator, name))
        stage.holds(f"host -t a {name} says NXDOMAIN", "NXDOMAIN" in host().stdout)
        stage.same(f"mcaddnode {name}, name in /etc/hosts only", NO_NAME, add(stage, node))

    with stage.contrast("with the name in DNS again, the same command adds the node"):
        missing.undo()
        stage.same(f"mcaddnode {name}, name in DNS", ADDED, add(stage, node))

    with stage.restore("the zone is as it was, and the node a member"):
        stage.same(f"host -t a {name}, afterwards, exit code", 0, host().rc)
        stage.same(f"mcgetstate -w {name}", "active", state(stage, node))
