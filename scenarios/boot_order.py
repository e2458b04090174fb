"""A start script that writes its trigger file too late finds nobody to read it.

Claim: the diskless nodes run the start scripts of both trees in the order of their numbers, and S16sshd looks for
/etc/sysconfig/ssh once. Written by S10site_sysconfig it starts sshd; written by the same script under the
number 17 it is there, and sshd is not.

Cause: rc3.d of the system's and of the site's tree are merged by name, and nobody looks a second time.

Source: Redpaper, "SSH setup for the IONs", step 4: "use a sequence number below 16".
"""

from causeway.lab.changes.files import renamed
from causeway.scenario.cast import Ask, Diskless
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import TRIGGER, WRITES_TRIGGER, start_script
from causeway.scenario.words.diskless import UP, boots, how_booted, saying
from causeway.scenario.words.logins import IN, NOBODY, logins


def cast(ask: Ask) -> Diskless:
    return ask.diskless(2, platform="bluegene")


def play(stage: Stage, cast: Diskless) -> None:
    lab, server, nodes = stage.lab, cast.server, cast.nodes
    own, late, in_time = (start_script(number, WRITES_TRIGGER) for number in (10, 17, 15))
    every, none = [IN] * len(nodes), [NOBODY] * len(nodes)

    with stage.healthy(f"{' and '.join(nodes)} are up, and ssh from {server} reaches them"):
        stage.same("ssh to the nodes", every, logins(stage, server, nodes))

    with stage.perturb("the site's script gets the number 17, and the nodes are booted again"):
        stage.make(renamed(lab, server, own, late), then=boots(stage, nodes))

    with stage.judge("the nodes are up, the trigger file is there, and sshd is not"):
        stage.same("how the nodes booted", [UP] * len(nodes), how_booted(stage, nodes))
        stage.same(f"nodes with {TRIGGER}", nodes, [node for node in nodes if lab.file(node, TRIGGER).exists()])
        stage.same("ssh to the nodes, trigger written at S17", none, logins(stage, server, nodes))
        stage.same("consoles that say so", nodes, saying(stage, nodes, "sshd stays off"))

    with stage.contrast("the same script with the number 15 is in time"):
        stage.make(renamed(lab, server, late, in_time), then=boots(stage, nodes))
        stage.same("ssh to the nodes, trigger written at S15", every, logins(stage, server, nodes))

    with stage.restore("the script has its own number again, and ssh reaches the nodes"):
        stage.same("ssh to the nodes, afterwards", every, logins(stage, server, nodes))
