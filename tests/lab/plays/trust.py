"""Trust and grants, as a client sees them: what each way of refusing looks like, and how long it takes.

Claim: the servers enforce who may mount what, and how; a change holds for new mounts at once, and a denial for old
ones, too. Two keys of a cluster are valid while it changes from one to the other.

Source: issue 4, "Trust and grants, enforced by the servers"; Redpaper, "Key exchange between the two GPFS clusters".
"""

from causeway.lab import filesystems
from causeway.lab.clock import Watch
from causeway.report.result import Table
from causeway.scenario.stage import Stage
from causeway.scenario.trust import (
    ARBITRATING,
    GONE,
    KEY_NOT_KNOWN,
    MOUNTED,
    NO_CONTACT,
    NOT_GRANTED,
    OTHER_KEY,
    Trust,
    writing,
)

OWNER, CLIENT = "nsd01", "FEN"
FILE = "/work/trust"


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    trust, rows = Trust(stage, "work"), list[list[str]]()
    jump, jubl, owner, ours, grant = trust.owner_name, trust.client_name, trust.owner, trust.client, trust.grant

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

    stage.defer(lambda: ours("mcmount", "all", "-a"))
    four = ",".join(filesystems.member(lab, node) for node in site.topology.filesystems["work"].servers)

    with stage.healthy("the lab comes up with both clusters knowing each other, and work mounted"):
        does("granted rw: root writes", "root", f"echo secret >{FILE} && chmod 600 {FILE} && stat -c %U {FILE}")

    with stage.judge("the owner's servers let in whom it knows and has granted access, and as it says"):
        trust.tell_owner()
        owner("mcauth", "delete", jubl)
        mounts("cluster not known to the owner", KEY_NOT_KNOWN)
        owner("mcauth", "add", jubl, "-k", "/tmp/client.pub")
        mounts("known, nothing granted", NOT_GRANTED)
        grant("rw")
        owner("mcauth", "grant", jubl, "-f", "home1", "-a", "rw", "-r", "no")
        mounts("granted rw", MOUNTED)
        filesystems.mc(lab, CLIENT, "mcmount", "home1").must()

        grant("ro")
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

    with stage.judge("denied while it writes, a client loses the filesystem at once"):
        with writing(stage, CLIENT, FILE) as fails:
            began = float(lab.on(OWNER, "date", "+%s.%N").must())
            trust.deny()
            failed_at, why = fails()
        sees("denied while mounted: the next write", GONE, why, failed_at - began)
        does("denied: the other filesystem goes on", "home1", "touch /home1/x && stat -c %n /home1 | tr -d /")
        grant("rw")
        does("granted again: the old mount", GONE, f"cat {FILE}")
        mounts("granted again: mounted again", MOUNTED)

    with stage.judge("a client cluster changes its key: both are valid until it commits"):
        lab.on(CLIENT, "cp", "-a", "/var/mc/ssl", "/tmp/ssl.missed").must()
        ours("mcauth", "genkey", "new")
        mounts("new key made, the owner has the old one only", MOUNTED)
        trust.tell_owner()
        mounts("the owner has both keys", MOUNTED)
        ours("mcauth", "genkey", "commit")
        mounts("new key committed, the owner has both", MOUNTED)
        trust.tell_owner()
        mounts("the owner has the new key only", MOUNTED)
        lab.on(CLIENT, "sh", "-c", "rm -r /var/mc/ssl && cp -a /tmp/ssl.missed /var/mc/ssl").must()
        mounts("a node that missed the change, with the old key", ARBITRATING)
        filesystems.mc(lab, CLIENT, "mcstartup").must()
        mounts("the same node after mcstartup", MOUNTED)

    with stage.contrast("the owner changes its key: a client that was not told refuses it, one that was does not"):
        owner("mcauth", "genkey", "new")
        mounts("the owner has made a new key", MOUNTED)
        owner("mcauth", "genkey", "commit")
        mounts("the owner shows the new key, the client knows the old one", OTHER_KEY)
        trust.tell_client()
        mounts("the client has the new key", MOUNTED)

    with stage.judge("contacts are asked one after the other"):
        lab.on(OWNER, "pkill", "-x", "glusterd").must()
        stage.defer(lambda: lab.on(OWNER, "glusterd"))
        mounts("first contact's daemon dead, four contacts", MOUNTED)
        contacts(four.split(",")[0])
        mounts("first contact's daemon dead, no other", NO_CONTACT)
        lab.on(OWNER, "glusterd").must()
        fen = site.first_leg(CLIENT).address
        contacts(four)
        lab.on(OWNER, "ip", "route", "add", "blackhole", f"{fen}/32").must()
        stage.defer(lambda: lab.on(OWNER, "ip", "route", "del", "blackhole", f"{fen}/32"))
        mounts("first contact silent, four contacts", MOUNTED)

    stage.show(Table("What a client sees", ["case", "what the client sees", "seconds"], rows))

    with stage.restore("all is as the lab came up"):
        does("restored: root writes", "root", f"touch {FILE} && stat -c %U {FILE}")
