"""The page of the faults, from the docstrings and signatures of their functions."""

from causeway.docs.markdown import made_from, table
from causeway.folders import REPO
from causeway.lab.faults.catalogue import FAULTS


def faults_page() -> str:
    """Every fault: what is wrong then, its parameters, how it is injected, what it triggers, how to look for it."""
    lines = ["# Faults", "", made_from(REPO / "causeway" / "lab" / "faults"), ""]
    lines += [
        "States that a site should not be in. `causeway fault inject NAME PARAM=VALUE...` brings one about in the lab",
        "that is up, and `causeway fault clear` undoes it. In a scenario `causeway.lab.faults` has them as functions;",
        "each gives a change, for `stage.make`. None of them judges: that is the scenario's, or yours.",
        "",
        "`inject` says how to look, and not what it did. A mistake in the parameters is refused before anything is",
        "touched. What undoes a fault is kept in the lab's folder, as the commands that will be run.",
        "",
    ]
    for fault in FAULTS.values():
        lines += [f"## {fault.name}", "", fault.state, ""]
        lines += table("parameter|type|meaning", ([p.name, p.type.__name__, p.kind.meaning] for p in fault.parameters))
        for name, text in (("Injected", fault.injected), ("Triggers", fault.triggers), ("Look", fault.look)):
            lines += [f"**{name}.** {text}", ""]
    return "\n".join(lines)
