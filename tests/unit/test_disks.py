"""What a site says of its disks: what is rendered of it, what is computed with it, who is not asked where it counts."""

from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest

from causeway.errors import BadInput, Unsupported
from causeway.lab import clock, disks
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.topology import Disk
from causeway.plan.files import DiskShare, disk_share, each_mb
from causeway.render.filesystems import files
from causeway.scenario.cast import Ask
from causeway.scenario.words.files import enough_mib
from tests.unit.test_plan_files import goes

JUBL = load_site(Path(__file__).parents[2] / "topologies/jubl/site.yaml")
DISK = Disk(read_mb=20, write_mb=10)
SLOW = Disk(read_mb=20, write_mb=10, read_us=5000, write_us=8000)
ION = JUBL.diskless()[0]


def with_disk(disk: Disk) -> Site:
    """jubl, with such disks for work."""
    filesystems = JUBL.topology.filesystems
    changed = filesystems | {"work": filesystems["work"].model_copy(update={"disk": disk})}
    return replace(JUBL, topology=JUBL.topology.model_copy(update={"filesystems": changed}))


def text_of(tmp_path: Path, old: str, new: str) -> Site:
    file = tmp_path / "site.yaml"
    text = (Path(__file__).parents[2] / "topologies/jubl/site.yaml").read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return load_site(file)


def test_a_server_mounts_what_is_said_of_its_disk_and_other_disks_as_before() -> None:
    lines = files(with_disk(SLOW), "nsd01")["etc/fstab"].text.splitlines()
    assert lines[1] == "home1\t/disks/home1\ttmpfs\tsize=512m,nr_inodes=32768,x-mount.mkdir\t0\t0"
    assert lines[2] == "work\t/disks/work\tdisk\tsize=2048,arm=20000:10000:5000:8000\t0\t0"


@pytest.mark.parametrize(
    ("memory", "arm", "sizes"),
    [(20_000, False, (1536, 6144)), (4_704, False, (418, 1675)), (4_704, True, (409, 1638)), (1_024, False, (34, 139))],
)
def test_all_disks_full_fit_in_the_labs_memory_beside_what_its_nodes_take(
    memory: int, arm: bool, sizes: tuple[int, int]
) -> None:
    site = disks.fitted(with_disk(SLOW) if arm else JUBL, memory)
    assert tuple(f.size_mib for f in site.topology.filesystems.values()) == sizes
    rows = [line.split() for node in site.servers("work") for line in files(site, node)["etc/fstab"].text.splitlines()]
    held = sum(int(row[3].split(",")[0].strip("size=m")) for row in rows if row[0] in ("home1", "work"))
    assert held < max(memory - 1024 - 32 * len(site.nodes), memory / 4) < memory


def test_a_lab_is_rendered_with_the_disks_that_its_memory_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from causeway.lab import deploy

    class Rendered(Exception):
        """What for."""

    def render(site: Site, _secrets: object) -> object:
        raise Rendered(site.topology.filesystems["work"].size_mib)

    monkeypatch.setattr(deploy, "LABS", tmp_path / "labs")
    monkeypatch.setattr(deploy, "RUNS", tmp_path)
    monkeypatch.setattr(deploy, "render", render)
    monkeypatch.setattr(deploy, "_containers", lambda _: [])
    monkeypatch.setattr(disks, "memory_mib", lambda: 4_704)
    file = Path(__file__).parents[2] / "topologies/jubl/site.yaml"
    with pytest.raises(Rendered, match="1675"):
        deploy.up(deploy.Deployment(file, None, None, "virtual"), lambda _: None)


def test_the_memory_is_that_of_the_kernel_that_the_lab_runs_on(tmp_path: Path) -> None:
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:        4718592 kB\nMemFree:          100000 kB\n")
    assert disks.memory_mib(file) == 4608


