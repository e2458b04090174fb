"""A cluster loses a filesystem while it writes.

Claim: a denial reaches the writers within a second, with an error and without a hang, and takes that filesystem only.
A new grant does not bring the old mount back; mounting anew does.

Cause: the servers drop the denied cluster's connections. Its clients try again, are refused, and then give up until
somebody mounts.

Source: Redpaper, "On the remote OWNING cluster, allow access by the CLIENT cluster"; issue 5, 4.
"""

from causeway.scenario.stage import Stage
from causeway.scenario.trust import GONE, MOUNTED, Trust, writing

NODE, FILE = "FEN", "/work/denied"


def play(stage: Stage) -> None:
    lab, trust = stage.lab, Trust(stage, "work")

    def use(file: str) -> str:
        return lab.on(NODE, "touch", file).stderr.strip().rpartition(": ")[2] or "works"

    with stage.healthy("the front end can use work and home1"):
        for file in (FILE, "/home1/other"):
            stage.compare(file, "works", use(file), "", 0)

    with stage.perturb("the owner denies work while the front end writes a block every 10 ms"):
        stage.defer(lambda: lab.on(NODE, "rm", "-f", FILE, "/home1/other").must())
        stage.defer(trust.mount_everywhere)
        stage.defer(trust.grant)
        with writing(stage, NODE, FILE) as fails:
            began = float(lab.on(NODE, "date", "+%s.%N").must())
            trust.deny()
            failed_at, why = fails()

    with stage.judge("the writer gets an error at once, and home1 goes on"):
        stage.compare("the writer is told", GONE, why, "", 0)
        stage.compare(
            "within a second of the command", True, 0 < failed_at - began < 1, "", 0, f"{failed_at - began:.2f} s"
        )
        stage.compare("work, denied", GONE, use(FILE), "", 0)
        stage.compare("home1", "works", use("/home1/other"), "", 0)

    with stage.contrast("granted again, the old mount stays dead, and a new one works"):
        trust.grant()
        stage.compare("work, by the old mount", GONE, use(FILE), "", 0)
        stage.compare("a new mount", MOUNTED, trust.new_mount(NODE), "", 0)
        stage.compare("work, by the new mount", "works", use(FILE), "", 0)

    with stage.restore("work is mounted everywhere again"):
        stage.compare("work, afterwards", "works", use(FILE), "", 0)
