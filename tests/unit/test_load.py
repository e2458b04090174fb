"""What links carried: counters read, a run's samples, its file, and how the drawing's page has them."""

import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway.cli.app import main
from causeway.errors import BadInput
from causeway.folders import site_file
from causeway.lab.lab import Lab
from causeway.lab.probes import load as probe
from causeway.model.load import load_site
from causeway.render.drawing.load import load_part
from causeway.render.drawing.page import page
from causeway.render.drawing.parts import Parts
from causeway.report.load import Load, Mark, Sample, read

SITE = load_site(site_file("small"))
PORT = str(SITE.cables[0].a)
DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  eth0: 7000000    7000    0    0    0     0          0         0 15140000   10000    0    0    0     0       0          0
 bond0:      11       1    0    0    0     0          0         0       33       3    0    0    0     0       0          0
"""  # noqa: E501
LOAD = Load(1.0, [Sample(2.0, {PORT: 7.5}), Sample(4.0, {PORT: 90.1})], [Mark(0.5, "one, Observe: it & that")])


def test_a_port_has_its_bytes_and_what_frames_take_of_the_wire() -> None:
    assert probe.parse_sent(DEV, {"eth0": "n1:eth0", "eth9": "n1:eth9"}) == {"n1:eth0": 15_140_000 + 24 * 10_000}


def test_counters_are_read_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gives a page of them at a time, as this pipe gives its lines."""
    pipe = tmp_path / "dev"
    os.mkfifo(pipe)
    lab = Lab(SITE, tmp_path)
    monkeypatch.setattr(Lab, "pids", {})
    meter = probe.Meter(lab)
    meter._files = {str(pipe): {"eth0": "n1:eth0", "bond0": "n1:bond0"}}

    def write() -> None:
        with pipe.open("wb", buffering=0) as out:
            for line in DEV.splitlines(keepends=True):
                out.write(line.encode())
                time.sleep(0.02)

    thread = threading.Thread(target=write)
    thread.start()
    assert meter.look().keys() == {"n1:eth0", "n1:bond0"}
    thread.join()


def test_a_rate_is_the_differences_and_a_counter_that_began_anew_counts_from_there() -> None:
    before, after = {"a": 1_000_000, "b": 5_000_000, "gone": 1}, {"a": 2_000_000, "b": 500_000, "new": 7}
    assert probe.rates(before, after, 2.0) == {"a": pytest.approx(4.0), "b": pytest.approx(2.0)}
    assert probe.rates(before, after, 0.0) == {}


class Counting(probe.Meter):
    """One port that sends 10 Mbit/s in every look after the second, and one that sends next to nothing."""

    def __init__(self, lab: Lab) -> None:  # noqa: ARG002 it asks no lab
        self.looks = 0

    def look(self) -> dict[str, int]:
        self.looks += 1
        return {PORT: max(0, self.looks - 2) * 1_000_000, str(SITE.cables[1].a): self.looks}


def test_a_recorder_notes_what_is_loud_and_leaves_quiet_seconds_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "Meter", Counting)
    monkeypatch.setattr(probe, "EVERY_S", 0.01)
    recorder = probe.Recorder(Lab(SITE, tmp_path))
    with recorder.recording():
        deadline = time.monotonic() + 60
        while len(recorder.load.samples) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        recorder.mark(0.25, "a step")
    samples = recorder.load.samples
    assert len(samples) >= 3 and all(set(sample.sent_mbit) == {PORT} for sample in samples)
    assert [sample.at_s for sample in samples] == sorted(sample.at_s for sample in samples)
    assert samples[0].at_s >= 0.02  # the first look but one sent nothing
    assert recorder.load.marks == [Mark(0.25, "a step")]


def test_the_file_of_a_run_says_the_same_again_and_others_are_refused(tmp_path: Path) -> None:
    LOAD.write(tmp_path)
    assert read(tmp_path) == LOAD
    (tmp_path / "load.json").write_text('{"every_s": "often"}')
    with pytest.raises(BadInput, match=r"load.json: this is no load of this Causeway"):
        read(tmp_path)
    with pytest.raises(BadInput, match=r"none has no load.json"):
        read(tmp_path / "none")


def in_page(text: str) -> Any:
    return json.loads(text.split('<script type="application/json" id="load">')[1].split("</script>")[0])


def test_the_page_has_every_sample_by_the_line_that_stands_for_its_cable() -> None:
    data = in_page(page(SITE, LOAD))
    assert data["samples"] == [[2.0, {PORT: 7.5}], [4.0, {PORT: 90.1}]]
    assert data["marks"] == [[0.5, "one, Observe: it & that"]]
    edges = Parts(SITE).edges
    assert len(data["ports"]) == 2 * len(SITE.cables)
    for cable in SITE.cables:
        for port in cable.ends:
            number, line, rate = data["ports"][str(port)]
            assert edges[number].cables[line] == cable and rate == SITE.sends_mbit(port)


def test_of_a_pool_that_is_one_box_all_ports_are_on_the_one_line() -> None:
    big = load_site(site_file("jubl"), {"io": 288})
    (edge,) = (edge for edge in Parts(big).edges if len(edge.cables) == 288)
    port = str(edge.cables[100].a)
    data = in_page(load_part(big, Load(1.0, [Sample(1.0, {port: 5.0})])))
    assert data["ports"][port] == [edge.number, 0, 1000]


def test_without_a_load_there_is_none_on_the_page_and_a_quiet_run_has_none() -> None:
    assert 'id="load"' not in page(SITE)
    assert load_part(SITE, replace(LOAD, samples=[])) == ""


def test_the_load_of_another_site_is_refused() -> None:
    with pytest.raises(BadInput, match=r"another site than this small: elsewhere:eth0 are not in it"):
        page(SITE, Load(1.0, [Sample(1.0, {"elsewhere:eth0": 1.0})]))


def test_the_command_shows_a_runs_load_and_only_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    LOAD.write(tmp_path)
    assert main(["graph", "small", "--format", "html", "--run", str(tmp_path)]) == 0
    assert in_page(capsys.readouterr().out)["samples"][1] == [4.0, {PORT: 90.1}]
    assert main(["graph", "small", "--format", "svg", "--run", str(tmp_path)]) == 2
    assert "--run: what a run's links carried is shown by --format html alone" in capsys.readouterr().err