@pytest.mark.parametrize(("own", "written"), [(True, "1\n"), (False, "")])
def test_only_a_lab_host_of_its_own_forgets_what_it_has_read_to_come_up(
    own: bool, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "drop_caches").touch()
    monkeypatch.setattr(disks, "_VM", tmp_path)
    monkeypatch.setattr(clock, "is_uml", lambda: own)
    disks.forget_beginnings()
    assert (tmp_path / "drop_caches").read_text() == written


def test_the_trees_of_diskless_nodes_lie_on_one_disk_each_mounted_by_itself(tmp_path: Path) -> None:
    from causeway.render.secrets import Secrets
    from causeway.render.site import render

    disk = "disk: {read_mb: 60, write_mb: 50, write_us: 8000}"
    site = text_of(tmp_path, "var_mib: 8}", f"var_mib: 8, {disk}}}")
    fstab = render(site, Secrets(site))["nodes/SN/etc/fstab"].text
    assert "bgl\t/bgl\tdisk\tsize=128,arm=60000:50000:0:8000\t0\t0\n" in fstab
    own = [line for line in fstab.splitlines() if line.startswith("/bgl/gpfsvar/")]
    assert len(own) == len(site.diskless())
    assert all(line.split("\t")[0] == line.split("\t")[1] for line in own)


@pytest.mark.parametrize(("direction", "mb"), [("write", 10), ("read", 20)])
def test_a_stripe_is_as_fast_as_all_disks_that_hold_its_data(direction: str, mb: int) -> None:
    site = with_disk(DISK)
    share = disk_share(site, "work", "nsd02", direction)  # type: ignore[arg-type]
    assert share == DiskShare("the disk of work at nsd02", pytest.approx(1 / 3), mb)
    shares = [
        replace(one, disk=disk_share(site, "work", server, direction))  # type: ignore[arg-type]
        for one, server in zip(goes(site, ION, direction), site.servers("work"), strict=False)  # type: ignore[arg-type]
    ]
    assert each_mb(site, {ION: shares})[ION] == pytest.approx(3 * mb)


def test_a_disk_that_is_faster_than_the_network_bounds_nothing() -> None:
    site = with_disk(Disk(read_mb=1000, write_mb=1000))
    shares = [replace(one, disk=DiskShare("d", 1 / 3, 1000)) for one in goes(site, ION, "write")]
    assert each_mb(site, {ION: shares}) == each_mb(JUBL, {ION: goes(JUBL, ION, "write")})


def test_nothing_is_said_of_a_disk_where_the_site_says_nothing() -> None:
    assert disk_share(JUBL, "work", "nsd01", "write") is None
    assert not JUBL.has_disks()


def test_who_has_to_compute_rates_is_not_given_disks_that_seek() -> None:
    Ask(with_disk(DISK)).unsought("work")
    with pytest.raises(Unsupported, match="has no filesystem whose disks' rate alone says how fast they are"):
        Ask(with_disk(SLOW)).unsought("work")


def test_a_machine_that_is_itself_the_lab_host_has_no_such_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "is_uml", lambda: False)
    disks.ready(JUBL)
    with pytest.raises(
        BadInput, match=r"jubl says what its disks do, and .*; take `disk` out of its file, or take another"
    ):
        disks.ready(with_disk(DISK))


def test_disks_begin_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But where nodes boot over the network: their kernel is the one that writes to their disks."""
    monkeypatch.setattr(clock, "is_uml", lambda: True)
    monkeypatch.setattr(disks, "_VM", tmp_path)
    looks = tmp_path / "dirty_writeback_centisecs"
    disks.ready(with_disk(DISK))
    assert (tmp_path / "dirty_background_bytes").read_text() == "65536\n" and not looks.exists()
    disks.ready(load_site(Path(__file__).parents[2] / "topologies/swgpfs/site.yaml"))
    assert looks.read_text() == "1\n"


def test_a_file_is_so_large_that_its_disks_write_for_two_seconds() -> None:
    # a stripe over four servers, one of them for parity: 10 MB/s on each of three
    assert enough_mib(with_disk(DISK), "work") == ceil(2 * 3 * 10e6 / 2**20)
    assert enough_mib(JUBL, "work") == 32
