"""A filesystem in a file of the parallel one: its small files are no calls to the servers.

Claim: empty files that are made on the parallel filesystem are each a call for every server that has a part of them;
made in a filesystem that lies in one large file of it they are none, and take a small part of the bytes and of the
time. They are on the servers all the same: another node that mounts the file has them. With `mount -o loop` the loop
device is given back at the end.

Cause: a disk's filesystem keeps what it is told in memory, and writes blocks; the parallel one asks its servers each
time.

Source: CITA, "Xe cluster details", "Fake Fast Local Disk": "metadata rates are the same as for local disk", "zero load
on OSS and MDS"; a device that is not given back makes numbers grow. Its rates are a CPU's, and are not shown.
"""

from causeway.scenario.cast import Ask, Sharing
from causeway.scenario.stage import Stage
from causeway.scenario.words.loops import Made, devices, found, jobfs, prepare, touch

FILES = 250
#: What a made file's calls are of the others' bytes and seconds at most, in a filesystem of its own.
PART = 0.1


def cast(ask: Ask) -> Sharing:
    return ask.sharing(disks=True)


def play(stage: Stage, cast: Sharing) -> None:
    name, (node, other) = cast.filesystem, cast.clients
    about = stage.site.topology.filesystems[name]
    servers = len(stage.site.servers(name)) if about.layout == "stripe" else 1

    def natively(place: str) -> Made:
        seen = touch(stage, cast, node, f"{about.mount_point}/{place.replace(' ', '-')}", FILES)
        stage.same(f"calls that make a file, {place}", FILES * servers, seen.created)
        return seen

    with stage.arrange(f"{node} makes a file of {name} with a filesystem in it"):
        prepare(stage, cast, node, servers)

    with stage.healthy(f"files made on {name} are a call each to each server"):
        native = natively("native")

    with stage.perturb("the same files are made in the filesystem in a file"), jobfs(stage, cast, node) as mount:
        looped = touch(stage, cast, node, mount, FILES)

    with stage.judge("the servers were asked to make none of them, and the network has hardly seen them"):
        stage.same("calls that make a file, in the file", 0, looped.created)
        stage.holds(f"bytes, less than {PART:g} of the others'", looped.sent < PART * native.sent, looped.sent)
        stage.holds(f"seconds, less than {PART:g} of the others'", looped.took_s < PART * native.took_s, looped.took_s)
        stage.same(f"loop devices in use on {node}, afterwards", 0, devices(stage, node))

    with stage.judge(f"{other} has them all, once {node} has unmounted them"), jobfs(stage, cast, other):
        stage.same("files", FILES, found(stage, other))

    with stage.contrast("made natively again, each is a call to each server"):
        natively("native again")

    with stage.restore("no file is left, and no loop device in use"):
        stage.same(f"loop devices in use on {node}", 0, devices(stage, node))
