"""Verdicts, tables, figures and files of the lab, and its verb."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Command

from seq2see import lab
from seq2see.errors import RunError, SettingsError
from seq2see.lab.experiment import Experiment, Measured, Trial
from seq2see.lab.experiments import EXPERIMENTS
from seq2see.lab.panels import Panel
from seq2see.lab.result import Result, interval_of, verdict_of


def one(measure: object = None, **more: object) -> Experiment:
    panels = (Panel("size", "value", "kind"), Panel("kind", "value"))
    made = Experiment(
        "one", "It grows.", "page 1", "growth", 1.0, lambda trial: grown(trial), ("kind", "size"), panels, "c"
    )
    return replace(made, **{**({"measure": measure} if measure else {}), **more})


def grown(trial: Trial) -> Measured:
    rows = [{"kind": kind, "size": size, "value": size * trial.seed} for kind in "ab" for size in (1, 2)]
    return Measured(2.0 + trial.seed / 10, rows)


def result(*effects: float, wanted: float = 1.0) -> Result:
    found = tuple(Measured(effect, [{"kind": "a", "size": 1, "value": effect}]) for effect in effects)
    return Result(one(wanted=wanted), tuple(range(len(effects))), found, "seq2see lab one", Path())


@pytest.mark.parametrize(
    ("effects", "verdict"),
    [
        ((2, 3, 2.5), "holds"),
        ((0.1, 0.5, 0.2), "does not hold"),
        ((0, 1, 3), "unclear"),
        ((float("nan"),), "unclear"),
    ],
)
def test_a_verdict_follows_the_interval(effects: tuple[float, ...], verdict: str) -> None:
    assert verdict_of(interval_of(effects), 1.0) == verdict
    assert result(*effects).verdict == verdict


def test_an_interval_lies_within_the_seeds_and_around_their_mean() -> None:
    low, high = interval_of([1.0, 2.0, 6.0])
    assert 1.0 <= low < 3.0 < high <= 6.0
    assert interval_of([2.0]) == (2.0, 2.0)


def test_the_table_has_means_over_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "one", one())
    found = lab.run("one", seeds=[1, 3], out=tmp_path)
    assert found.table[0] == {"kind": "a", "size": 1, "value": 2.0}
    assert found.table[-1] == {"kind": "b", "size": 2, "value": 4.0}
    assert found.effect == pytest.approx(2.2)
    assert "holds here" in repr(found)


def test_files_hold_the_data_the_verdict_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXPERIMENTS, "one", one())
    lab.run("one", seeds=[1, 2], out=tmp_path, quick=True)
    values = json.loads((tmp_path / "one.json").read_text())
    assert {"claim", "verdict", "effect", "interval", "table", "figures", "command"} <= values.keys()
    assert values["command"] == f"seq2see lab one --quick --seeds 1,2 --out {tmp_path}"
    assert all(Path(path).exists() for path in values["figures"])
    assert (tmp_path / "one.csv").read_text().splitlines()[:2] == ["seed,kind,size,value", "1,a,1,1"]
    drawn = (tmp_path / "one.svg").read_text()
    assert "It grows." in drawn and re.search(">a</text>", drawn), "lines are labelled directly"


def test_finished_seeds_are_kept_when_one_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def interrupted(trial: Trial) -> Measured:
        seen.append(trial.seed)
        if trial.seed == 2 and seen.count(2) == 1:
            raise KeyboardInterrupt
        return grown(trial)

    monkeypatch.setitem(EXPERIMENTS, "one", one(interrupted))
    with pytest.raises(KeyboardInterrupt):
        lab.run("one", seeds=[1, 2], out=tmp_path)
    found = lab.run("one", seeds=[1, 2], out=tmp_path)
    assert seen == [1, 2, 2]
    assert found.effects == [2.1, 2.2]


def test_another_size_or_a_control_is_measured_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def counted(trial: Trial) -> Measured:
        seen.append((trial.size, trial.control))
        return grown(trial)

    monkeypatch.setitem(EXPERIMENTS, "one", one(counted))
    for options in ({}, {"quick": True}, {"control": True}, {}):
        lab.run("one", seeds=[1], out=tmp_path, **options)
    assert seen == [("full", False), ("quick", False), ("full", True)]


def test_what_was_kept_by_another_version_of_the_experiment_is_measured_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXPERIMENTS, "one", one())
    lab.run("one", seeds=[1], out=tmp_path)
    kept = next((tmp_path / "work" / "full").glob("*.json"))
    values = json.loads(kept.read_text())
    kept.write_text(json.dumps({**values, "effect": 99.0}))
    assert lab.run("one", seeds=[1], out=tmp_path).effects == [99.0]
    kept.write_text(json.dumps({**values, "effect": 99.0, "made_by": "another"}))
    assert lab.run("one", seeds=[1], out=tmp_path).effects == [2.1]


def test_a_damaged_file_of_a_seed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "one", one())
    lab.run("one", seeds=[1], out=tmp_path)
    kept = next((tmp_path / "work" / "full").glob("*.json"))
    kept.write_text("{")
    with pytest.raises(RunError, match=r"one-1\.json is damaged; delete it"):
        lab.run("one", seeds=[1], out=tmp_path)


def test_bad_names_seeds_and_places_are_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="did you mean 'scaling'"):
        lab.run("scalign")
    with pytest.raises(SettingsError, match="different numbers"):
        lab.run("paths", seeds=[1, 1], out=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="name another place with --out"):
        lab.run("paths", size="tiny", seeds=[1], out=tmp_path / "file" / "inside")


def test_a_full_disk_is_told_and_finished_seeds_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "one", one())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with (
        monkeypatch.context() as patched,
        pytest.raises(RunError, match="No space left on device; name another"),
    ):
        patched.setattr("seq2see.lab.result.replace_bytes", full)
        lab.run("one", seeds=[1], out=tmp_path)
    assert (tmp_path / "work" / "full" / "one-1.json").exists()


def test_the_callers_random_numbers_are_left_alone(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    lab.run("paths", size="tiny", seeds=[1], out=tmp_path)
    assert torch.equal(torch.rand(1), expected)


def test_the_verb_lists_claims(seq2see: Command) -> None:
    listed = json.loads(seq2see("lab", "--json").out)
    assert list(listed) == list(EXPERIMENTS) and listed["scaling"]["claim"] == EXPERIMENTS["scaling"].claim
    assert all(name in seq2see("lab").out for name in EXPERIMENTS)


def test_the_verb_prints_claim_table_and_verdict(tmp_path: Path, seq2see: Command) -> None:
    shown = seq2see("lab", "paths", "--quick", "--seeds", "1,2", "--out", tmp_path).out
    assert "joins any two positions" in shown and "The claim holds here" in shown and "recurrence" in shown


def test_the_verb_gives_json(tmp_path: Path, seq2see: Command) -> None:
    values = json.loads(seq2see("lab", "paths", "--quick", "--seeds", "1", "--out", tmp_path, "--json").out)
    assert values["verdict"] == "holds" and values["table"][0]["kind"] == "convolution"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "there is no experiment 'nothing'"),
        (["paths", "--seeds", "1,x"], "--seeds '1,x' should be different numbers"),
        (["paths", "--all"], "leave --all out"),
    ],
)
def test_the_verb_says_what_is_wrong(words: list[str], said: str, seq2see: Command) -> None:
    answer = seq2see("lab", *words)
    assert answer.code == 2 and said in answer.err


def test_scores_without_attention_have_no_strongest_place() -> None:
    """H: the control of `scores` has no weights to speak of, and says the rest."""
    remarks = EXPERIMENTS["scores"].remarks
    rows = [{"score": name, "exact": 50.0, "strongest": 70.0} for name in ("dot", "scaled-dot")]
    assert "70 % with dot" in remarks(rows)[-1]
    rest = remarks([{"score": row["score"], "exact": row["exact"]} for row in rows])
    assert rest == remarks(rows)[:-1] and not any("strongest" in said for said in rest)


def test_gradients_through_long_times_are_not_lost_to_32_bits() -> None:
    """Twice the steps are about twice the powers of ten: squares of such small numbers must not be zeros."""
    import torch

    from seq2see.lab.experiments.gradients import _through_time

    torch.manual_seed(3)
    half, whole = (_through_time("tanh", steps) for steps in (64, 128))
    assert -8 > half > -20 and 1.5 < whole / half < 2.5
