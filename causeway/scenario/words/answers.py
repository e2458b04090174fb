"""What commands answer, in a scenario's own terms."""

from collections.abc import Mapping

from causeway.process import Result


def meaning(done: Result, meanings: Mapping[str, str]) -> str:
    """What a command that failed meant, by words in what it printed; the first that is found counts, "" is none."""
    return next((meaning for words, meaning in meanings.items() if words in done.stderr), "")
