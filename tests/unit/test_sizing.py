"""Storage building blocks: what they give, what the command says, and files of one's own."""

import json
import re
from pathlib import Path

import pytest
import yaml

from causeway.cli.app import main
from causeway.docs.sizing import sizing_page
from causeway.errors import BadInput
from causeway.plan.sizing import FILE, Clients, Need, NoAnswer, Size, catalogue, own, servers_for, size

LINKS, BLOCKS = catalogue().links, catalogue().blocks
DCS9900, DS5300, DS3400 = "dcs9900-sata", "ds5300-fc", "ds3400"


def test_every_number_of_the_catalogue_has_its_passage_on_a_page_that_there_is() -> None:
    data = yaml.safe_load(FILE.read_text())
    pages = set(data["pages"])
    for name, thing in [*data["links"].items(), *data["blocks"].items()]:
        assert thing["says"].keys() == thing.keys() - {"says", "lan", "san"}, name
        assert {says.split(": ")[0] for says in thing["says"].values()} <= pages, name
    assert {data[key]["says"].split(": ")[0] for key in ("large", "most_ports", "unfit")} <= pages


def test_links_of_eight_servers() -> None:
    found = Size(DS5300)
    rates = {stage.name: stage.write_mb_s for stage in found.stages}
    assert rates == {"array": 4500, "SAN": 6240, "LAN": 5800}
    assert rates["LAN"] >= found.block.read_mb_s  # "safe"
    assert (found.servers_needed, found.servers) == (8, 8)


def test_four_ds3400_read_what_the_lan_carries() -> None:
    found = Size(DS3400, 4)
    assert (found.write.write_mb_s, found.write.name) == (2500, "array")
    assert (found.read.read_mb_s, found.read.name) == (2900, "LAN")
    assert (found.servers_needed, found.servers) == (5, 4)


def test_tiers_of_a_dcs9900_take_so_many_servers() -> None:
    tiers = BLOCKS[DCS9900].tiers
    assert [servers_for(tier.write_mb_s, LINKS["ib-4xddr"]) for tier in tiers.values()] == [1, 1, 1, 2, 4, 4]
    assert (tiers[64].write_mb_s, tiers[64].read_mb_s) == (BLOCKS[DCS9900].write_mb_s, BLOCKS[DCS9900].read_mb_s)
    assert [round(tier.write_mb_s / n, 1) for n, tier in tiers.items()] == [270, 197.5, 175, 168.8, 150, 84.4]


@pytest.mark.parametrize(
    ("clients", "write", "bound"),
    [
        (Clients(1), 1500, "clients"),
        (Clients(2), 3000, "clients"),
        (Clients(4), 5400, "array"),
        (Clients(6, 2), 4500, "uplinks"),
        (Clients(6, 3), 3000, "uplinks"),
        (Clients(84, 3), 5400, "array"),
    ],
)
def test_few_clients_or_their_uplinks_bound(clients: Clients, write: float, bound: str) -> None:
    found = Size(DCS9900, clients=clients)
    assert (found.write.write_mb_s, found.write.name) == (write, bound)
    assert found.average_mb_s is not None
    assert found.average_mb_s[0] == write / clients.nodes


def test_no_number_of_blocks_does_what_the_clients_cannot() -> None:
    with pytest.raises(NoAnswer, match="clients carry 3000 MB/s, however many dcs9900-sata there are"):
        size(DCS9900, Need(write_mb_s=3001), Clients(2))
    with pytest.raises(NoAnswer, match="uplinks carry 1500 MB/s"):
        size(DCS9900, Need(read_mb_s=3000), Clients(2, 2))
    assert size(DCS9900, Need(write_mb_s=3000, usable_tb=500), Clients(2)).blocks == 3


