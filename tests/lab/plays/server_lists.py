"""The server of each disk, as clients are told of it; and what a client sees that knows none of these names.

Claim: `mclsnsd` says of each disk its server, and whether that answers here. A client that lacks the servers' names, by
which the owner's own nodes go on, is answered by the contacts, and cannot mount; `mclsnsd` there says why.

Source: Redpaper, "Hardware setup": disks without servers work within the owning cluster, and "you will observe very
strange errors when trying to access these NSDs from remote clusters. You can use the mmlsnsd -f <filesystem> command".
"""

from causeway.lab.changes.files import file_changed
from causeway.lab.filesystems import administrators
from causeway.lab.filesystems.administrators import mc, member, rows
from causeway.scenario.stage import Stage
from causeway.scenario.words.membership import put_back

FILESYSTEM = "work"
#: What such a mount says: it is odd, for all of them do.
ODD = "too few of its servers serve it"


def play(stage: Stage) -> None:
    lab, client, user = stage.lab, "SN", "FEN"
    servers = lab.site.servers(FILESYSTEM)
    owner = lab.site.administrator(lab.site.nodes[servers[0]].cluster or "") or ""
    names = [member(lab, server) for server in servers]

    def disks(node: str, name: str = FILESYSTEM) -> dict[str, str]:
        """From the servers of a filesystem's disks to what a node sees of them."""
        return {row["server"]: row["from_here"] for row in rows(lab, node, "mclsnsd", "-f", name)}

    def answering(seen: dict[str, str]) -> list[str]:
        return [name for name, said in seen.items() if said.endswith(" answers")]

    def contacts(to: str) -> None:
        cluster = administrators.cluster_name(lab, lab.site.nodes[owner].cluster or "")
        mc(lab, client, "mcremotecluster", "update", cluster, "-n", to).must()

    with stage.healthy("each disk has a server, which answers owner and client"):
        for node in (owner, user):
            stage.same(f"servers of the disks of {FILESYSTEM} that answer {node}", names, answering(disks(node)))
        listed = {row["disk"] for row in rows(lab, owner, "mclsnsd", "-f", FILESYSTEM)}
        stage.same("disks, by their paths", {f"/disks/{FILESYSTEM}/brick"}, listed)

    with stage.perturb("the front end has lost the names of the servers, and knows the contacts by others"):
        stage.defer(lambda: put_back(stage, user))
        stage.defer(lambda: contacts(",".join(names)))
        others = [
            next(n for leg in lab.site.nodes[s].interfaces.values() if leg.network == "b" for n in leg.names)
            for s in servers
        ]
        contacts(",".join(others))
        mc(lab, user, "mcumount", FILESYSTEM).must()
        hosts = lab.read(user, "/etc/hosts")
        lost = [line for line in hosts.splitlines() if not set(line.split()) & set(names)]
        stage.holds("its hosts has fewer lines", len(lost) < len(hosts.splitlines()))
        stage.make(file_changed(lab, user, "/etc/hosts", "\n".join(lost) + "\n"))
        stage.make(file_changed(lab, user, "/etc/resolv.conf", "nameserver 127.0.0.2\n"))

    with stage.judge("the contacts tell it what there is, and it cannot mount; the owner's own nodes go on"):
        stage.same(f"what {user} sees of the servers", dict.fromkeys(names, "no such name"), disks(user))
        done = mc(lab, user, "mcmount", FILESYSTEM)
        stage.same("mcmount", 1, done.rc, done.stderr)
        stage.holds("what it says is of the servers", ODD in done.stderr, done.stderr)
        states = administrators.states(lab, owner)
        stage.same(f"their states, as {owner} says", ["active"] * len(names), [states[name] for name in names])
        stage.same(f"servers that answer {owner}", names, answering(disks(owner)))
        stage.same(f"mcmount on {owner}", 0, mc(lab, owner, "mcmount", FILESYSTEM).rc)
        stage.defer(lambda: mc(lab, owner, "mcumount", FILESYSTEM))

    with stage.contrast("one server does not answer, and is the one that is named"):
        stage.undo()
        stage.defer(lambda: mc(lab, owner, "mcstartup", "-w", names[-1]).must())
        mc(lab, owner, "mcshutdown", "-w", names[-1]).must()
        stage.same("servers that answer, one being down", names[:-1], answering(disks(user)))

    with stage.restore("all answer, and it is mounted"):
        stage.same("servers that answer, at last", names, answering(disks(user)))
        stage.same("mcmount, at last", 0, mc(lab, user, "mcmount", FILESYSTEM).rc)
