"""What a lab is made of: the file that says so, what the builds read of it, and how it moves on."""

import base64
import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from causeway.folders import REPO
from causeway.hosts import pins, updating
from causeway.hosts.pins import Pin

TEXT = """# what it is
snapshot debian 20261122T000000Z
kernel linux-source-7.3 7.3.4-1 sha256:703e
python rich 15.0.0 sha256:33bd
"""


def bash(text: str, *prefix: str) -> str:
    script = f'set -eu; . "{REPO}/images/pins.sh"; {text}'
    return subprocess.run([*prefix, "bash", "-c", script], capture_output=True, text=True, check=True).stdout


def test_a_file_is_read_and_written_back_as_it_was() -> None:
    assert pins.read(TEXT)[1] == Pin("kernel", "linux-source-7.3", "7.3.4-1", "sha256:703e")
    assert pins.written(TEXT, pins.read(TEXT)) == TEXT


def test_what_changed_is_told_with_both_versions() -> None:
    before = pins.read(TEXT)
    after = [before[0], Pin("kernel", "linux-source-7.4", "7.4.1-1"), Pin("python", "rich", "15.0.0", "sha256:44")]
    assert pins.changes(before, before) == []
    assert pins.changes(before, after) == [
        "kernel linux-source-7.3: 7.3.4-1 -> none",
        "python rich: 15.0.0 -> 15.0.0 (another digest)",
        "kernel linux-source-7.4: none -> 7.4.1-1",
    ]


def test_our_own_pins_are_whole() -> None:
    ours = pins.read(pins.file().read_text())
    assert {pin.kind for pin in ours} == {"snapshot", "kernel", "go", "python"}
    without = [pin.name for pin in ours if not re.fullmatch(r"sha256:[0-9a-f]{64}|h1:[\w+/]{43}=", pin.digest)]
    assert without == ["debian"]


def test_the_tool_runs_with_the_same_packages_inside_and_outside() -> None:
    required = re.findall(r"^([\w.-]+)==(\S+)", (REPO / "requirements.txt").read_text(), re.MULTILINE)
    assert sorted(required) == sorted((pin.name, pin.version) for pin in pins.of({"python"}))


def test_the_builds_read_the_same_file() -> None:
    one = pins.of({"kernel"})[0]
    assert bash(f"pinned kernel {one.name}").split() == [one.version, one.digest]
    assert bash("pinned kernel linux-source-1.0") == ""


@pytest.mark.skipif(not shutil.which("unshare"), reason="without unshare(1) no network can be taken away")
def test_without_a_snapshot_mirror_what_is_offered_is_taken_and_told(tmp_path: Path) -> None:
    said = bash(f'unset CAUSEWAY_MIRROR; debian_mirror "{tmp_path}"; echo "$mirror"', "unshare", "-rn")
    assert said.strip() == "http://deb.debian.org/debian"
    assert re.fullmatch(
        r"debian http://deb.debian.org/debian as offered on \d{4}-\d\d-\d\d, for no snapshot mirror was in reach\n",
        (tmp_path / "sources").read_text(),
    )
    assert [file.name for file in tmp_path.iterdir()] == ["sources"]


def test_a_mirror_that_the_user_names_is_taken_and_told(tmp_path: Path) -> None:
    mirror = "http://mirror.site.example/debian"
    assert bash(f'CAUSEWAY_MIRROR={mirror}; debian_mirror "{tmp_path}"; echo "$mirror"').strip() == mirror
    assert mirror in (tmp_path / "sources").read_text()


def test_requirements_get_the_versions_that_are_pinned_and_keep_their_reasons() -> None:
    asked = "# why\nPyYAML==6.0.3               # topology files\nrich==15.0.0\n"
    packages = [Pin("python", "PyYAML", "6.0.4"), Pin("python", "rich", "15.0.0"), Pin("python", "new", "1")]
    expected = "# why\nPyYAML==6.0.4               # topology files\nrich==15.0.0\nnew==1\n"
    assert updating.required(asked, packages) == expected


def digest(text: str) -> str:
    return subprocess.run(["sha256sum"], input=text, capture_output=True, text=True, check=True).stdout.split()[0]


def test_the_sum_of_a_go_module_is_of_names_and_contents_in_their_order() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("b", "two\n")
        archive.writestr("a", "one\n")
    one, two = digest("one\n"), digest("two\n")
    whole = digest(f"{one}  a\n{two}  b\n")
    assert updating.h1(out.getvalue()) == "h1:" + base64.b64encode(bytes.fromhex(whole)).decode()
