"""A site made of a folder of collect.sh's outputs."""

import re
from ipaddress import IPv4Network
from pathlib import Path
from tempfile import TemporaryDirectory

from causeway.collect.draft import Draft
from causeway.collect.machine import Machine, machine
from causeway.collect.output import Unreadable, read_output
from causeway.collect.plant import Plant, build_plant
from causeway.collect.story import story
from causeway.collect.told import CLUSTERS, SWITCHES, Told, check_told, read_told
from causeway.collect.writing import written
from causeway.errors import BadInput, Problem
from causeway.model.load import load_site

_LAB = re.compile(r"[a-z][a-z0-9-]{0,30}")
_NODE = re.compile(r"[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


def import_site(folder: Path, to: Path) -> Draft:
    """Make the site and write it: TO/site.yaml and TO/about.md.

    Raises BadInput with all mistakes, before anything is written.
    """
    problems: list[Problem] = []
    if to.exists():
        problems.append(Problem(str(to), 1, "-", "it exists", "name a folder that does not, with --to"))
    if not _LAB.fullmatch(to.name):
        what = "this is no name for a lab"
        problems.append(Problem(str(to), 1, "-", what, "use small letters, digits and -, 31 at most"))
    machines, told = _read(folder, problems)
    if problems:
        raise BadInput(problems)
    plant = build_plant(machines, told)
    problems += _contradictions(plant)
    if problems:
        raise BadInput(problems)
    draft = written(plant, to.name)
    text = draft.text()
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / "site.yaml"
        file.write_text(text)
        try:
            site = load_site(file)
        except BadInput as error:
            made = f"{to / 'site.yaml'} as it would be"
            raise BadInput([Problem(made, p.line, p.path, p.what, p.remedy) for p in error.problems]) from None
    to.mkdir(parents=True)
    (to / "site.yaml").write_text(text)
    (to / "about.md").write_text(story(site, draft, plant))
    return draft


def _read(folder: Path, problems: list[Problem]) -> tuple[dict[str, Machine], Told]:
    """All outputs of a folder, and what people say beside them."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    machines: dict[str, Machine] = {}
    for file in sorted(folder.iterdir()):
        if file.name in (CLUSTERS, SWITCHES):
            continue
        try:
            found = machine(read_output(file))
        except Unreadable as why:
            what, _, remedy = str(why).rpartition("; ")
            problems.append(Problem(str(file), 1, "-", what, remedy))
            continue
        if not _NODE.fullmatch(found.name):
            what = f"the node is called {found.name!r}, which a site's file cannot"
            problems.append(Problem(str(file), 1, "hostname", what, "give it a name of letters, digits and -"))
        elif found.name in machines:
            what = f"{machines[found.name].file.name} is of {found.name}, too"
            problems.append(Problem(str(file), 1, "hostname", what, "leave one output of each node"))
        machines.setdefault(found.name, found)
    if not machines and not problems:
        problems.append(Problem(str(folder), 1, "-", "it is empty", "put in it what collect.sh prints, a file a node"))
    whole = not problems
    told = read_told(folder, problems)
    check_told(folder, told, {name: set(found.devices) for name, found in machines.items()}, whole, problems)
    return machines, told


def _contradictions(plant: Plant) -> list[Problem]:
    """What nodes say of their addresses that cannot all be so, or that no site can have."""
    found: list[Problem] = []
    owner: dict[object, str] = {}
    for port, leg in plant.legs.items():
        file = str(plant.machines[port.node].file)
        address = leg.address.ip
        if address in owner:
            what = f"{address} of {port} is {owner[address]}'s address, too"
            found.append(Problem(file, 1, "ip-address", what, "collect both again, or leave one of them out"))
        owner.setdefault(address, str(port))
    subnets: list[IPv4Network] = []
    for subnet in plant.subnets:
        where = next((port for port in plant.legs_in(subnet)), None)
        file = str(plant.machines[where.node].file) if where else SWITCHES
        if where is None:
            what = f"nobody who was collected has an address in {subnet}"
            found.append(Problem(file, 1, "network", what, "name the network of those who are plugged in"))
        if subnet.prefixlen < 16:
            what = f"{subnet}: a site's networks are from /16 to /30"
            found.append(Problem(file, 1, "ip-address", what, "give the addresses a longer prefix in the outputs"))
        for other in subnets:
            if subnet.overlaps(other):
                what = f"{subnet} (at {where}) overlaps {other} (at {next(iter(plant.legs_in(other)), SWITCHES)})"
                found.append(Problem(file, 1, "ip-address", what, "mend the wrong prefix, and collect again"))
        subnets.append(subnet)
    return found
