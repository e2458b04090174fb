"""The first of several name servers is dead, and everything that asks it is slow.

Claim: with the first of three name servers silent every lookup takes five seconds more, ten by host(1), which tries a
server twice, and is answered by the next; so `mcaddnode`, which asks by that, takes ten. Nothing fails, and nothing
says why. A first one whose daemon does not run, on a node that is up, refuses at once and costs nothing. Where all are
silent, a node can no longer be added, though /etc/hosts has it.

Cause: a resolver asks the servers of /etc/resolv.conf in their order, each question anew, and goes on to the next only
when it has waited (resolv.conf(5), timeout: 5 s). It forgets who was silent.

Source: Redpaper, "Name resolution": three lines of nameserver in S14etc_resolv_conf, "make sure routes to your DNS
servers exist".
"""

from dataclasses import dataclass

from causeway.lab.changes.daemons import hangs
from causeway.lab.changes.files import file_changed
from causeway.lab.clock import Watch
from causeway.lab.faults import service_stopped
from causeway.process import Result
from causeway.report.result import Table
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.membership import ADDED, add, delete, state, take_out

#: How much longer each takes: the library's resolver waits 5 s (resolv.conf(5)), host(1) as long, and twice, and the
#: third asks by host(1). And how exactly that is seen.
WAITS_S = {"getent": 5, "host": 10, "mcaddnode": 10}
SLACK_S = 1.5
RESOLV = "/etc/resolv.conf"


@dataclass(frozen=True)
class Cast:
    """A node that can be added, where its administrator works, and whom he asks for names, in this order."""

    node: str
    administrator: str
    servers: list[str]


def cast(ask: Ask) -> Cast:
    found = ask.member()
    return Cast(found.node, found.administrator, ask.several_name_servers(found.administrator))


def play(stage: Stage, cast: Cast) -> None:
    lab, administrator, node, first = stage.lab, cast.administrator, cast.node, cast.servers[0]
    name = stage.site.known_by(node).names[0]
    lines = [f"nameserver {stage.site.known_by(server).address}\n" for server in cast.servers]
    rows: list[list[str]] = []

    def asked(*argv: str) -> tuple[Result, float]:
        watch = Watch()
        return lab.on(administrator, *argv, timeout_s=120), watch.virtual_s

    def added() -> float:
        """What `mcaddnode` takes, in seconds; the node is out again afterwards."""
        watch = Watch()
        stage.same(f"mcaddnode {name}", ADDED, add(stage, node))
        took_s = watch.virtual_s
        delete(stage, node)
        return took_s

    def judge(what: str, *, waits: bool = False) -> None:
        """A lookup by the library, one by `host`, and a node that is added: each as quick as it was, or waits."""
        found, by_library_s = asked("getent", "-s", "hosts:dns", "ahostsv4", name)
        stage.same(f"{what}: getent by DNS alone, exit code", 0, found.rc)
        found, by_host_s = asked("host", "-t", "a", name)
        stage.same(f"{what}: host -t a {name}, exit code", 0, found.rc)
        took = [by_library_s, by_host_s, added()]
        rows.append([what, *(f"{seconds:.1f}" for seconds in took)])
        for command, seconds, usual in zip(WAITS_S, took, usual_s, strict=True):
            late, due = seconds - usual, WAITS_S[command] if waits else 0
            stage.holds(f"{what}: {command} takes {due} s more", abs(late - due) < SLACK_S, f"{late:.1f} s")

    with stage.arrange(f"{administrator} asks {', '.join(cast.servers)} for names; {node} is deleted from its cluster"):
        stage.make(file_changed(lab, administrator, RESOLV, f"search {stage.site.topology.domain}\n{''.join(lines)}"))
        take_out(stage, node)

    with stage.healthy("the first answers, and everything is quick"):
        usual_s = [0.0, 0.0, added()]
        judge("all answer")

    with stage.perturb(f"{first} is dead: nothing there answers"):
        dead = stage.make(hangs(first, "named"))

    with stage.judge("everything is found, and late"):
        judge(f"{first} is silent", waits=True)

    with stage.contrast(f"named does not run on {first}, which is up and says so"):
        dead.undo()
        stopped = stage.make(service_stopped(lab, first, "named"))
        judge(f"{first} refuses")
        stopped.undo()

    with stage.perturb("all of them are dead"):
        for server in cast.servers:
            stage.make(hangs(server, "named"))

    with stage.judge("the node cannot be added, and /etc/hosts has it all the time"):
        refused = add(stage, node)
        stage.holds(f"mcaddnode {name} is refused", refused != ADDED, refused)
        stage.same(f"getent hosts {name}, exit code", 0, asked("getent", "hosts", name)[0].rc)
        stage.show(Table("seconds", ["", "getent", "host", "mcaddnode"], rows))

    with stage.restore("names are found as before, and the node is a member"):
        stage.same(f"host -t a {name}, afterwards, exit code", 0, asked("host", "-t", "a", name)[0].rc)
        stage.same(f"mcgetstate -w {name}", "active", state(stage, node))
