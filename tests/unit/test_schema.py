"""The JSON schema of a site's file: what loads fits it, and what is misspelt does not."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from causeway.cli.app import main
from causeway.folders import REPO, site_file, sites
from causeway.model.load import load_site
from causeway.model.schema import schema
from tests.sites.draw import draw

CHECK = Draft202012Validator(schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
JUBL = yaml.safe_load(site_file("jubl").read_text())


def wrong(data: Any) -> list[str]:
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in CHECK.iter_errors(data)]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("file", [*map(site_file, sites()), REPO / "tests/sites/filesystems.yaml"], ids=str)
def test_every_file_that_loads_fits(file: Path) -> None:
    load_site(file)
    assert wrong(yaml.safe_load(file.read_text())) == []


@pytest.mark.parametrize("file", [*map(site_file, sites())], ids=str)
def test_shipped_sites_tell_editors_where_it_is(file: Path) -> None:
    said = file.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert json.loads((file.parent / said).read_text()) == schema()


@pytest.mark.parametrize("seed", range(12))
def test_every_drawn_site_fits(seed: int) -> None:
    assert wrong(draw(seed)) == []


def test_the_example_of_the_page_fits() -> None:
    page = (REPO / "docs/sites.md").read_text()
    assert wrong(yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])) == []


MISTAKES: dict[str, tuple[tuple[str | int, ...], Any, str]] = {
    "a misspelt key": (("nodes", "deisa", "rolle"), "server", "'rolle' was unexpected"),
    "a key of a network": (("networks", "f", "rate"), 1, "'rate' was unexpected"),
    "a name that is none": (("networks", "-x"), {"subnet": "10.9.0.0/24"}, "'-x' does not match"),
    "a word for a number": (("networks", "f", "rate_mbit"), "fast", "'fast' is not of type 'integer'"),
    "no address": (("nodes", "deisa", "interfaces", "eth0", "address"), "10.1.2", "'10.1.2' is not a 'ipv4'"),
    "no end": (("links", 0, "ends", 0), "nsd01", "'nsd01' does not match"),
    "three ends": (("links", 0, "ends"), ["a:b", "c:d", "e:f"], "is too long"),
    "three rates": (("links", 0, "rate_mbit"), [1, 2, 3], "is not valid under any"),
    "a platform that there is not": (("pools", "io", "platform"), "cray", "is not valid under any"),
    "a misspelt key of a pool": (("pools", "io", "cont"), 3, "is not valid under any"),
    "no such driver": (("filesystems", "extra", "driver"), "nosuch", "'gluster' was expected"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_form_is_found(name: str) -> None:
    where, value, expected = MISTAKES[name]
    data = copy.deepcopy(JUBL)
    data["filesystems"]["extra"] = dict(next(iter(data["filesystems"].values())))
    part: Any = data
    for step in where[:-1]:
        part = part[step]
    part[where[-1]] = value
    found = wrong(data)
    assert len(found) == 1
    assert expected in found[0]


def test_what_is_left_out_is_missed() -> None:
    data = copy.deepcopy(JUBL)
    del data["clusters"], data["nodes"]["deisa"]["role"]
    assert sorted(wrong(data)) == [": 'clusters' is a required property", "nodes.deisa: 'role' is a required property"]


def test_the_command_prints_what_docs_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out), err) == (schema(), "")
    assert out == (REPO / "docs/site.schema.json").read_text()
