"""The commands know no filesystem by name: they ask the driver that the cluster's attribute names."""

import re
from pathlib import Path
from string import Formatter

import pytest

from mc import auth, daemons, disks, drivers, mounts, nodes, remotes, settings
from mc.config import Config, save
from mc.drivers.driver import Driver
from mc.native import Refused
from tests.unit.mc_node import Does, like

SOURCE = Path(__file__).parents[2] / "nodes/mc/mc"


@pytest.mark.parametrize("driver", drivers.BY_NAME)
def test_no_module_but_the_drivers_own_names_it(driver: str) -> None:
    named = {str(f.relative_to(SOURCE)) for f in SOURCE.rglob("*.py") if driver in f.read_text().lower()}
    assert named == {"drivers/__init__.py", f"drivers/{driver}.py"}


@pytest.mark.parametrize("driver", drivers.BY_NAME.values(), ids=list(drivers.BY_NAME))
def test_a_driver_says_all_that_the_commands_help_leaves_to_it(driver: Driver) -> None:
    asked: set[str] = set()
    for module in (auth, daemons, disks, mounts, nodes, remotes, settings):
        for text in re.findall(r'"""(.*?)"""', Path(module.__file__).read_text(), re.DOTALL):
            asked |= {name for _, name, _, _ in Formatter().parse(text) if name}
    assert asked == driver.NATIVE.keys() - {"keys"}


def test_a_cluster_without_the_attribute_is_of_the_first_driver(cluster: Config) -> None:
    assert drivers.of(cluster) is drivers.BY_NAME[drivers.DEFAULT]


def test_a_driver_that_is_not_known_is_refused_by_every_command_that_asks_it(
    does: Does, cluster: Config, var: Path
) -> None:
    why = f"cluster blue.example is of driver tapes, and these commands know {', '.join(drivers.BY_NAME)} only"
    other = like(cluster, settings={"driver": "tapes"})
    with pytest.raises(Refused, match=why):
        drivers.of(other)
    save(other, var)
    for line in ("mcgetstate", "mcauth genkey new", "mcauth show", "mccrfs work -T /work -s SN-b"):
        assert does(line).err == f"{line.split()[0]}: {why}\n"
    assert does("mclsnode").rc == 0


def test_a_cluster_is_made_of_one_of_the_drivers(does: Does) -> None:
    said = does("mccrcluster -n FILE -p SN-b -C blue --driver tapes")
    assert said.rc == 2
    assert "invalid choice: 'tapes'" in said.err
