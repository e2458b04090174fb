"""Files on the parallel filesystem: where their parts go, by which way, and that nothing of them is lost.

Claim: a file puts a third of its size on each of its four servers; clients of JUBL reach them over the b channels and
nodes of JUMP over f. Clients that write blocks of one file in turns, and a server that dies under a writer, leave no
wrong block.

Source: issue 4, 1 and 7.
"""

from causeway.lab.filesystems import administrators
from causeway.lab.pools.bluegene import restart, switch_off
from causeway.lab.probes import fio
from causeway.lab.probes.fio import Job
from causeway.scenario.stage import Stage
from causeway.wait import until

SIZE_MIB = 256
#: Writes, or reads and counts the wrong ones of, every n-th block of a file from the i-th on.
BLOCKS = """
import hashlib, os, sys
file, verb, i, n, count, size = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
def block(k):
    return hashlib.sha256(b"%d" % k).digest() * (size // 32)
fd = os.open(file, os.O_RDWR | os.O_CREAT)
wrong = 0
for k in range(i, count, n):
    if verb == "write":
        assert os.pwrite(fd, block(k), k * size) == size
    else:
        wrong += os.pread(fd, size, k * size) != block(k)
os.fsync(fd)
print(wrong)
"""
BLOCK = 64 * 1024


