"""Words that no site has: names for what is drawn or renamed."""

from collections.abc import Iterable
from random import Random

_FIRST = ("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "kl", "pl", "st", "tr")
_VOWELS = "aeiou"
_LAST = ("", "k", "l", "m", "n", "p", "r", "s", "t", "x")
#: What means something else: to YAML, to a shell, to the kernel, to a machine.
_TAKEN = (
    "no",
    "on",
    "off",
    "yes",
    "true",
    "null",
    "all",
    "any",
    "default",
    "local",
    "host",
    "eth",
    "bond",
    "lan",
    "ge",
)


class Words:
    """Makes names, each of them once; large and small letters make no difference, as to DNS."""

    def __init__(self, random: Random, taken: Iterable[str] = ()) -> None:
        self._random = random
        self._taken = {word.lower() for word in (*_TAKEN, *taken)}

    def make(self, syllables: int = 2, large: bool = False) -> str:
        """A word of some syllables, in capitals where it is to be large."""
        while True:
            parts = [
                self._random.choice(_FIRST) + self._random.choice(_VOWELS) + self._random.choice(_LAST)
                for _ in range(syllables)
            ]
            word = "".join(parts)[: 4 * syllables]
            if len(word) > 1 and self.take(word):
                return word.upper() if large else word

    def take(self, word: str) -> bool:
        """Whether a word was free; it is no more."""
        free = word.lower() not in self._taken
        self._taken.add(word.lower())
        return free
