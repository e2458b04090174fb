"""An array rebuilds a disk: in one pool all files wait for it, in pools of their own only those that lie on it.

Claim: while one of several arrays does half of what it could, a job whose files lie on all of them is done when the
slow one's are: all arrays together give half, though most of what they could do is there. Where each job's files lie on
an array of its own the others' jobs notice nothing, and all together lose what that array lost.

Cause: who needs all parts waits for the last one, and meanwhile the other arrays have nothing to do.

Source: GPFS Best Practices, "DS3400": RAID rebuilds in one array impede the others of a file system; beyond four arrays
take several file systems or storage pools. What a rebuild takes of an array is ours, a half.
"""

from causeway.lab.changes.disks import disk_slowed
from causeway.plan.storage import slowed
from causeway.scenario.cast import Arrays, Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import Both, judge, place, show, size_mib, work
from causeway.scenario.words.arrays import File as On
from causeway.scenario.words.storage import array_mb, judge_ratio, port_mb

#: The part of its rates that an array has while it rebuilds.
PART = 0.5


def cast(ask: Ask) -> Arrays:
    return ask.arrays(3)


def play(stage: Stage, cast: Arrays) -> None:
    servers, rebuilding = cast.servers, cast.servers[1]
    jobs = cast.clients[: len(cast.clients) // len(servers) * len(servers)]
    own = {client: servers[place % len(servers)] for place, client in enumerate(jobs)}
    port = port_mb(stage, cast, cast.gateways(servers[0])[0])
    whole_mb = array_mb(stage, cast)
    block_mb = {way: min(mb, port) for way, mb in whole_mb.items()}
    slow_mb = {way: min(mb * PART, port) for way, mb in whole_mb.items()}
    size = size_mib(stage, cast)
    pool = {On(client, server): size for client in jobs for server in servers}
    pools = {On(client, server): size * len(servers) for client, server in own.items()}

    with stage.arrange("each client has an empty file on each array"):
        placed = place(stage, cast)

    def in_one(title: str) -> Both:
        seen = work(stage, cast, placed, pool)
        judge(stage, title, {way: ends.together() for way, ends in seen.items()})
        return seen

    def apart(title: str) -> Both:
        seen = work(stage, cast, placed, pools)
        judge(stage, title, {way: ends.apart() for way, ends in seen.items()})
        return seen

    with stage.healthy("one pool or several: all jobs together have what all arrays give"):
        one, several = in_one("one pool"), apart("pools of their own")

    with stage.perturb(f"{rebuilding} rebuilds a disk, and does half of what it could"):
        stage.make(disk_slowed(stage.lab, rebuilding, cast.filesystem, PART))

    slow = slowed(stage.site, cast.filesystem, rebuilding, PART)
    with stage.judge("in one pool every job waits for it: all have what they would if each array were as slow"):
        with stage.as_if(slow):
            one_slow = in_one("one pool, rebuild")
        for way, ends in one_slow.items():
            due, before = slow_mb[way] / block_mb[way], one[way].together().seen
            judge_ratio(stage, f"one pool, {way}", due, ends.together().seen, before, "what it was")

    with stage.contrast("in pools of their own one array's job is slow, and the others are as fast as before"):
        with stage.as_if(slow):
            several_slow = apart("pools of their own, rebuild")
        for way, ends in several_slow.items():
            due = (len(servers) - 1 + slow_mb[way] / block_mb[way]) / len(servers)
            before = several[way].apart().seen
            judge_ratio(stage, f"pools of their own, {way}", due, ends.apart().seen, before, "what it was")
            for server, rate in ends.by_server().items():
                due = slow_mb[way] / block_mb[way] if server == rebuilding else 1.0
                before = several[way].by_server()[server].seen
                judge_ratio(stage, f"jobs on {server}, {way}", due, rate.seen, before, "what it was")

    with stage.restore("the array is whole again"):
        after = work(stage, cast, placed, {On(client, rebuilding): size for client in jobs})
        judge(stage, f"afterwards, {rebuilding}", {way: ends.together() for way, ends in after.items()})
        together = {"one pool": one, "one pool, rebuild": one_slow}
        rows = {title: {way: ends.together() for way, ends in seen.items()} for title, seen in together.items()}
        alone = {"pools of their own": several, "pools of their own, rebuild": several_slow}
        rows |= {title: {way: ends.apart() for way, ends in seen.items()} for title, seen in alone.items()}
        show(stage, "by how they lie on arrays", "files", rows)