def play(stage: Stage) -> None:
    lab, servers = stage.lab, stage.site.servers("work")
    io_nodes = lab.booted()

    def blocks(verb: str, file: str, clients: list[str], count: int) -> int:
        """All clients at the same time, each its own blocks; the number of wrong ones."""
        argv = ["python3", "-c", BLOCKS, file, verb]
        jobs = [
            lab.start_on(client, *argv, str(i), str(len(clients)), str(count), str(BLOCK))
            for i, client in enumerate(clients)
        ]
        return sum(int(job.result(300).must()) for job in jobs)

    def received(server: str) -> dict[str, int]:
        lines = lab.on(server, "cat", "/proc/net/dev").must().splitlines()[2:]
        return {line.split(":")[0].strip(): int(line.split(":")[1].split()[0]) for line in lines}

    def used_mib(server: str) -> float:
        return int(lab.on(server, "df", "--output=used", "-k", "/disks/work").must().split()[-1]) / 1024

    def kill_brick(server: str) -> None:
        lab.on(server, "sh", "-c", "kill -9 $(cat /run/gluster/vols/work/*.pid)").must()

    def start_bricks() -> None:
        lab.on("nsd01", "gluster", "--mode=script", "volume", "start", "work", "force").must()

    def write_from(client: str, leg: str) -> None:
        """A file from a client: a third on each server, come in by one of its legs and by no other."""
        before = {s: (used_mib(s), received(s)) for s in servers}
        fio.play(lab, [Job(client, f"/work/{client}", 0, SIZE_MIB)], "write")
        for server in servers:
            disk, devices = before[server]
            stored = used_mib(server) - disk
            stage.compare(f"{client}: stored on {server}", round(SIZE_MIB / 3, 1), round(stored, 1), "MiB", 0.02)
            now = received(server)
            by = {device: (now[device] - devices[device]) / 2**20 for device in ("eth0", "eth1", "bond0")}
            came = by.pop(leg)
            stage.compare(f"{client}: received by {server}'s {leg}", round(SIZE_MIB / 3, 1), round(came, 1), "MiB", 0.1)
            stage.holds(f"{client}: less than 1 % came to {server} by its other legs", sum(by.values()) < came / 100)

    with stage.healthy("JUBL's clients reach the servers over b, JUMP's over f"):
        write_from("FEN", "bond0")
        stage.defer(lambda: administrators.mc(lab, "cn01", "mcumount", "all").must())
        administrators.mc(lab, "cn01", "mcmount", "all").must()
        write_from("cn01", "eth0")

    groups = (io_nodes[:2], io_nodes[:8])
    with stage.perturb("two clients, and then eight, write blocks of 64 KiB of one file in turns"):
        for clients in groups:
            blocks("write", f"/work/turns{len(clients)}", clients, 1024)

    with stage.judge("they have left no wrong block"):
        for clients in groups:
            file = f"/work/turns{len(clients)}"
            wrong = blocks("read", file, ["FEN"], 1024) + blocks("read", file, clients[::-1], 1024)
            stage.compare(f"wrong blocks of {len(clients)} clients", 0, wrong, "of 1024", 0)
        blocks("write", "/work/turns2", ["FEN"], 1)
        lab.on("FEN", "sh", "-c", f"printf x | dd of=/work/turns2 bs=1 seek={BLOCK * 7} conv=notrunc").must()
        stage.compare("a wrong block is seen", 1, blocks("read", "/work/turns2", ["FEN"], 1024), "of 1024", 0)

    with stage.judge("a server that dies under a writer costs no block, and is healed when it is back"):
        writer = lab.start_on("FEN", "python3", "-c", BLOCKS, "/work/killed", "write", "0", "1", "1024", str(BLOCK))
        until(
            "it writes", lambda: "" if lab.on(io_nodes[0], "test", "-s", "/work/killed").rc == 0 else "-", deadline_s=9
        )
        kill_brick("nsd03")
        stage.compare("the writer ended well", 0, writer.result(300).rc, "exit code", 0)
        left = [row["servers"] for row in administrators.rows(lab, "FEN", "mclsmount", "work")]
        stage.compare("what its client says", "3 of 4", left[0], "", 0)
        stage.compare("wrong blocks, one server dead", 0, blocks("read", "/work/killed", io_nodes[:2], 1024), "", 0)
        start_bricks()

        def unhealed() -> str:
            said = lab.on("nsd01", "gluster", "volume", "heal", "work", "info").must()
            counts = [line.split()[-1] for line in said.splitlines() if line.startswith("Number of entries")]
            return "" if counts == ["0"] * 4 else " ".join(counts)

        until("work is healed", unhealed, deadline_s=120, poll_s=1)
        kill_brick("nsd01")
        stage.defer(start_bricks)
        wrong = blocks("read", "/work/killed", io_nodes[:2], 1024)
        stage.compare("wrong blocks, read with what was healed", 0, wrong, "of 1024", 0)

    with stage.contrast("with two servers dead there is no reading, and a mount says so"):
        kill_brick("nsd02")
        lab.on("FEN", "umount", "-l", "/work").must()
        said = administrators.mc(lab, "FEN", "mcmount", "work")
        told = "too few of its servers serve it" in said.stderr
        stage.compare("mcmount with two of four servers", True, told and said.rc == 1, "", 0, said.stderr)
        stage.undo()
        administrators.mc(lab, "FEN", "mcmount", "work").must()
        lab.on("FEN", "sh", "-c", "rm -f /work/FEN /work/cn01 /work/turns* /work/killed").must()

    with stage.judge("without SN's daemon its nodes are arbitrating; who is off is unknown, and holds nobody up"):
        off = io_nodes[-1]
        stage.defer(lambda: restart(lab, [off]))
        switch_off(lab, off)
        stage.defer(lambda: administrators.mc(lab, "SN", "mcmount", "all").must())
        stage.defer(lambda: administrators.mc(lab, "SN", "mcstartup").must())
        administrators.mc(lab, "SN", "mcshutdown").must()
        began = float(lab.on("FEN", "date", "+%s.%N").must())
        seen = administrators.states(lab, "SN")
        took = float(lab.on("FEN", "date", "+%s.%N").must()) - began
        expected = dict.fromkeys(seen, "arbitrating") | {"SN-b": "down", off: "unknown"}
        stage.compare("mcgetstate -a", str(expected), str(seen), "", 0)
        stage.compare("it answers within 3 s for a node that is off", True, took < 3.5, "", 0, f"{took:.2f} s")

    with stage.restore("all are active again"):
        until(f"{off} is up", lambda: "" if lab.state(off) == "up" else lab.state(off), deadline_s=60)
        stage.compare("states", {"active"} == set(administrators.states(lab, "SN").values()), True, "", 0)
