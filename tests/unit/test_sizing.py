"""Storage building blocks: the seed's own cells, and what the command says."""

import json

import pytest

from causeway.cli.app import main
from causeway.docs.sizing import sizing_page
from causeway.plan.sizing import Need, Size, Unknown, catalogue, servers_for, size, stages

LINKS, BLOCKS = catalogue().links, catalogue().blocks
DCS9900, DS5300, DS3400 = "dcs9900-sata", "ds5300-fc", "ds3400"
#: "DCS9900 Benchmark Results": tiers -> MB/s written and read.
TIERS = {1: (270, 220), 4: (790, 710), 8: (1400, 1200), 16: (2700, 1600), 32: (4800, 2900), 64: (5400, 3600)}


def four(name: str) -> Size:
    return Size(name, BLOCKS[name], 4, "as the page has it")


def test_a_dcs9900_has_240_tb_of_300() -> None:
    assert (BLOCKS[DCS9900].raw_tb, BLOCKS[DCS9900].usable_tb) == (300, 240)


@pytest.mark.parametrize(("nodes", "write", "read"), [(84, 64.3, 42.9), (252, 21.4, 14.3), (336, 16.1, 10.7)])
def test_averages_of_a_frame_and_of_more(nodes: int, write: float, read: float) -> None:
    assert size(DCS9900, Need()).average_mb_s(nodes) == pytest.approx((write, read), abs=0.05)


def test_what_four_servers_need_at_the_peak_is_what_the_seed_requires_of_a_link() -> None:
    assert 5600 / BLOCKS[DCS9900].servers == LINKS["ib-4xddr"].needed_mb_s == LINKS["2xfc8"].needed_mb_s == 1400
    assert BLOCKS["dcs9900-sas"].write_mb_s / 4 == 1400


def test_links_of_eight_servers() -> None:
    by_name = {stage.name: stage.write_mb_s for stage in stages(BLOCKS[DS5300])}
    assert by_name["SAN"] == 6240 and by_name["LAN"] == 5800
    assert 8 * LINKS["tbe"].needed_mb_s == 5600
    assert by_name["LAN"] >= BLOCKS[DS5300].read_mb_s  # "safe"
    assert size(DS5300, Need()).per_server_mb_s == 687.5


def test_four_ds3400() -> None:
    found = four(DS3400)
    assert 4 * (BLOCKS[DS3400].raw_tb or 0) == pytest.approx(37.8)
    assert found.usable_tb == pytest.approx(28.8)
    assert found.disks == 88
    assert (found.write.write_mb_s, found.write.name) == (2500, "array")
    assert (found.read.read_mb_s, found.read.name) == (2900, "LAN")
    assert 4 * (BLOCKS[DS3400].read_mb_s) == 3000


def test_a_tier_of_a_dcs9900_takes_so_many_servers() -> None:
    assert [servers_for(write, LINKS["ib-4xddr"]) for write, _ in TIERS.values()] == [1, 1, 1, 2, 4, 4]
    assert TIERS[64] == (BLOCKS[DCS9900].write_mb_s, BLOCKS[DCS9900].read_mb_s)


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
    with pytest.raises(Unknown, match="the seed says nothing of ds5300-fc's usable_tb"):
        size(DS5300, Need(usable_tb=1))
    with pytest.raises(KeyError):
        size("nosuch", Need())


def warned(name: str, blocks: int) -> str:
    return "\n".join(Size(name, BLOCKS[name], blocks, "").warnings())


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
    assert "must carry" not in warned(DS5300, 1) + warned("dcs9900-sas", 1)


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_names_links_that_there_are_and_whole_groups(name: str) -> None:
    block = BLOCKS[name]
    assert {block.lan, block.san} <= LINKS.keys()
    assert block.disks - block.spares >= block.data + block.parity
    assert block.page


def test_the_command_shows_all_and_leaves_out_what_it_cannot_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "--write", "5000", "--usable", "100", "--nodes", "84"]) == 0
    out, err = capsys.readouterr()
    words = " ".join(out.split())
    assert "dcs9900-sata" in out and "128.6" not in out and "64.3" in out and err == ""
    assert "left out: the seed says nothing of ds5300-fc's usable_tb" in words
    assert max(map(len, out.splitlines())) <= 80


def test_the_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", DS3400, "--read", "3000", "--nodes", "10", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["blocks"], row["servers"], row["disks"], row["read"]["name"]) == (5, 5, 110, "LAN")
    assert row["average"] == {"write_mb_s": 312.5, "read_mb_s": 362.5}


@pytest.mark.parametrize(
    ("words", "said"),
    {
        "size nosuch": "there is no building block 'nosuch'; use one of dcs9900-sas",
        "size ds340": "did you mean ds3400?",
        "size --write -1": "Invalid value for '--write'",
        "size --nodes 0": "Invalid value for '--nodes'",
        "size ds5300-fc --usable 3": "the seed says nothing of ds5300-fc's usable_tb",
    }.items(),
)
def test_bad_input(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err


def test_the_page_has_every_block_and_link() -> None:
    page = sizing_page()
    assert all(f"| `{name}` |" in page for name in [*BLOCKS, *LINKS])