@pytest.mark.parametrize(
    ("name", "need", "blocks", "because"),
    [
        (DCS9900, Need(), 1, "the least there is"),
        (DCS9900, Need(write_mb_s=5400, read_mb_s=3600, usable_tb=240), 1, "the least there is"),
        (DCS9900, Need(write_mb_s=5401), 2, "write_mb_s"),
        (DCS9900, Need(write_mb_s=5401, read_mb_s=8000), 3, "read_mb_s"),
        (DCS9900, Need(usable_tb=1000), 5, "usable_tb"),
        (DS3400, Need(read_mb_s=2900), 4, "read_mb_s"),
        (DS3400, Need(read_mb_s=3000), 5, "read_mb_s"),  # the LAN bounds: an array alone would do with 4
        (DS3400, Need(read_iops=40_000), 4, "read_iops"),
        (DS3400, Need(write_iops=35_000), 4, "write_iops"),
        (DS5300, Need(write_iops=9001), 2, "write_iops"),
    ],
)
def test_the_least_number_that_meets_the_need(name: str, need: Need, blocks: int, because: str) -> None:
    found = size(name, need)
    assert (found.blocks, found.because) == (blocks, because)
    assert found.servers == blocks * BLOCKS[name].servers


def test_what_the_seed_does_not_say_is_not_guessed() -> None:
    with pytest.raises(NoAnswer, match="nothing is known of ds5300-fc's usable_tb"):
        size(DS5300, Need(usable_tb=1))
    with pytest.raises(KeyError):
        size("nosuch", Need())


def warned(name: str, blocks: int, clients: Clients | None = None) -> str:
    return "\n".join(Size(name, blocks, clients=clients).warnings())


def test_more_than_four_ds3400_are_warned_of() -> None:
    assert "not more than 4" not in warned(DS3400, 4)
    assert "not more than 4 in one file system" in warned(DS3400, 5)


def test_more_disks_or_rate_than_a_small_block_is_for() -> None:
    assert "take DS5300 or DCS9900" not in warned(DS3400, 4) + warned("ds5100", 1)
    assert "for more than 128 such disks or 3000 MB/s take DS5300 or DCS9900" in warned(DS3400, 6)
    assert "take DS5300 or DCS9900" in warned("ds5100", 2)
    assert "take DS5300" not in warned(DS5300, 9)


def test_more_than_32_host_ports_are_warned_of() -> None:
    assert "host ports" not in warned(DCS9900, 4)  # 16 servers with two each
    assert "40 host ports: a SAN should have at most 32; beyond, the queue depth must be 0.80 times" in warned(
        DCS9900, 5
    )
    assert "host ports" not in warned(DS5300, 4)


def test_a_link_that_must_carry_more_than_to_count_on() -> None:
    assert "each server must carry 750 MB/s, and 700 is what to count on" in warned(DS3400, 1)
    assert "its arrays would keep 2 servers busy, and there are 1" in warned(DS3400, 1)
    assert "must carry" not in warned(DS5300, 1) + warned("dcs9900-sas", 1)
    assert "servers busy" not in warned(DS5300, 1) + warned("dcs9900-sas", 1)


def test_servers_behind_blocked_uplinks_are_warned_of() -> None:
    assert "servers behind uplinks of 2:1 would carry 3000 MB/s together" in warned(DCS9900, 1, Clients(84, 2))
    assert "uplinks" not in warned(DCS9900, 1, Clients(84)) + warned(DCS9900, 1, Clients(1, 2))


def test_a_rate_that_was_measured_with_more_disks_is_warned_of() -> None:
    assert "its 300 disks are 30 tiers: 32 were measured to write 4800 and read 2900 MB/s" in warned(DCS9900, 1)
    block = BLOCKS[DCS9900].model_copy(update={"disks": 640})
    known = catalogue().model_copy(update={"blocks": {DCS9900: block}})
    assert "tiers:" not in "\n".join(Size(DCS9900, known=known).warnings())


def test_the_command_shows_all_and_leaves_out_what_it_cannot_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "--write", "5000", "--usable", "100", "--nodes", "84"]) == 0
    out, err = capsys.readouterr()
    words = " ".join(out.split())
    assert "dcs9900-sata" in out and "128.6" not in out and "64.3" in out and err == ""
    assert "left out: nothing is known of ds5300-fc's usable_tb" in words
    assert "contradicts itself" not in words
    assert max(map(len, out.splitlines())) <= 80


