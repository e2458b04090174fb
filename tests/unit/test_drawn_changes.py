"""Changes that are drawn at random are changes that somebody may hand in, and of all kinds."""

from pathlib import Path

from causeway.model.load import load_site
from causeway.rehearse.change import read_change
from causeway.rehearse.parts import parts
from causeway.rehearse.predict import predict
from tests.sites import changes, draw, rehearsed


def test_drawn_changes_are_read_predicted_and_can_be_made(tmp_path: Path) -> None:
    kinds = set()
    for seed in (2, 3, 8, 27, 44):
        site, change = tmp_path / f"{seed}.yaml", tmp_path / f"{seed}.txt"
        site.write_text(draw.text(seed))
        text = changes.draw(seed, load_site(site))
        assert text == changes.draw(seed, load_site(site))
        change.write_text(text)
        found = read_change(site, None, change)
        assert found.unpredicted == [] and found.fails == [], (seed, text)
        assert parts(found)
        predict(found, "x")
        kinds |= {
            " ".join(line.split()[1:4]).partition("=")[0].partition(" layer")[0] for line in text.splitlines()[1:]
        }
    assert kinds >= {"ip route del", "ip link set", "echo", "sysctl -w net.ipv4.ip_forward"}


def test_what_differs_from_the_prediction_or_stays_is_wrong() -> None:
    answer = {"what": "", "turn": "worse", "before": "", "predicted": "", "played": "", "pairs": {}}
    answers = [{**answer, "question": question} for question in ("reach", "prediction", "lost", "back")]
    assert len(rehearsed.wrong({"answers": answers})) == 3
    assert rehearsed.wrong({"answers": answers[:1]}) == []
    assert rehearsed.wrong({"answers": [{**answer, "turn": "other"} for answer in answers]}) == []
