"""A bundle: what is in it gets into another cache, and one that is damaged, or another's, does not."""

import json
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from causeway import process
from causeway.errors import BadInput
from causeway.hosts import artefacts, bundle, made_of
from causeway.process import Result


@dataclass(frozen=True)
class Built:
    """An artefact whose key does not depend on this checkout."""

    name: str
    about: str = "a thing"

    @property
    def folder(self) -> Path:
        return artefacts.folders.cache() / f"{self.name}-0123"

    @property
    def built(self) -> bool:
        return self.folder.is_dir()


ONE, TWO = Built("one"), Built("two")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAUSEWAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(artefacts, "ALL", (ONE, TWO))
    monkeypatch.setattr(artefacts, "missing", lambda: [one for one in (ONE, TWO) if not one.built])
    monkeypatch.setattr(made_of, "manifest", lambda: {"one": {"thing": "1.0"}})
    real = process.run

    def run(argv: list[str], **kwargs: object) -> Result:
        if "pip" not in argv:
            return real(argv, **kwargs)  # type: ignore[arg-type]
        wheels = Path(argv[-1])
        wheels.mkdir()
        (wheels / "typer-1.whl").write_text("a wheel")
        return Result(tuple(argv), 0, "", "")

    monkeypatch.setattr(process, "run", run)
    for artefact in (ONE, TWO):
        (artefact.folder / "inner").mkdir(parents=True)
        (artefact.folder / "inner" / "linux").write_text(f"program of {artefact.name}")
        (artefact.folder / "inner" / "linux").chmod(0o755)
    with (ONE.folder / "sparse.img").open("wb") as image:
        image.truncate(2**24)
        image.write(b"first")
    return tmp_path / "cache"


@pytest.fixture
def file(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle; the cache is another one now, in which there is nothing."""
    bundle.write(tmp_path / "b.tgz", lambda _: None)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b.tgz", cache.name]
    monkeypatch.setenv("CAUSEWAY_CACHE", str(tmp_path / "other"))
    return tmp_path / "b.tgz"


def test_what_was_built_is_in_another_cache_as_it_was(file: Path) -> None:
    assert bundle.read(file, lambda _: None) == ["one-0123", "two-0123"]
    assert (ONE.folder / "inner" / "linux").read_text() == "program of one"
    assert (ONE.folder / "inner" / "linux").stat().st_mode & 0o777 == 0o755
    image = (ONE.folder / "sparse.img").stat()
    assert image.st_size == 2**24 and image.st_blocks * 512 < 2**22
    assert sorted(one.name for one in artefacts.folders.cache().iterdir()) == ["one-0123", "two-0123"]
    assert bundle.read(file, lambda _: None) == []  # once more is fine


def test_wheels_and_what_is_in_it_are_said(file: Path) -> None:
    with tarfile.open(file) as tar:
        assert tar.getnames()[0] == bundle.ABOUT and "wheels/typer-1.whl" in tar.getnames()
        inner = tar.extractfile(bundle.ABOUT)
        assert inner is not None
        about = json.loads(inner.read())
    assert about["made_of"] == {"one": {"thing": "1.0"}} and len(about["sha256"]) == 4


def changed(file: Path, folder: Path, path: str, text: str) -> Path:
    """The same bundle with another text in one of its files."""
    inside = folder / "inside"
    inside.mkdir()
    process.run(["tar", "-xzf", str(file), "-C", str(inside)]).must()
    (inside / path).write_text(text)
    process.run(["tar", "-czf", str(folder / "changed.tgz"), "-C", str(inside), "."]).must()
    return folder / "changed.tgz"


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("two-0123/inner/linux", "another program", r"is damaged: two-0123/inner/linux \(1 files\)"),
        ("one-0123/more", "one more", r"is damaged: one-0123/more \(1 files\)"),
        (bundle.ABOUT, "{}", "is no bundle: it has no bundle.json that says"),
        (
            bundle.ABOUT,
            '{"artefacts": ["one-0123", "two-9999"], "sha256": {}}',
            "another version of Causeway: it has not two-0123",
        ),
    ],
)
def test_what_is_not_whole_or_not_ours_is_refused(path: str, text: str, said: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        bundle.read(changed(file, tmp_path, path, text), lambda _: None)
    assert list(artefacts.folders.cache().iterdir()) == []


def test_a_file_that_is_no_bundle_is_refused(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "b.tgz").write_text("no archive")
    with pytest.raises(BadInput, match=r"b\.tgz cannot be unpacked"):
        bundle.read(tmp_path / "b.tgz", lambda _: None)
    assert sorted(one.name for one in cache.iterdir()) == ["one-0123", "two-0123"]


def test_nothing_is_overwritten_and_nothing_half_built_is_packed(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "b.tgz").touch()
    with pytest.raises(BadInput, match=r"b\.tgz exists"):
        bundle.write(tmp_path / "b.tgz", lambda _: None)
    with pytest.raises(BadInput, match="no-folder is no folder"):
        bundle.write(tmp_path / "no-folder" / "b.tgz", lambda _: None)
    (cache / "two-0123").rename(cache / "two-4567")
    with pytest.raises(BadInput, match="not built yet: a thing; `causeway build` builds it"):
        bundle.write(tmp_path / "c.tgz", lambda _: None)
