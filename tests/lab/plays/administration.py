"""The administrator's commands as the Redpaper types them: options of mccrcluster, attributes, fstab, RAS events.

Claim: the programs that a cluster names are those by which its nodes are reached; a page pool and a block size are what
a mount holds back and sends at once, on the nodes that they are set for; what mcstartup has written into /etc/fstab is
mounted by `mount`; with autoload a node that boots starts its daemon; an I/O node's failure is listed by bglras.

Source: issue 11, 5.
"""

import re

from causeway.lab import filesystems
from causeway.lab.filesystems import administrators
from causeway.lab.filesystems.administrators import mc, member, rows
from causeway.lab.pools import bluegene
from causeway.lab.power import reboot
from causeway.report.result import Table
from causeway.scenario.stage import Stage
from causeway.scenario.words.membership import put_back, state

FILE, MIB = "/work/administration", 8
#: A program that says that it was called, and does what the usual one does.
WRAPPED = '#!/bin/sh\necho "$*" >>/tmp/called.{0}\nexec /usr/bin/{0} "$@"\n'


def play(stage: Stage) -> None:
    lab, user = stage.lab, "FEN"
    sn, ion = bluegene.service_node(lab), lab.booted()[0]
    cluster = lab.site.nodes[user].cluster or ""
    server = lab.site.servers("work")[0]

    def do(node: str, command: str) -> str:
        return lab.on(node, "sh", "-c", command, timeout_s=300).must()

    def set_to(value: str, *on: str) -> None:
        mc(lab, sn, "mcchconfig", value, *on).must()

    def mounted(node: str) -> list[str]:
        return [name for name, nodes in filesystems.mounted(lab).items() if node in nodes]

    def behind(node: str, what: str) -> int:
        """A number of the client's write-behind, as it says itself."""
        said = do(node, "cat /work/.meta/graphs/active/work-write-behind/private")
        found = re.search(rf"^{what} = (\d+)", said, re.MULTILINE)
        assert found, said
        return int(found[1])

    def again(node: str) -> None:
        do(node, "mcumount work && mcmount work")

    def writes(node: str) -> int:
        """How many writes the servers are asked for when a file is written in pieces of 64 KiB."""
        do(server, "gluster volume profile work start")
        do(node, f"dd if=/dev/zero of={FILE} bs=64k count={MIB * 16} conv=fsync 2>/dev/null; rm {FILE}")
        said = do(server, "gluster volume profile work info incremental; gluster volume profile work stop")
        per_brick = [int(count) for count in re.findall(r"(\d+) +WRITE$", said, re.MULTILINE)]
        return max(per_brick)

    with stage.healthy("fstab has what mcstartup has written, and `mount` mounts it"):
        for node, program in {user: "mount", ion: "/usr/bin/mount"}.items():
            do(node, "umount /work")
            stage.same(f"{node}'s mounts without work", False, "work" in mounted(node))
            do(node, f"{program} /work")
            stage.same(f"{node} has work again", True, "work" in mounted(node))

    with stage.perturb("the front end has a page pool of its own; then blocks of 1024K for all"):
        small = writes(user)
        before = behind(user, "window_size")
        stage.defer(lambda: administrators.mount_everywhere(lab, cluster))
        set_to("pagepool=64M", "-N", member(lab, user))
        again(user)
        again(sn)
        stage.same("window of the front end's mount", 64 * 2**20, behind(user, "window_size"))
        stage.same("window of the service node's", before, behind(sn, "window_size"))
        stage.same("a pool of 2M", 1, mc(lab, sn, "mcchconfig", "pagepool=2M").rc)
        stage.same("a block size while daemons are up", 1, mc(lab, sn, "mcchconfig", "maxblocksize=1024K").rc)
        mc(lab, sn, "mcshutdown", "-a").must()
        set_to("maxblocksize=1024K")
        mc(lab, sn, "mcstartup", "-a").must()
        administrators.mount_everywhere(lab, cluster)
        stage.same("what the front end gathers", 2**20, behind(user, "aggregate_size"))
        large = writes(user)
        stage.show(
            Table(
                "writes of 8 MiB that a server is asked for",
                ["blocks", "writes"],
                [["default", str(small)], ["1024K", str(large)]],
            )
        )
        stage.holds("larger blocks take fewer writes", 2 * large <= small, f"{small}, {large}")
        set_to("maxblocksize=DEFAULT")
        set_to("pagepool=DEFAULT", "-N", member(lab, user))
        again(user)
        stage.same("window, with both taken away", before, behind(user, "window_size"))

    with stage.perturb("autoload"):
        set_to("autoload=yes")
        reboot(lab, user)
        stage.until(f"{user}'s daemon comes up", lambda: state(stage, user), is_="active", within_s=60)
        set_to("autoload=DEFAULT")
        put_back(stage, user)

    with stage.judge("an I/O node boots without host keys for its sshd"):
        do(sn, "mv /bgl/dist/etc/ssh /bgl/dist/etc/ssh.away")
        stage.defer(lambda: do(sn, "[ ! -e /bgl/dist/etc/ssh.away ] || mv /bgl/dist/etc/ssh.away /bgl/dist/etc/ssh"))
        stage.same("events before", "", do(sn, f"bglras -n {ion}"))
        bluegene.restart(lab, [ion])
        said = do(sn, f"bglras -n {ion}")
        stage.holds("bglras has its advisory", "no host keys in" in said and bluegene.pool_of(lab).booted in said, said)
        do(sn, "mv /bgl/dist/etc/ssh.away /bgl/dist/etc/ssh")
        ended = bluegene.restart(lab, [ion])
        stage.same("with its keys it comes up", {ion: "up"}, ended)

    with stage.contrast("a cluster is made with all the options of the Redpaper"):
        for node in (user, ion):
            stage.defer(lambda node=node: put_back(stage, node))  # type: ignore[misc]
            mc(lab, sn, "mcshutdown", "-w", member(lab, node)).must()
            mc(lab, sn, "mcdelnode", member(lab, node)).must()
            stage.defer(lambda node=node: do(node, "cd /var/mc && rm -rf now gen ssl stage state.a state.b"))  # type: ignore[misc]
        for program in ("ssh", "scp"):
            administrators.put(lab, user, f"/tmp/{program}", WRAPPED.format(program))
            do(user, f"chmod +x /tmp/{program}")
        administrators.put(
            lab, user, "/tmp/nodefile", f"{member(lab, user)}:manager-quorum\n{member(lab, ion)}:client\n"
        )
        about = ["-r", "/tmp/ssh", "-R", "/tmp/scp", "-C", "TRY.site.example", "-U", "ONE.site.example", "-A"]
        mc(lab, user, "mccrcluster", "-n", "/tmp/nodefile", "-p", member(lab, user), *about).must()
        for program in ("ssh", "scp"):
            stage.holds(f"{program} was called", member(lab, ion) in do(user, f"cat /tmp/called.{program}"))
        known = {row["attribute"]: row["value"] for row in rows(lab, ion, "mclsconfig")}
        found = [known.get(name) for name in ("autoload", "uidDomain")]
        stage.same("autoload and UID domain there", ["yes", "ONE.site.example"], found)
        stage.same("nothing is left of what was sent", "", do(ion, "ls /run/mc.*.packed 2>/dev/null || :"))

    with stage.restore("both are where they were"):
        stage.same("states", ["active", "active"], [state(stage, node) for node in (user, ion)])
