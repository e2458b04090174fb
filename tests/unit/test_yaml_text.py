"""Files that are made to be trouble: aliases that stand for more than a machine holds, tags, numbers, depth."""

from pathlib import Path
from time import process_time

import pytest

from causeway.errors import BadInput
from causeway.model.load import load_site

_LAUGHS = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
_ONES, _MANY = ", ".join(["1"] * 600), ", ".join(["*big"] * 600)
BOMBS = {
    "ten to the ninth": (f"lab: x\na0: &a0 [x]\n{_LAUGHS}", 7),
    "mappings that are merged": (
        "lab: x\na0: &a0 {k: v}\n"
        + "".join(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}, r: *a{n - 1}}}\n" for n in range(1, 20)),
        11,
    ),
    "merge keys": (
        "lab: x\na0: &a0 {k: v}\n"
        + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 9)),
        7,
    ),
    "one large list many times": (
        f"lab: x\nbig: &big [{', '.join(['1'] * 600)}]\nall: [{', '.join(['*big'] * 600)}]\n",
        3,
    ),
}


def said(text: str, folder: Path) -> list[str]:
    """What is said of a file, in less than a second of this machine's work."""
    file = folder / "site.yaml"
    file.write_text(text)
    begun = process_time()
    with pytest.raises(BadInput) as caught:
        load_site(file)
    assert process_time() - begun < 1
    return [line.removeprefix(f"{file}:") for line in str(caught.value).splitlines()]


@pytest.mark.parametrize("name", BOMBS)
def test_aliases_that_stand_for_too_much_are_refused_where_they_become_too_much(name: str, tmp_path: Path) -> None:
    text, line = BOMBS[name]
    assert said(text, tmp_path) == [
        f"{line}: -: with its aliases written out this has more than 50000 values; use aliases for small parts only"
    ]


def test_just_less_than_that_is_checked_like_any_other_file(tmp_path: Path) -> None:
    text = f"lab: x\nlinks: &l [{', '.join(['{ends: [a, b]}'] * 60)}]\nchannels: [{', '.join(['*l'] * 120)}]\n"
    lines = said(text, tmp_path)
    assert "`domain` is missing" in lines[0]
    assert any("links[59].ends[1]: input should be NODE:DEVICE" in line for line in lines)


TAGS = {
    "!!python/object:os.system x": "there is no !!python/object:os.system in a site's file; remove the tag",
    "!!python/object/apply:id [x]": "there is no !!python/object/apply:id in a site's file; remove the tag",
    "!!binary aGk=": "there is no !!binary in a site's file; remove the tag",
    "!!set {a, b}": "there is no !!set in a site's file; remove the tag",
    "!!omap [a: b]": "there is no !!omap in a site's file; remove the tag",
    "!!timestamp 2001-01-01": "there is no !!timestamp in a site's file; remove the tag",
    "!mine x": "there is no !mine in a site's file; remove the tag",
    "!!int many": "'many' is no !!int; remove the tag",
    "!!map x": "there is no !!map in a site's file; remove the tag",
    f"{'9' * 5000}": "a number of too many digits; use a smaller one",
}


@pytest.mark.parametrize("value", TAGS)
def test_a_value_of_no_kind_that_a_site_has_is_said_with_its_line(value: str, tmp_path: Path) -> None:
    assert said(f"lab: x\ndomain: {value}\n", tmp_path) == [f"2: -: {TAGS[value]}"]


def test_every_wrong_tag_is_said_at_once(tmp_path: Path) -> None:
    text = "lab: !!binary aGk=\ndomain: x\nnetworks: !!set {a}\n"
    assert [line.partition(":")[0] for line in said(text, tmp_path)] == ["1", "3"]


def test_a_tag_that_says_what_is_so_anyway_is_fine(tmp_path: Path) -> None:
    assert not any("tag" in line for line in said("lab: !!str x\ndomain: x.y\nnetworks: !!map {}\n", tmp_path))


@pytest.mark.parametrize("depth", [51, 300, 700])
def test_what_is_nested_too_deeply_is_no_sites_file(depth: int, tmp_path: Path) -> None:
    text = f"lab: {'[' * depth}{']' * depth}\n"
    assert said(text, tmp_path) == ["1: -: it is nested too deeply; make it a site's file"]


def test_a_file_of_a_book_is_no_sites_file(tmp_path: Path) -> None:
    (line,) = said("# book\n" * 60_000, tmp_path)
    assert line.endswith("more than 300000 bytes are no site's file; use fewer")
