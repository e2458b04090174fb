"""The level of each node's software, and an update of the system that loses the filesystem's on all I/O nodes.

Claim: all nodes have one level, and `mcgetstate -L` says where one has another. What an update puts into $BGLOS is the
system's own: I/O nodes boot from it, sshd and all, and each says that the filesystem's software is not there. Once that
is installed there again, the same boot has the filesystems.

Source: Redpaper, "GPFS software installation": "Although it may be possible to have mixed PTF levels within a cluster,
we decided to start with a homogeneous setup"; "Updates to the Blue Gene system software ... will replace the $BGLOS
directory. So after each such update you need to reinstall the GPFS software into $BGLOS".
"""

from causeway.lab import filesystems
from causeway.lab.changes.files import file_changed
from causeway.lab.filesystems.administrators import member, rows
from causeway.lab.pools import bluegene, boards
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import boot_as_the_lab, free_all
from causeway.scenario.words.diskless import how_booted

BGLOS = "/bgl/BlueLight/ppcfloor/bglsys/bin/bglOS"
#: Where the new tree is made; and the two places at which the service node has the old one, its own and NFS's.
NEW, PLACES = "/run/update", (BGLOS, f"/srv/nfs4{BGLOS}")
#: Lists what is the filesystem's below /usr: the commands, their names in /usr/sbin, and the files of its packages.
LIST = """
cd / && {
	echo usr/lpp/mc
	find usr/sbin -lname '/usr/lpp/mc/*'
	for file in $(dpkg -L $(dpkg-query -W -f '${Package} ' '*gluster*')); do
		if [ -f $file ] || [ -L $file ]; then echo ${file#/}; fi
	done | grep ^usr/
} >/tmp/ours
"""
#: Makes a tree of the system alone, and puts it in the place of the old one, which nobody has mounted meanwhile.
UPDATE = f"""
set -e
{LIST}
mkdir -p {NEW} && mount -t tmpfs -o size=1g,mode=755 update {NEW}
tar -C {BGLOS} -cf - --exclude-from=/tmp/ours usr | tar -C {NEW} -xf -
for place in {" ".join(PLACES)}; do mount -o bind {NEW}/usr $place/usr; done
exportfs -f
"""
INSTALL = f"{LIST} tar -C / -cf - -T /tmp/ours | tar -C {BGLOS} -xf -"
BACK = f"exportfs -f; for place in {' '.join(PLACES)}; do umount -l $place/usr; done; umount -l {NEW}; exportfs -f"
#: A file of the commands, and a patch of it that changes nothing but its bytes.
PATCHED, PATCH = "/usr/lpp/mc/mc/table.py", "# patched\n"
LOST = "finds no filesystem software in $BGLOS"


def play(stage: Stage) -> None:
    lab, user = stage.lab, "FEN"
    sn, nodes = bluegene.service_node(lab), lab.booted()
    block = bluegene.pool_of(lab).booted

    def do(node: str, command: str) -> str:
        return lab.on(node, "sh", "-c", command, timeout_s=300).must()

    def levels() -> dict[str, str]:
        return {row["node_name"]: row["level"] for row in rows(lab, sn, "mcgetstate", "-a", "-L")}

    def mounted() -> set[str]:
        """The nodes that have all filesystems."""
        return set.intersection(*(set(where) & set(nodes) for where in filesystems.mounted(lab).values()))

    with stage.healthy("all nodes have one level"):
        (level,) = set(levels().values())
        stage.holds(
            "a level names the driver's release and the commands", "glusterfs " in level and ", mc " in level, level
        )
        stage.same("nodes with a level", len(nodes) + 2, len(levels()))
        stage.same("levels are told of", False, "levels" in do(sn, "mcgetstate -a -L"))
        stage.same("nodes with all filesystems", set(nodes), mounted())

    with stage.perturb("the front end gets a patch; then the system is updated while its block is free"):
        stage.make(file_changed(lab, user, PATCHED, lab.read(user, PATCHED) + PATCH))
        other = {node for node, its in levels().items() if its != level}
        stage.same("nodes of another level", {member(lab, user)}, other)
        said = do(sn, "mcgetstate -a -L").splitlines()[-1]
        stage.same("what is told", "the nodes have software of 2 levels", said)
        bluegene.deallocate(lab, block)
        stage.defer(lambda: boot_as_the_lab(stage), "the lab's own block is not booted")
        stage.defer(lambda: do(sn, BACK))
        stage.defer(lambda: free_all(stage))
        do(sn, UPDATE)

    with stage.judge("its nodes boot, without the filesystem, and say why; sshd runs"):
        done = bluegene.allocate(lab, block)
        stage.same("bglallocate", 1, done.rc, done.stdout[-300:])
        stage.same("how they booted", ["up, but failed: S40fs S41fs_mount"] * len(nodes), how_booted(stage, nodes))
        stage.same("nodes that do not say so", [], boards.silent(lab, nodes, LOST))
        stage.same("events", len(nodes), do(sn, f"bglras -b {block}").count(LOST))
        stage.same("nodes with filesystems", set(), mounted())
        stage.same("ssh", 0, lab.on(sn, "ssh", "-o", "BatchMode=yes", nodes[0], "true").rc)
        ended = [line.at_s for line in boards.console(lab, nodes[0]) if "boot ended" in line.text]
        stage.holds("nobody waits for a daemon that is not there", ended[0] < 15, f"boot ended after {ended[0]} s")

    with stage.contrast("the software is installed into the new tree, and they have it all again, at the same level"):
        do(sn, INSTALL)
        stage.same("bglallocate, installed again", 0, bluegene.reboot(lab, block).rc)
        stage.same("nodes with all filesystems, installed again", set(nodes), mounted())
        stage.same("levels of the I/O nodes", {level}, {levels()[member(lab, node)] for node in nodes})

    with stage.restore("the old tree is back, and all nodes have one level"):
        stage.same("levels", {level}, set(levels().values()))
        stage.same("nodes with all filesystems, at last", set(nodes), mounted())
