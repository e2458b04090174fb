"""What the administrators type to bring the filesystems of a site up: which command, and where."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from causeway.errors import BadInput, Unsupported
from causeway.lab.filesystems import administrators
from causeway.lab.lab import Lab
from causeway.model.load import load_site
from causeway.process import Result

SITE = load_site(Path(__file__).parents[1] / "sites/filesystems.yaml")
PAIR = ["mcauth genkey new", "mcchconfig cipherList=AUTHONLY", "mcstartup -a"]


@dataclass(frozen=True)
class Recorder(Lab):
    """A lab that has no nodes: commands are only recorded, as NODE: COMMAND."""

    typed: list[str]
    off: tuple[str, ...] = ()

    def on(self, node: str, *argv: str, timeout_s: float = 60) -> Result:
        assert timeout_s
        self.typed.append(f"{node}: {' '.join(argv)}")
        return Result(argv, 0, "[]", "")

    def file(self, node: str, path: str) -> Path:
        return self.folder / f"{node}{path.replace('/', '_')}"

    def read(self, node: str, path: str) -> str:
        return f"{path} of {node}"

    def state(self, node: str) -> str:
        return "off" if node in self.off else "up"


def lab(folder: Path, *off: str) -> Recorder:
    return Recorder(SITE, folder, [], off)


def say(_: str) -> None:
    """Nobody listens."""


def made(admin: str, name: str) -> list[str]:
    create = f"mccrcluster -n /tmp/nodefile -p {admin} -C {name}.site.example --driver gluster"
    return [f"{admin}: {line}" for line in (create, *PAIR)]


def exchanged(owner: str, at: str, client: str, by: str, filesystem: str, contacts: str) -> list[str]:
    where = f"-f {filesystem} -C {owner}.site.example -T /{filesystem} -A no"
    return [
        f"{at}: mcauth add {client}.site.example -k /tmp/{client}.pub",
        f"{by}: mcremotecluster add {owner}.site.example -k /tmp/{owner}.pub -n {contacts}",
        f"{at}: mcauth grant {client}.site.example -f {filesystem} -a rw -r no",
        f"{by}: mcremotefs add {filesystem} {where}",
    ]


def test_a_cluster_that_is_to_expel_is_told_so_before_its_daemons_begin(tmp_path: Path) -> None:
    clusters = SITE.topology.clusters | {
        "FILES": SITE.topology.clusters["FILES"].model_copy(update={"failure_detection_s": 35})
    }
    expelling = replace(SITE, topology=SITE.topology.model_copy(update={"clusters": clusters}))
    recorder = Recorder(expelling, tmp_path, [])
    administrators.serve(recorder, say)
    told = [line for line in recorder.typed if "failureDetectionTime" in line]
    assert told == ["arc1: mcchconfig failureDetectionTime=35"]
    assert recorder.typed.index(told[0]) < recorder.typed.index("arc1: mcstartup -a")


def test_each_cluster_is_made_where_its_administrator_works_and_granted_what_it_mounts(tmp_path: Path) -> None:
    recorder = lab(tmp_path)
    administrators.serve(recorder, say)
    assert recorder.typed == [
        *made("head", "STRIPES"),
        *made("arc1", "FILES"),
        *made("view1", "VIEWERS"),
        "head: mccrfs scratch -T /scratch -s oss1,oss2,oss3 --layout stripe --parity 1",
        "arc1: mccrfs archive -T /archive -s arc1,arc2 --layout whole --parity 0",
        *exchanged("STRIPES", "head", "FILES", "arc1", "scratch", "oss1,oss2,oss3"),
        *exchanged("STRIPES", "head", "VIEWERS", "view1", "scratch", "oss1,oss2,oss3"),
        *exchanged("FILES", "arc1", "VIEWERS", "view1", "archive", "arc1,arc2"),
    ]
    quorum = {server: (tmp_path / f"{server}_tmp_nodefile").read_text() for server in ("head", "arc1", "view1")}
    members = {"head": ["oss1", "oss2", "oss3", "head"], "arc1": ["arc1", "arc2"], "view1": ["view1"]}
    assert quorum == {
        server: "".join(f"{name}:manager-quorum\n" for name in names) for server, names in members.items()
    }
    assert (tmp_path / "head_tmp_VIEWERS.pub").read_text() == "/var/mc/ssl/id_rsa.pub of view1"
    assert (tmp_path / "view1_tmp_STRIPES.pub").read_text() == "/var/mc/ssl/id_rsa.pub of head"


def test_the_others_join_and_every_cluster_mounts_what_it_mounts_its_own_too(tmp_path: Path) -> None:
    recorder = lab(tmp_path)
    administrators.join(recorder, say)
    assert recorder.typed == [
        "head: mcmount all -a",
        "arc1: mcmount all -a",
        "view1: mcaddnode -n /tmp/nodefile",
        "view1: mcstartup -w view2",
        "view1: mcmount all -a",
    ]
    assert (tmp_path / "view1_tmp_nodefile").read_text() == "view2:client-nonquorum\n"


def test_who_is_off_does_not_join(tmp_path: Path) -> None:
    recorder = lab(tmp_path, "view2")
    administrators.join(recorder, say)
    assert recorder.typed[-1:] == ["view1: mcmount all -a"]
    assert not any("mcaddnode" in line for line in recorder.typed)


def test_an_owner_that_does_not_mount_all_that_it_owns_mounts_by_name(tmp_path: Path) -> None:
    arc = SITE.topology.clusters["FILES"]
    clusters = SITE.topology.clusters | {"FILES": arc.model_copy(update={"mounts": ["scratch"]})}
    site = replace(SITE, topology=SITE.topology.model_copy(update={"clusters": clusters}))
    recorder = Recorder(site, tmp_path, [])
    administrators.mount_everywhere(recorder, "FILES")
    assert recorder.typed == ["arc1: mcmount scratch -a"]


def test_a_cluster_of_two_drivers_is_refused(tmp_path: Path) -> None:
    scratch = SITE.topology.filesystems["scratch"].model_copy(update={"driver": "other"})
    filesystems = SITE.topology.filesystems | {"scratch": scratch}
    site = replace(SITE, topology=SITE.topology.model_copy(update={"filesystems": filesystems}))
    with pytest.raises(BadInput) as caught:
        administrators.driver_name(Recorder(site, tmp_path, []), "VIEWERS")
    assert str(caught.value) == "VIEWERS owns or mounts filesystems of gluster, other; a cluster has one driver"


def test_what_takes_a_filesystem_is_not_for_a_site_without(tmp_path: Path) -> None:
    site = replace(SITE, topology=SITE.topology.model_copy(update={"filesystems": {}}))
    administrators.need(lab(tmp_path))
    with pytest.raises(Unsupported, match="filesystems has no filesystems, and this takes one"):
        administrators.need(Recorder(site, tmp_path, []))
