"""One of two controllers is lost: so are its files, and what is left has its own controller's rate, half of all.

Claim: who reads a file at the controller that is lost gets an error and no data, once the clients have given it up.
Files at the other one are there, and all clients together have of them what that controller does: half of what both
do. With the controller back all files are there again, and the whole rate.

Cause: here a file lies at one controller, and no other one can take its disks over.

Source: GPFS Best Practices, "DS5300" (two controllers) and "SAN architecture" (no single point of failure: controllers
are double). There the other controller serves the disks of the lost one, and it is the rate alone that halves.
"""

from causeway.lab.faults import link_down
from causeway.model.thing import Port
from causeway.scenario.cast import Arrays, Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import Both, judge, place, show, size_mib, work
from causeway.scenario.words.arrays import File as On
from causeway.scenario.words.storage import judge_ratio

#: Seconds within which clients have given a server up that is silent, and have it again when it is back.
_NOTICED_S = 120


def cast(ask: Ask) -> Arrays:
    return ask.arrays(2, 3)


def play(stage: Stage, cast: Arrays) -> None:
    lost, left = cast.servers[-1], cast.servers[:-1]
    (port,) = (Port(lost, device) for device in stage.site.nodes[lost].interfaces)
    size, at = size_mib(stage, cast), stage.site.topology.filesystems[cast.filesystem].mount_point

    with stage.arrange("each client has an empty file at each controller"):
        placed = place(stage, cast)

    def files(servers: list[str], title: str) -> Both:
        seen = work(stage, cast, placed, {On(client, s): size for client in cast.clients for s in servers})
        judge(stage, title, {way: ends.apart() for way, ends in seen.items()})
        return seen

    def read(server: str) -> int:
        """How many clients get the first byte of their file there."""
        names = {client: placed.names[On(client, server)] for client in cast.clients}
        dd = ("timeout", "30", "dd", "bs=1", "count=1", "of=/dev/null")
        return sum(stage.lab.on(client, *dd, f"if={name}").rc == 0 for client, name in names.items())

    with stage.healthy("both controllers: clients have what both do"):
        both = files(cast.servers, "both controllers")
        for server in cast.servers:
            stage.same(f"clients that read at {server}", len(cast.clients), read(server))

    with stage.perturb(f"{lost} is lost"):
        cable = stage.make(link_down(stage.lab, port.node, port.device))

    with stage.observe("clients give it up"):
        stage.until(f"clients that read at {lost}", lambda: read(lost), is_=0, within_s=_NOTICED_S)

    with stage.judge("its files are gone, and the others have the rate of what is left"):
        one = files(left, f"without {lost}")
        for way, ends in one.items():
            due = len(left) / len(cast.servers)
            judge_ratio(stage, f"without {lost}, {way}", due, ends.apart().seen, both[way].apart().seen, "both")
        stage.same(f"clients that read at {lost}, which is lost", 0, read(lost))
        stage.same(f"clients that read at {left[0]}", len(cast.clients), read(left[0]))

    with stage.contrast("with the controller back its files are there again, and the whole rate"):
        cable.undo()
        everybody = len(cast.clients)
        stage.until(f"clients that read at {lost}, back", lambda: read(lost), is_=everybody, within_s=_NOTICED_S)
        again = files(cast.servers, "both again")
        for way, ends in again.items():
            judge_ratio(stage, f"both again, {way}", 1, ends.apart().seen, both[way].apart().seen, "both")

        for server in cast.servers:
            stage.same(f"clients that read at {server}, back", everybody, read(server))
        titles = {"both controllers": both, f"without {lost}": one, "both again": again}
        rows = {title: {way: ends.apart() for way, ends in seen.items()} for title, seen in titles.items()}
        show(stage, "by the controllers that are there", "controllers", rows)

    with stage.restore("each client makes a file, as before"):
        made = {client: f"{at}/after.{client}" for client in cast.clients}
        codes = {c: stage.lab.on(c, "sh", "-c", f"touch {file} && rm {file}").rc for c, file in made.items()}
        stage.same("exit codes of touch and rm", dict.fromkeys(made, 0), codes)
