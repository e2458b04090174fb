"""A denial that is broken off.

Claim: whether Ctrl-C, a lost connection or kill -9 ends `mcauth deny`, and at whatever step, the owner's list leaves
nobody out whom the servers let in: it has the grant, or says that it is leaving, until they have taken it away. The
same command once more ends it; the client is out, and may be granted again.

Cause: the servers are told first, and that they have done it is written down after. Written down first, a denial that
is broken off would be one on paper: nobody sees that the client is still let in, and to deny it again is a mistake.

Source: Redpaper, "On the remote OWNING cluster, allow access by the CLIENT cluster".
"""

from dataclasses import dataclass

from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import MOUNTED, NOT_GRANTED, Trust

#: What ends it, and before which of its steps, as -v prints them: the words of a step, which time they are printed, and
#: what that step does. First the grant is marked, then the servers are told, then the grant is written off.
MOMENTS = {
    "Ctrl-C while the mark is written": ("INT", "gen/grants", 1, 130),
    "kill -9 while the mark goes to the nodes": ("KILL", "ssh ", 1, -9),
    "kill -9 while the servers are told": ("KILL", "volume set", 1, -9),
    "a lost connection while it is written off": ("HUP", "gen/grants", 2, -1),
}


@dataclass(frozen=True)
class Seen:
    """What was seen when a denial had been broken off, and when it had been repeated."""

    ended: int
    listed: str
    mount: str
    repeated: int
    listed_then: str
    mount_then: str


def cast(ask: Ask) -> Mounts:
    return ask.mounts()


def play(stage: Stage, cast: Mounts) -> None:
    user, name = cast.user, cast.filesystems[0]
    trust = Trust(stage, name, cast.owner, cast.client)

    def listed() -> str:
        """What the owner's list says of the client and the filesystem."""
        return trust.granted().get(name, "")

    def deny() -> int:
        return trust.at_owner("mcauth", "deny", trust.client_name, "-f", name).rc

    with stage.healthy(f"{name} is granted, and {user} mounts"):
        stage.same("a new mount", MOUNTED, trust.new_mount(user))
        granted = listed()

    seen: dict[str, Seen] = {}
    with stage.perturb("denials are broken off, each repeated, and granted again for the next"):
        stage.defer(trust.mount_everywhere, "all is mounted everywhere")
        stage.defer(trust.grant, f"{name} is granted")
        for moment, (signal, words, nth, _) in MOMENTS.items():
            trust.grant()
            broken_off = trust.deny_until(signal, words, nth), listed(), trust.new_mount(user)
            seen[moment] = Seen(*broken_off, deny(), listed(), trust.new_mount(user))

    for moment, (*_, ended) in MOMENTS.items():
        with stage.judge(f"{moment}: nobody is let in whom the list leaves out, and the same command ends it"):
            s = seen[moment]
            stage.same("the command has ended with", ended, s.ended)
            due = {"": NOT_GRANTED, granted: MOUNTED}.get(s.listed, "either")
            stage.holds(
                "what the list says is granted, leaving or over", due != "either" or "leaving" in s.listed, s.listed
            )
            stage.holds("the servers do what it says", s.mount == due or due == "either", s.mount)
            stage.same("exit code of the same command again", 0, s.repeated)
            stage.same("what the list then has of it", "", s.listed_then)
            stage.same("a new mount then", NOT_GRANTED, s.mount_then)

    with stage.contrast("a denial that nobody breaks off leaves nothing of it; to deny twice is no mistake"):
        trust.grant()
        stage.same("exit codes", [0, 0], [deny(), deny()])
        stage.same("what the list has of it", "", listed())
        trust.grant()
        stage.same("granted again, a new mount", MOUNTED, trust.new_mount(user))

    with stage.restore(f"{name} is granted as before, and mounted"):
        stage.same("what the list says", granted, listed())
        stage.same("a new mount, afterwards", MOUNTED, trust.new_mount(user))
