"""What a shell offers when Tab is pressed: read from files here, so that no lab host has to answer.

Each command has these beside its options, so what reads the files is imported when Tab is pressed.
"""

import shlex
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from typer._completion_classes import completion_init

from causeway.cli.app import PROGRAM
from causeway.errors import BadInput, LabBroken
from causeway.folders import REPO, sites
from causeway.hosts import host
from causeway.hosts import templates as kept
from causeway.hosts.checkpoints import LIST

if TYPE_CHECKING:
    from causeway.lab.faults.catalogue import Parameter
    from causeway.model.site import Site

# typer's own option for completion wants the program to be on the PATH, and does this as it makes that option
completion_init()


class Shell(StrEnum):
    """The shells that a script is there for."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


#: Each hands what has been typed to the program, in the variables that typer reads.
_SCRIPTS = {
    Shell.bash: r"""_{name}() {{
    local line=${{COMP_LINE:0:COMP_POINT}}
    local last=${{line##* }} typed
    read -ra typed <<<"$line"
    local IFS=$'\n'
    COMPREPLY=($(COMP_WORDS=$line COMP_CWORD=$((${{#typed[@]}} - (${{#last}} > 0))) {variable}=complete_bash \
        {path} 2>/dev/null))
    [[ ${{COMPREPLY[*]}} == *= ]] && compopt -o nospace
    # bash takes what stands after a = for a word of its own
    [[ $last == *=* && $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${{COMPREPLY[@]#"${{last%%=*}}="}}")
    return 0
}}
complete -o default -F _{name} {name}
""",
    Shell.zsh: r"""_{name}() {{
    eval $(_TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" {variable}=complete_zsh {path} 2>/dev/null)
}}
compdef _{name} {name}
""",
    Shell.fish: r"""function _{name}
    set -l offered (env {variable}=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args \
        _TYPER_COMPLETE_ARGS=(commandline -cp) {path} 2>/dev/null)
    # of several completions fish takes all, and files beside words that fit would be too many
    if string length -q -- $offered
        printf '%s\n' $offered
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command {name} --no-files --arguments "(_{name})"
""",
}


def completion(shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish")]) -> None:
    """Print what makes a shell complete commands, options, nodes, sites, scenarios, faults and lessons."""
    variable = f"_{PROGRAM.upper()}_COMPLETE"
    path = shlex.quote(str(REPO / "bin" / PROGRAM))
    typer.echo(_SCRIPTS[shell].format(name=PROGRAM, variable=variable, path=path), nl=False)


def labs(incomplete: str) -> list[str]:
    """The labs that are up."""
    return _begun(incomplete, (one.name for one in host.every()))


def shipped(incomplete: str) -> list[str]:
    """The shipped sites; where there is none, the shell goes on with files."""
    return _begun(incomplete, sites())


def clocks(incomplete: str) -> list[str]:
    """The clocks."""
    return _begun(incomplete, host.CLOCKS)


def blocks(incomplete: str) -> list[str]:
    """The building blocks that are shipped."""
    from causeway.plan import sizing

    return _begun(incomplete, sizing.catalogue().blocks)


def nodes(context: typer.Context, incomplete: str) -> list[str]:
    """The nodes of the lab that is up."""
    site = _site(context)
    return _begun(incomplete, site.nodes if site else ())


def checkpoints(context: typer.Context, incomplete: str) -> list[str]:
    """The checkpoints of the lab that is up."""
    try:
        found = host.with_checkpoints(context.params.get("lab")).ask(LIST)
    except (BadInput, LabBroken):
        return []
    return _begun(incomplete, (row["name"] for row in found))


def templates(incomplete: str) -> list[str]:
    """The sites of which there is a template."""
    return _begun(incomplete, ["all", *kept.names()])


def nodes_before_command(context: typer.Context, incomplete: str) -> list[str]:
    """The nodes, or all, up to the -- after which the command is one of theirs."""
    typed = context.params["words"] or ()
    return [] if "--" in typed else [*nodes(context, incomplete), *_begun(incomplete, ["all"])]


def scenarios(incomplete: str) -> list[str]:
    """The shipped scenarios."""
    from causeway.scenario import runner

    return _begun(incomplete, runner.names())


def lessons(incomplete: str) -> list[str]:
    """The shipped lessons."""
    from causeway.lessons import lesson

    return _begun(incomplete, lesson.every())


def faults(incomplete: str) -> list[str]:
    """The faults."""
    from causeway.lab.faults.catalogue import FAULTS

    return _begun(incomplete, FAULTS)


def parameters(context: typer.Context, incomplete: str) -> list[str]:
    """What may come next of a fault's PARAM=VALUE."""
    from causeway.lab.faults.catalogue import FAULTS

    fault = FAULTS.get(context.params["name"])
    own = {parameter.name: parameter for parameter in fault.parameters} if fault else {}
    given = dict(word.split("=", 1) for word in context.params["words"] or () if "=" in word)
    name, equals, _ = incomplete.partition("=")
    if not equals:
        return _begun(incomplete, (f"{other}=" for other in own if other not in given))
    site = _site(context) if name in own else None
    return _begun(incomplete, (f"{name}={value}" for value in _values(own[name], given, site))) if site else []


def _values(parameter: "Parameter", others: dict[str, str], site: "Site") -> Iterator[str]:
    """What has a name in the site and fits a parameter; nothing where any word fits, for that says nothing."""
    if parameter.type is str and parameter.kind.wrong(site, "no-such-thing", others):
        yield from (word for word in _vocabulary(site) if not parameter.kind.wrong(site, word, others))


def _vocabulary(site: "Site") -> Iterable[str]:
    """Every name of a node, host or device, and every address and static route."""
    legs = [leg for node in site.nodes.values() for leg in node.interfaces.values()]
    routes = [site.destination(route) for node in site.nodes.values() for route in node.routes]
    words = [*site.nodes, *(name for leg in legs for name in leg.names)]
    words += [end.device for cable in site.cables for end in cable.ends]
    words += [*(str(leg.address) for leg in legs), *(str(route).removesuffix("/32") for route in routes)]
    return dict.fromkeys(words)


def _site(context: typer.Context) -> "Site | None":
    """The lab that is up as a site, or None."""
    try:
        return host.running(context.params.get("lab")).site()
    except (BadInput, OSError):
        return None


def _begun(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
