"""A diskless node that does not boot: one thing hides behind another, and the console says which is next."""

from dataclasses import dataclass

from causeway.lab.changes.files import renamed
from causeway.lab.faults import service_stopped
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.scenario.words.bluegene import TRIGGER, WRITES_TRIGGER, start_script
from causeway.scenario.words.diskless import switch_off
from causeway.scenario.words.logins import IN, login

IMAGE = "/bgl/BlueLight/ppcfloor/tftp/ionode.img"
OWN, LATE = start_script(10, WRITES_TRIGGER), start_script(17, WRITES_TRIGGER)
#: The firmware tries again after half a minute at most; then the node boots, and its daemons come up.
BOOTS_S = 90
#: How long a node's board may take to find out that nobody answers.
TRIES_S = 60


@dataclass(frozen=True)
class Cast:
    """A diskless node, whom it boots from, what is said there of the image and the script, and its like."""

    node: str
    called: str
    server: str
    like: list[str]
    image: str = IMAGE
    late: str = LATE
    own: str = OWN


def cast(ask: AskLesson) -> Cast:
    found = ask.diskless(3, platform="bluegene", least=2)
    node, *like = found.nodes
    return Cast(node, ask.site.known_by(node).names[0], found.server, like)


def begin(desk: Desk, cast: Cast) -> None:
    lab, server = desk.lab, cast.server
    switch_off(desk, cast.node)
    desk.make(renamed(lab, server, OWN, LATE))
    desk.make(renamed(lab, server, IMAGE, f"{IMAGE}.old"))
    desk.make(service_stopped(lab, server, "dnsmasq"))
    lab.on(server, "bglpower", "on", cast.node).must()
    desk.until(
        "its console says that nobody answers",
        lambda: "no DHCP answer" in lab.on(server, "sh", "-c", f"cat /service/logs/{cast.node}.log").stdout,
        is_=True,
        within_s=TRIES_S,
    )


def task_1(desk: Desk, cast: Cast) -> None:
    """The node is up."""
    desk.soon(f"{cast.node} is up", True, lambda: desk.lab.state(cast.node).startswith("up"), _patience(desk, cast))


def task_2(desk: Desk, cast: Cast) -> None:
    """It lets root in from the node that it boots from, and will after its next boot."""
    up = desk.lab.state(cast.node).startswith("up")
    desk.soon(f"root of {cast.server} gets in", True, lambda: up and login(desk, cast.server, cast.node) == IN, 0)
    names = desk.lab.on(cast.server, "sh", "-c", f"ls /bgl/dist/etc/rc.d/rc3.d | grep {WRITES_TRIGGER}").stdout.split()
    in_time = bool(names) and all(name < "S16" for name in names)
    desk.holds(f"{TRIGGER} is written before S16sshd looks for it", in_time, names)


def _patience(desk: Desk, cast: Cast) -> int:
    """Whoever serves the boot again may have to wait for the board's next try; else nobody waits."""
    return BOOTS_S if desk.lab.on(cast.server, "pgrep", "-x", "dnsmasq").rc == 0 else 0
