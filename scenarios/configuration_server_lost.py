"""The node that keeps a cluster's configuration is lost.

Claim: without a secondary configuration server nothing can be changed while the one that keeps the configuration is
lost. With one, a change counts only when both have it; when the first is lost, `mcchcluster -p` on the secondary has
the configuration kept there, changes are made there, and reach all who answer. Who comes back believes that it still
keeps the configuration, is told otherwise when it wants to change it, and has the newest from then on. Mounts go on.

Cause: one copy is the one that counts, for two that are changed apart cannot be joined again. So another becomes it by
an administrator's word only, and has to be as new: that is what a change waits for.

Source: Redpaper, "Creating a single-node Blue Gene GPFS cluster on the service node": "at a later time we may add the
FEN as a secondary"; the owner has "Primary server: nsd01f, Secondary server: nsd03f".
"""

import json

from causeway.lab.changes.change import together
from causeway.lab.faults import link_down
from causeway.lab.filesystems.administrators import mc, member, rows
from causeway.process import Result
from causeway.scenario.cast import Ask, Keeper
from causeway.scenario.stage import Made, Stage
from causeway.scenario.words.leases import has

#: What is changed: nothing goes by it, so that all that is seen is whether the change is made.
ATTRIBUTE = "uidDomain"
_BACK_S = 120


def cast(ask: Ask) -> Keeper:
    return ask.keeper()


def play(stage: Stage, cast: Keeper) -> None:
    lab, first, second = stage.lab, cast.node, cast.successor
    names = {node: member(lab, node) for node in cast.members}
    left = [node for node in cast.members if node != first]

    def change(node: str, value: str) -> Result:
        return mc(lab, node, "mcchconfig", f"{ATTRIBUTE}={value}")

    def known(nodes: list[str]) -> dict[str, str]:
        """What each node has of it, by its own copy."""
        said = {node: {r["attribute"]: r["value"] for r in rows(lab, node, "mclsconfig")} for node in nodes}
        return {node: own.get(ATTRIBUTE, "none") for node, own in said.items()}

    def cut_off() -> Made:
        cables = [end.device for cable in stage.site.cables for end in cable.ends if end.node == first]
        return stage.make(together(f"{first} is cut off", [link_down(lab, first, device) for device in cables]))

    def answers() -> int:
        return lab.on(second, "ssh", "-o", "ConnectTimeout=2", names[first], "true").rc

    def keep_there() -> None:
        """However far it came: the first keeps it, alone, and nobody has the attribute."""
        stage.until(f"{first} answers {second}", answers, is_=0, within_s=_BACK_S)
        about = json.loads(mc(lab, second, "mclscluster", "--json").must())["about"]
        if about["configuration server"] == names[second]:
            mc(lab, second, "mcchcluster", "-p", names[first]).must()
        mc(lab, first, "mcchcluster", "-s", "").must()
        change(first, "DEFAULT").must()

    with stage.healthy(f"{first} keeps the configuration, and a change reaches everybody"):
        stage.defer(keep_there, f"the configuration of {cast.cluster} is kept elsewhere")
        stage.same(f"exit code on {first}", 0, change(first, "one").rc)
        mounts = {node: has(stage, node) for node in left}
        stage.same(f"{ATTRIBUTE} of each", dict.fromkeys(cast.members, "one"), known(cast.members))

    with stage.perturb(f"{first} is cut off, and nobody else keeps the configuration"):
        cut = cut_off()

    with stage.judge("nothing can be changed"):
        stage.same(f"exit code on {second}", 1, change(second, "two").rc)
        refused = mc(lab, second, "mcchcluster", "-p", names[second])
        stage.same(f"exit code of mcchcluster on {second}", 1, refused.rc)
        stage.same(f"{ATTRIBUTE} of those left", dict.fromkeys(left, "one"), known(left))

    with stage.contrast(f"{first} is back, and {second} is made the secondary"):
        cut.undo()
        stage.until(f"{first} answers {second}", answers, is_=0, within_s=_BACK_S)
        mc(lab, first, "mcchcluster", "-s", names[second]).must()
        stage.same(f"exit code on {first}", 0, change(first, "three").rc)
        stage.same(f"{ATTRIBUTE} of each, again", dict.fromkeys(cast.members, "three"), known(cast.members))

    with stage.perturb(f"{first} is cut off again"):
        cut = cut_off()

    with stage.judge(f"{second} keeps it by an administrator's word, and it changes; mounts go on"):
        refused = change(second, "four")
        stage.same(f"exit code on {second}, which is only the secondary", 1, refused.rc)
        stage.holds("it says what would be right", f"mcchcluster -p {names[second]}" in refused.stderr, refused.stderr)
        stage.same("exit code of mcchcluster", 0, mc(lab, second, "mcchcluster", "-p", names[second]).rc)
        stage.same(f"exit code on {second}", 0, change(second, "five").rc)
        stage.same(f"{ATTRIBUTE} of those left, then", dict.fromkeys(left, "five"), known(left))
        stage.same("what those left have mounted", mounts, {node: has(stage, node) for node in left})

    with stage.contrast(f"{first} comes back with an old copy, and is told"):
        cut.undo()
        stage.until(f"{first} answers {second}", answers, is_=0, within_s=_BACK_S)
        stage.same(f"{ATTRIBUTE} of {first}", "three", known([first])[first])
        refused = change(first, "six")
        stage.same(f"exit code on {first}, back", 1, refused.rc)
        stage.holds("it says who keeps it", f"is kept on {names[second]}" in refused.stderr, refused.stderr)
        stage.same(f"{ATTRIBUTE} of {first}, then", "five", known([first])[first])

    with stage.restore(f"{first} keeps it as before"):
        keep_there()
        stage.same(f"{ATTRIBUTE} of each, afterwards", dict.fromkeys(cast.members, "none"), known(cast.members))
