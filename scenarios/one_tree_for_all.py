"""Nodes that have one root between them are changed by one file; nodes with disks have the image pushed to each.

Claim: diskless nodes mount one tree of their server's as their root, and none of them can write to it. What each must
write is its own, and nodes of a class have files of their class. A file that is changed in the tree is changed on all
of them at once, and nobody boots. To push the same tree to hosts with disks costs its size for each of them, by the
pusher's one link, and overwrites what a host has of its own, unless that stands in the list of what is left out.

Cause: what is there once is changed once. A copy is changed by sending it, and one link sends one after the other.

Source: CITA, "Xe cluster details", "OS/Install": "ro root over NFS and rw PBS spool dirs", "push out updates",
"excludes for the rsync"; "oneSIS": mk-sysimage "only does each thing once". tar by ssh stands for rsync, which would
send a first image whole, too.
"""

from dataclasses import dataclass

from causeway.lab.changes.files import file_changed
from causeway.scenario.cast import Ask, Diskless, Imaged
from causeway.scenario.stage import Stage
from causeway.scenario.words import onesis
from causeway.scenario.words.onesis import MOTD, NETWORK, PUSHED, ROOT, SPOOL, class_texts, having, texts
from causeway.scenario.words.routes import counting

#: New software in the tree, and its size.
NEW, NEW_MIB = "/opt/new", 16
READ_ONLY = "Read-only file system"
OWN = "BOOTPROTO=static"
TOLERANCE, WHY = 0.05, "ssh has headers of its own, and a push begins with logins"


@dataclass(frozen=True)
class Cast:
    """Diskless nodes with one root, and hosts with disks beside their server."""

    diskless: Diskless
    imaged: Imaged


def cast(ask: Ask) -> Cast:
    diskless = ask.diskless(8, platform="onesis", least=2)
    return Cast(diskless, ask.imaged(diskless.server, 2))


def play(stage: Stage, cast: Cast) -> None:
    lab, nodes, server, hosts = stage.lab, cast.diskless.nodes, cast.diskless.server, cast.imaged.hosts
    owner, legs = f"{SPOOL}/owner", list(stage.site.nodes[server].interfaces)

    with stage.healthy("all have one root, to read; each has a spool of its own, and files by its class"):
        stage.same("what writing to / is answered", [READ_ONLY] * len(nodes), onesis.refused(stage, nodes, "/written"))
        for node in nodes:
            stage.make(file_changed(lab, node, owner, f"{node}\n"))
        stage.same(f"{owner}, on each", nodes, texts(stage, nodes, owner))
        stage.same(f"{MOTD}, on each", class_texts(stage, cast.diskless, MOTD), texts(stage, nodes, MOTD))
        stage.same("mk-sysimage once more", "mk-sysimage: 0 changed", onesis.sysimage(stage, server))

    with stage.perturb(f"{server} changes a file of the tree, and adds one of {NEW_MIB} MiB"):
        before = onesis.boots_of(stage, nodes)
        with counting(stage, server, legs) as sent:
            stage.make(file_changed(lab, server, f"{ROOT}{MOTD}.default", "The queue is closed on Monday.\n"))
            stage.make(onesis.added(server, NEW, NEW_MIB))
            moved_mb, new_mb = sent() / 1e6, NEW_MIB * 2**20 / 1e6

    with stage.judge("all have both at once, nobody has booted, and until they read nothing was sent"):
        stage.same(f"{MOTD}, on each, at once", class_texts(stage, cast.diskless, MOTD), texts(stage, nodes, MOTD))
        stage.same("nodes that read the new file", nodes, having(stage, nodes, NEW, server, NEW))
        stage.holds("nobody has booted", before == onesis.boots_of(stage, nodes))
        stage.holds("less than 1 % of the new file was sent", moved_mb < new_mb / 100, f"{moved_mb:.3f} MB")
        stage.same(f"{owner}, on each, afterwards", nodes, texts(stage, nodes, owner))

    with stage.contrast(f"pushed to {len(hosts)} hosts with disks the tree costs as many times its size, by one link"):
        stage.defer(lambda: onesis.clear(stage, hosts))
        for host in hosts:
            stage.make(file_changed(lab, host, f"{PUSHED}{NETWORK}", f"{OWN}\n"))
        listed = stage.make(file_changed(lab, server, onesis.EXCLUDED, f".{NETWORK}\n"))
        due_mb = len(hosts) * onesis.image_mb(stage, server)
        due_s, due_wire_mb = due_mb / onesis.link_mb(stage, cast.imaged), due_mb * onesis.framed(stage, cast.imaged)
        pushed = onesis.push(stage, cast.imaged)
        stage.near("sent", round(due_wire_mb, 1), round(pushed.wire_mb, 1), "MB", within=TOLERANCE, why=WHY)
        stage.near("the push took", round(due_s, 2), round(pushed.seconds, 2), "s", within=TOLERANCE, why=WHY)
        stage.same("hosts that have the new file", hosts, having(stage, hosts, f"{PUSHED}{NEW}", server, NEW))
        stage.same("their own file, left out", [OWN] * len(hosts), texts(stage, hosts, f"{PUSHED}{NETWORK}"))

    with stage.contrast("pushed without the list all have the image's file in place of their own"):
        listed.undo()
        onesis.push(stage, cast.imaged)
        stage.same("hosts with the image's file", hosts, having(stage, hosts, f"{PUSHED}{NETWORK}", server, NETWORK))

    with stage.restore("the tree is as it was, on all"):
        stage.same(f"{MOTD}, on each, afterwards", class_texts(stage, cast.diskless, MOTD), texts(stage, nodes, MOTD))
        stage.same("nodes that have the new file", [], having(stage, nodes, NEW, server, NEW))