def test_of_a_block_that_is_named_the_command_shows_both_numbers_and_places(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", DS3400, "--blocks", "4"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "as asked" in out and "2900" in out
    assert "the source contradicts itself (ds3400-usable)" in out
    assert "< 28 TB: usable (DS3400, Small Performance" in out and "28.8 TB: 16 groups" in out


def test_the_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", DS3400, "--read", "3000", "--nodes", "10", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["blocks"], row["servers"], row["disks"], row["read"]["name"]) == (5, 5, 110, "LAN")
    assert row["average"] == {"write_mb_s": 312.5, "read_mb_s": 362.5}
    assert [stage["name"] for stage in row["stages"]] == ["array", "SAN", "LAN", "clients"]
    assert "ds3400-read" in row["contradictions"]


@pytest.mark.parametrize(
    ("words", "said"),
    {
        "size nosuch": ["there is no building block 'nosuch'; use one of dcs9900-sas"],
        "size ds340": ["did you mean ds3400?"],
        "size XIV": ["XIV: should not in general be used for HPC solutions"],
        "size nosuch.yaml": ["nosuch.yaml: No such file"],
        "size ds340 --write -1 --read nan --usable inf --nodes 0 --blocks 3": [
            "--write -1.0: say a number from 0 to 1000000000",
            "--read nan: say",
            "--usable inf: say",
            "--nodes 0: say a number from 1",
            "--blocks says how many there are, and --write, --read, --usable what they must do",
            "did you mean ds3400?",
        ],
        f"size --nodes {10**400}": ["say a number from 1"],
        "size --blocking 2": ["say --nodes, too"],
        "size ds5300-fc --usable 3": ["nothing is known of ds5300-fc's usable_tb"],
        "size --nodes 2 --write 5000": ["clients carry 1450 MB/s, however many ds3400 there are"],
    }.items(),
)
def test_bad_input_is_said_all_at_once(words: str, said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and [text for text in said if text not in err] == []


def test_blocks_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    (example,) = re.findall(r"^```yaml\n(.*?)^```", sizing_page(), re.MULTILINE | re.DOTALL)
    file.write_text(example)
    (name,) = own(file).blocks
    assert main(["size", str(file), "--read", "20000", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["block"], row["blocks"], row["read"]["name"], row["contradictions"]) == (name, 3, "array", [])
    assert own(file).links.keys() > LINKS.keys()


def test_all_mistakes_of_a_file_of_ones_own_are_said_with_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.yaml"
    good = "write_mb_s: 1, read_mb_s: 1, servers: 1, data: 4, parity: 1"
    file.write_text(
        f"blocks:\n  a: {{{good}, lan: tb, san: fc8, disks: 5}}\n  b: {{{good}, lan: tbe, san: x, disks: 4}}\n"
    )
    with pytest.raises(BadInput) as caught:
        own(file)
    assert [(problem.line, problem.path) for problem in caught.value.problems] == [
        (2, "blocks.a.lan"),
        (3, "blocks.b.san"),
        (3, "blocks.b.disks"),
    ]
    assert "did you mean tbe?" in str(caught.value) and "no group of 4+1" in str(caught.value)
    file.write_text('blocks:\n  "a\\e[2J": {}\n  a: {write_mb_s: .inf, disk: 5, cautions: ["\\e[2J"]}\n')
    assert main(["size", str(file)]) == 2
    assert "\x1b" not in capsys.readouterr().err
    with pytest.raises(BadInput) as caught:
        own(file)
    assert {problem.path for problem in caught.value.problems} >= {
        "blocks.a.write_mb_s",
        "blocks.a.disk",
        "blocks.a.cautions[0]",
    }


def test_the_page_has_every_block_and_link() -> None:
    page = sizing_page()
    assert all(f"| `{name}` |" in page for name in [*BLOCKS, *LINKS])
