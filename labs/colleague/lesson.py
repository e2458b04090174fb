"""The colleague: something is wrong, drawn by the seed; on three levels of difficulty."""

from dataclasses import dataclass
from functools import partial

from causeway.errors import Unsupported
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.lessons.promises import clocks, kept, number, whole
from causeway.lessons.troubles import Trouble, drawn
from causeway.wait import until

#: One fault; one that hides behind another; one that shows only under load.
LEVELS = 3
SAID = ("", "One thing is wrong.", "More than one thing is wrong.", "It is well while nobody works.")
#: What a channel, or whoever keeps the time, takes to be as before.
SETTLES_S = 45
#: How long a check waits for that.
CHECKED_S = 10
#: How long until it is looked at again: a look takes none of a paced lab's seconds, but many of the machine's.
AGAIN_S = 5
#: How long a lab may take to be sound that has just woken with today's date: chronyd takes the leap for a fault, is
#: told to measure anew then, and where it does not hear that asks its server once in 64 s until it has three answers.
SOUND_S = 300


@dataclass(frozen=True)
class Cast:
    """What is wrong, made in this order, and the hosts between which root logs in."""

    troubles: list[Trouble]
    colleagues: list[str]
    said: str

    @property
    def last_first(self) -> list[Trouble]:
        """In the order in which one finds them."""
        return self.troubles[::-1]


def cast(ask: AskLesson) -> Cast:
    colleagues = [node for node in ask.colleagues() if node not in ask.site.diskless()]
    troubles = drawn(ask.site, colleagues, ask.level, ask.random)
    if not troubles:
        raise Unsupported(f"{ask.site.name} has nothing that could go wrong on level {ask.level}")
    return Cast(troubles, colleagues, SAID[ask.level])


def begin(desk: Desk, cast: Cast) -> None:
    desk.until("every node is given the time", partial(clocks, desk), is_=True, within_s=SOUND_S, poll_s=1)
    for trouble in cast.troubles:
        trouble.make(desk.lab)
    until("something shows", lambda: whole(desk, cast.colleagues), deadline_s=SETTLES_S, poll_s=AGAIN_S)


def task_1(desk: Desk, cast: Cast) -> None:
    """All that the site's sheet promises is kept."""
    due = number(desk, cast.colleagues)
    desk.soon(f"of {due} kinds of promises of the sheet are kept", due, lambda: _kept(desk, cast), CHECKED_S, AGAIN_S)


def _kept(desk: Desk, cast: Cast) -> int:
    return sum(kept(desk, cast.colleagues).values())
