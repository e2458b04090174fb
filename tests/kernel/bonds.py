"""The first process of a guest: a bond for each case, each maker's policy on it, crafted frames; what is seen of each.

Prints a line of JSON a policy, and ends, which ends the guest. The test beside reads the lines.
"""

import contextlib
import io
import json
import random
import subprocess
import sys
import time
from types import SimpleNamespace

from first import begin

from causeway.plan.hashing import member_for
from causeway.scenario.words.frames import crafted
from nodes.bonding import bond_policy

FRAMES = 80
POLICIES = (*bond_policy.POLICIES, "layer3+4", "default")
CASES = (("balance-xor", 4), ("balance-xor", 3), ("802.3ad", 4))


def ip(*lines: str) -> None:
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def bond(mode: str, members: int) -> list[str]:
    """The bond `one`, cabled to the bond `two`; returns its members."""
    pairs = [(f"a{n}", f"b{n}") for n in range(members)]
    ip(*(f"link add {name} type bond mode {mode} miimon 100" for name in ("one", "two")))
    ip(*(f"link add {a} type veth peer name {b}" for a, b in pairs))
    for name, ends in zip(("one", "two"), zip(*pairs, strict=True), strict=True):
        ip(*(f"link set {end} down\nlink set {end} master {name}" for end in ends), f"link set {name} up")
    time.sleep(10)  # LACP agrees; idle time costs nothing here
    return [a for a, _ in pairs]


def seen(members: list[str], frames: list[bytes]) -> list[str | None]:
    request = json.dumps({"bond": "one", "members": members, "frames": [frame.hex() for frame in frames]})
    probe = [sys.executable, "-m", "causeway.lab.probes.hash_probe"]
    return json.loads(subprocess.run(probe, input=request, text=True, capture_output=True, check=True).stdout)


def in_force() -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        bond_policy.main(["one"])
    return said.getvalue().strip()


def play() -> None:
    frames = crafted(SimpleNamespace(random=random.Random(1)), FRAMES)  # type: ignore[arg-type]
    for mode, number in CASES:
        members = bond(mode, number)
        for policy in POLICIES:
            bond_policy.main(["one", policy])
            by = seen(members, [frame for _, frame in frames])
            right = sum(member_for(flow, policy, members) == one for (flow, _), one in zip(frames, by, strict=True))
            found = {"mode": mode, "members": number, "policy": policy, "in_force": in_force(), "right": right}
            print(json.dumps(found | {"used": len(set(by))}), flush=True)
        ip("link del one", "link del two", *(f"link del {member}" for member in members))


if __name__ == "__main__":
    begin(("proc", "/proc"), ("sysfs", "/sys"))
    play()
