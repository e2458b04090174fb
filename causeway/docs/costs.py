"""The page of costs: a text that stands beside this file, and what people wait for, measured, beside what it was.

`python -m causeway.docs.costs` measures anew, by the commands that a person types, and keeps it in costs.json. It takes
some 25 minutes, and means something on a machine that does nothing else.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from causeway.docs.markdown import page_from, table
from causeway.errors import EXIT_LAB_BROKEN, LabBroken
from causeway.folders import DEFAULT_SITE, REPO, runs, site_file
from causeway.model.load import load_site
from causeway.model.pools.bluegene import BlueGene
from causeway.process import run

TEXT = Path(__file__).with_name("costs.md")
KEPT = Path(__file__).with_name("costs.json")
_TOOL = str(REPO / "bin/causeway")
#: The machine's racks in full, and the block that is all of them.
_RACKS, _ALL = ["--count", "288"], "ALL"
#: How many scenarios are played at once: one uses a CPU.
_JOBS = "2"
#: The scenarios that there were when the waits were what they were.
_THEN = [
    "boot_order",
    "channel_imbalance",
    "channel_member_down",
    "channel_member_silent",
    "channel_policy_mismatch",
    "channel_round_robin",
    "dhcp_outage",
    "dns_or_hosts",
    "hash_policies",
    "io",
    "keys_clock_skew",
    "keys_deny_while_mounted",
    "keys_granted_not",
    "keys_rotation",
    "keys_wrong_cluster",
    "mtu_mismatch",
    "ntp_server_unrouted",
    "route_asymmetric",
    "route_network_only",
    "route_return_missing",
    "single_stream",
    "ssh_authorized_missing",
    "ssh_known_hosts_wildcard",
    "ssh_personal_vs_system",
    "ssh_prompt_blocks",
    "stale_node_state",
    "startup_touch_file",
]
#: How long a command may take before it counts as broken.
_LONGEST_S = 3600


@dataclass(frozen=True)
class Wait:
    """What somebody waits for: what it was before labs were cloned, and what was aimed at, in `unit`."""

    what: str
    unit: str
    was: float | None
    aim: float


WAITS = {
    "caches": Wait(f"`up {DEFAULT_SITE}`, from caches", "s", 75, 40),
    "template": Wait(f"`up {DEFAULT_SITE}`, of a lab that was up before", "s", None, 3),
    "states": Wait("`mcgetstate -a` in a lab that is up, 10 nodes", "s", 7, 2),
    "streams": Wait("eight streams, in virtual time", "s a virtual second", 1.19, 1.0),
    "suite": Wait(f"`run --lab {DEFAULT_SITE} --jobs {_JOBS}`: all scenarios", "min", 11, 5),
    "then": Wait(f"the {len(_THEN)} of them that there were then", "min", 11, 5),
    "racks": Wait(f"`up {DEFAULT_SITE} --count 288`, of a lab that was up before", "s", None, 10),
    "racks_boot": Wait("its 288 I/O nodes, from power-on to all up", "s", 272, 150),
}


def costs_page() -> str:
    """What a lab costs, and what was measured of what people wait for."""
    return page_from(TEXT, {"waits": table("what|was|aim|now", _waits(), right="was|aim|now")[:-1]}, KEPT)


def _waits() -> Iterator[list[str]]:
    kept: dict[str, float] = json.loads(KEPT.read_text())
    for name, wait in WAITS.items():
        numbers = [wait.was, wait.aim, kept.get(name)]
        yield [f"{wait.what}, {wait.unit}", *("" if number is None else f"{number:.3g}" for number in numbers)]


def measure(tell: Callable[[str], None]) -> dict[str, float]:
    """Each wait's length. LabBroken where a command fails."""
    site = load_site(site_file(DEFAULT_SITE))
    (pool,) = site.boot_pools().values()
    assert isinstance(pool, BlueGene)
    server, booted = pool.boot.server, pool.booted
    found: dict[str, float] = {}

    def note(name: str, value: float) -> None:
        found[name] = round(value, 3)
        tell(f"{WAITS[name].what}: {value:.3g} {WAITS[name].unit}")

    with TemporaryDirectory() as folder:
        env = os.environ | {"CAUSEWAY_STATE": f"{folder}/state"}  # no lab of anybody's is ended; what is seen is kept

        def does(*words: str) -> float:
            begun = monotonic()
            run([_TOOL, *words], env=env, timeout_s=_LONGEST_S).must()
            return monotonic() - begun

        def ends() -> None:
            does("down")
            does("templates", "--drop", "all")

        def typed(*words: str) -> float:
            """In a shell that is there: less what it takes to get into the lab."""
            return does("exec", server, "--", *words) - does("exec", server, "--", "true")

        try:
            note("caches", does("up", DEFAULT_SITE, "--quiet"))
            does("down")
            note("template", does("up", DEFAULT_SITE, "--quiet"))
            note("states", typed("mcgetstate", "-a"))
            ends()
            note("suite", does("run", "--lab", DEFAULT_SITE, "--jobs", _JOBS) / 60)
            ends()
            note("then", does("run", *_THEN, "--lab", DEFAULT_SITE, "--jobs", _JOBS) / 60)
            ends()
            does("bench", DEFAULT_SITE)
            note("streams", _streams()["wall_over_virtual"])
            does("up", DEFAULT_SITE, *_RACKS, "--quiet")
            does("down")
            note("racks", does("up", DEFAULT_SITE, *_RACKS, "--quiet"))
            does("exec", server, "--", "bgldeallocate", booted)
            note("racks_boot", typed("bglallocate", _ALL, "root"))
        finally:
            ends()
    return found


def _streams() -> dict[str, Any]:
    last = max(runs().glob("bench-*.json"))
    return dict(json.loads(last.read_text())[0]["eight_streams"])


def main() -> int:
    """Measure, and keep it. Where a command fails, nothing is kept."""
    try:
        found = measure(lambda text: print(text, file=sys.stderr, flush=True))
    except LabBroken as broken:
        print(broken, file=sys.stderr)
        return EXIT_LAB_BROKEN
    KEPT.write_text(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
