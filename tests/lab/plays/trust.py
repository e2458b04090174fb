"""Grants, as a client sees them: what each way of being refused looks like, and how long it takes.

Claim: the servers enforce how a cluster may mount what it is granted; a change holds for new mounts at once, and a
lesser grant for old ones, too. A client refuses an owner whose key is another than it knows, and asks one contact after
the other. What glusterd is spared by nodes/mc/preload changes none of that. (Who is not known, not granted, denied
while writing, or misses a new key: the scenarios `keys_*`.)

Source: Redpaper, "On the remote OWNING cluster, allow access by the CLIENT cluster", "Key exchange between the two GPFS
clusters".
"""

from causeway.lab.changes.files import file_changed
from causeway.lab.clock import Watch
from causeway.lab.filesystems import administrators
from causeway.report.result import Table
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import (
    GONE,
    MOUNTED,
    NO_CONTACT,
    NOT_GRANTED,
    OTHER_KEY,
    Trust,
)

OWNER, CLIENT = "nsd01", "FEN"
FILE = "/work/trust"
#: What glusterd starts for the volume files that it writes; and where it is made to say for which.
FILTER, FILTERED = "/usr/lpp/mc/filter/brick", "/run/filtered"


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    trust, rows = Trust(stage, "work", "JUMP", "JUBL"), list[list[str]]()
    jump, owner, ours, grant = trust.owner_name, trust.owner, trust.client, trust.grant

    def sees(case: str, expected: str, seen: str, seconds: float) -> None:
        stage.compare(case, expected, seen, "", 0)
        rows.append([case, seen, f"{seconds:.1f}"])

    def mounts(case: str, expected: str) -> None:
        """What becomes of a new mount on the front end."""
        watch = Watch()
        seen = trust.new_mount(CLIENT)
        sees(case, expected, seen, watch.virtual_s)

    def does(case: str, expected: str, script: str) -> None:
        """What becomes of a command on what is mounted."""
        watch = Watch()
        done = lab.on(CLIENT, "sh", "-c", script, timeout_s=300)
        seen = done.stdout.strip() if done.rc == 0 else done.stderr.strip().rpartition(": ")[2]
        sees(case, expected, seen, watch.virtual_s)

    def remote(access: str) -> None:
        lab.on("SN", "umount", "-l", "/work")
        ours("mcremotefs", "delete", "work")
        ours("mcremotefs", "add", "work", "-C", jump, "-T", "/work", "-o", access)

    def contacts(names: str) -> None:
        ours("mcremotecluster", "update", jump, "-n", names)

    def filtered() -> set[str]:
        """For which files the owner's filter is started at a change of the volume."""
        lab.on(OWNER, "rm", "-f", FILTERED).must()
        lab.on(OWNER, "gluster", "volume", "set", "work", "cluster.lookup-optimize", "on").must()
        return set(lab.read(OWNER, FILTERED).split())

    stage.defer(lambda: ours("mcmount", "all", "-a"))
    four = ",".join(administrators.member(lab, node) for node in site.servers("work"))

    with stage.healthy("the lab comes up with both clusters knowing each other, and work mounted"):
        does("granted rw: root writes", "root", f"echo secret >{FILE} && chmod 600 {FILE} && stat -c %U {FILE}")

    with stage.perturb("the owner grants the client cluster less than it had"):
        trust.tell_owner()
        grant("ro")

    with stage.judge("the owner's servers let it do what is granted, and no more"):
        does("granted ro: a mount that was rw", GONE, f"cat {FILE}")
        mounts("granted ro: mounted rw", NOT_GRANTED)
        remote("ro")
        mounts("granted ro: mounted ro", MOUNTED)
        does("granted ro: read", "secret", f"cat {FILE}")
        does("granted ro: write", "Read-only file system", f"echo more >>{FILE}")
        lab.on(CLIENT, "mount", "-o", "remount,rw", "/work")
        does("granted ro: write after mount -o remount,rw", "Read-only file system", f"echo more >>{FILE}")
        remote("rw")

        grant("rw", "65534:65534")
        mounts("granted rw, root squashed", MOUNTED)
        private = "mkdir -m 777 -p /work/open && touch /work/open/mine && stat -c %U /work/open/mine"
        does("root squashed: root makes a file", "Permission denied", private)
        does("root squashed: root reads what root may read only", "Permission denied", f"cat {FILE}")
        grant("rw")
        mounts("granted rw, root allowed again", MOUNTED)
        does("root allowed: root writes", "root", f"touch {FILE} && stat -c %U {FILE}")

    with stage.contrast("the owner changes its key: a client that was not told refuses it, one that was does not"):
        owner("mcauth", "genkey", "new")
        mounts("the owner has made a new key", MOUNTED)
        owner("mcauth", "genkey", "commit")
        mounts("the owner shows the new key, the client knows the old one", OTHER_KEY)
        trust.tell_client()
        mounts("the client has the new key", MOUNTED)

    says = lab.read(OWNER, FILTER).replace("set -u\n", f'set -u\necho "${{1##*/}}" >>{FILTERED}\n')
    watched = stage.make(file_changed(lab, OWNER, FILTER, says))
    with stage.judge("the glusterd that mcstartup starts has its own brick's file filtered, and keeps its translators"):
        files = filtered()
        own = [f for f in files if f.startswith(f"work.{administrators.member(lab, OWNER)}.")]
        stage.same("files that are filtered, and are its own", (1, 1), (len(files), len(own)))
        loaded = lab.on(OWNER, "sh", "-c", "grep -c cluster/ec.so /proc/$(pgrep -x glusterd)/maps").stdout.strip()
        stage.holds("it keeps what stripes", loaded != "0", f"{loaded} mappings")

    with stage.judge("contacts are asked one after the other"):
        lab.on(OWNER, "pkill", "-x", "glusterd").must()
        stage.defer(lambda: lab.on(OWNER, "glusterd"))
        mounts("first contact's daemon dead, four contacts", MOUNTED)
        contacts(four.split(",")[0])
        mounts("first contact's daemon dead, no other", NO_CONTACT)
        lab.on(OWNER, "glusterd").must()
        fen = site.known_by(CLIENT).address
        contacts(four)
        lab.on(OWNER, "ip", "route", "add", "blackhole", f"{fen}/32").must()
        stage.defer(lambda: lab.on(OWNER, "ip", "route", "del", "blackhole", f"{fen}/32"))
        mounts("first contact silent, four contacts", MOUNTED)
        files = filtered()
        stage.holds("one that is started by hand has all files filtered", set(own) < files, f"{len(files)} files")
        watched.undo()

    stage.show(Table("What a client sees", ["case", "what the client sees", "seconds"], rows))

    with stage.restore("all is as the lab came up"):
        does("restored: root writes", "root", f"touch {FILE} && stat -c %U {FILE}")
