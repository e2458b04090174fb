"""On the machine: bring sites up with `--clock real`, play, end them, and look that nothing is left.

usage: python -m tests.native.inside SITE...
Says a line of JSON for each thing done: site, what, wrong ("" if nothing), s (seconds).
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: What says how the machine is: containers, networks' devices, mounts, processes of labs.
LOOKS = (
    ("docker", "ps", "--all", "--format", "{{.Names}}"),
    ("docker", "network", "ls", "--format", "{{.Name}}"),
    ("ip", "-br", "link"),
    ("ip", "route"),
    ("ip", "netns"),
    ("findmnt", "--list", "--noheadings", "--output", "TARGET"),
    ("losetup", "--list", "--noheadings"),
    ("sh", "-c", "ls -A . /tmp /run/causeway /var/lib/causeway /root/.local/state/causeway 2>/dev/null"),
)


def traces() -> list[str]:
    return [subprocess.run(look, capture_output=True, text=True).stdout for look in LOOKS]


#: Scenarios that judge what came about and not how fast: a machine's own rates are what it can do. deny_interrupted is
#: not among them: it has servers start anew at each of its steps, which takes too many minutes of a real clock.
NO_EXACT_RATE = (
    "boot_order", "channel_static_or_lacp", "dhcp_outage", "dns_or_hosts", "hash_policies",
    "keys_clock_skew", "keys_deny_while_mounted", "keys_forged_name", "keys_granted_not", "keys_rotation",
    "keys_wrong_cluster", "ntp_server_unrouted", "route_asymmetric", "route_return_missing", "ssh_authorized_missing",
    "ssh_known_hosts_wildcard", "ssh_personal_vs_system", "ssh_prompt_blocks", "stale_node_state",
)  # fmt: skip


class Wrong(Exception):
    """What was found is not what it must be."""


def causeway(*words: str) -> str:
    """What the tool prints; what it says meanwhile goes on to the console."""
    done = subprocess.run([sys.executable, "-m", "causeway", *words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Wrong(f"`causeway {' '.join(words)}` ended with {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


@contextmanager
def said(site: str, what: str) -> Iterator[None]:
    begun, wrong = time.monotonic(), ""
    print(f"--- {site}: {what}", file=sys.stderr, flush=True)
    try:
        yield
    except Wrong as found:
        wrong = str(found)
    print(json.dumps({"site": site, "what": what, "wrong": wrong, "s": time.monotonic() - begun}), flush=True)


def play() -> dict[str, str]:
    """The verdict of each scenario, in the lab that is up."""
    words = ("run", *NO_EXACT_RATE, "--clock", "real", "--json")
    done = subprocess.run([sys.executable, "-m", "causeway", *words], stdout=subprocess.PIPE, text=True)
    if not done.stdout:
        raise Wrong(f"`causeway {' '.join(words)}` ended with {done.returncode}")
    return {s["name"]: s["verdict"] for s in json.loads(done.stdout)["scenarios"]}


def main(sites: list[str]) -> None:
    os.environ |= {"CAUSEWAY_RUNS": "/runs", "TERM": "dumb"}  # the console is read as a log
    for site in sites:
        before = traces()
        with said(site, "up"):
            causeway("up", site, "--clock", "real")
        with said(site, "status"):
            status = json.loads(causeway("status", "--json"))
            if (found := (status["lab_host"], status["clock"])) != ("native", "real"):
                raise Wrong(str(found))
        with said(site, "scenarios"):
            verdicts = play()
            print("\n".join(f"{name}: {verdict}" for name, verdict in verdicts.items()), file=sys.stderr, flush=True)
            if wrong := {name: verdict for name, verdict in verdicts.items() if verdict not in ("pass", "skipped")}:
                raise Wrong(str(wrong))
            if "pass" not in verdicts.values():
                raise Wrong("none was played")
        with said(site, "down"):
            causeway("down")
        with said(site, "nothing is left"):
            left = [f"before {was!r}, after {now!r}" for was, now in zip(before, traces(), strict=True) if was != now]
            if left:
                raise Wrong("; ".join(left))


if __name__ == "__main__":
    main(sys.argv[1:])
