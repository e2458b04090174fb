"""In the lab's own kernel: pages that are used together lie together, and are each its own."""

from typing import Any

import pages
import pytest
from guests import lines


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return {line["what"]: line for line in lines("pages.py", tmp_path_factory.mktemp("guest"))}


def test_what_is_written_page_after_page_lies_in_pieces_of_eight(found: dict[str, dict[str, Any]]) -> None:
    assert found["written"]["pieces"] <= pages.PAGES / 8 * 1.1


def test_it_is_empty_until_it_is_written(found: dict[str, dict[str, Any]]) -> None:
    assert found["written"]["empty"]


def test_of_large_memory_four_are_given_for_one(found: dict[str, dict[str, Any]]) -> None:
    """But for the first of each page table, which has 512 pages."""
    assert found["written"]["of four"] >= pages.PAGES - 2 * 3


def test_a_copy_is_what_it_was_made_of_and_leaves_that_as_it_was(found: dict[str, dict[str, Any]]) -> None:
    assert all(found["copied"].values())


def test_a_program_lies_in_pieces_of_what_is_read_at_a_time(found: dict[str, dict[str, Any]]) -> None:
    assert found["read"]["pieces"] <= pages.PAGES / 32 * 1.2
