"""Going on with a text: past the context, up to a stop text, as it is written, and under the lens."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from complete_runs import GPT, TEXT, passages, trained

from seq2see import load
from seq2see.errors import SettingsError
from seq2see.goals.completer import Completer
from seq2see.lens.edits import Force, Off
from seq2see.text import BEGIN, END, PAD, UNKNOWN


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_texts_go_on_past_the_context(positions: str, folder: Path) -> None:
    """The plain twin: one token after another; where the window is full, its later half begins a new one."""
    settings = (*GPT, f"model.decoder.positions={positions}", "model.max_length=16")
    model = load(trained(folder, positions, settings=settings, max_steps=8), device="cpu")
    prompts = ["the cat", "1: the cat sat on a mat and more"]
    for prompt, (found,) in zip(prompts, model.decode(prompts, beam=1, max_length=40), strict=True):
        ids = model.tokenizer.encode(prompt)
        seen, total = ids[-8:] if len(ids) >= 16 else list(ids), 0.0
        for _ in range(40):
            seen = seen[-8:] if len(seen) == 16 else seen
            scores = model.network.logits(torch.tensor([[BEGIN, *seen]]))[0, -1].log_softmax(-1).detach()
            best = max(
                (i for i in range(len(scores)) if i not in (PAD, BEGIN, UNKNOWN)), key=scores.__getitem__
            )
            total += float(scores[best])
            if best == END:
                break
            seen, ids = [*seen, best], [*ids, best]
        assert list(found.ids) == ids
        assert found.log_probability == pytest.approx(total, rel=1e-4)


def test_samples_go_on_with_fresh_numbers(gpt: Completer) -> None:
    options = {"nbest": 30, "temperature": 3.0, "max_length": 60, "seed": 2}
    (many,) = gpt.decode(["the"], **options)
    parts = [one.ids[start : start + 8] for one in many for start in (16, 24, 32) if len(one.ids) > start + 8]
    assert len(parts) == len(set(parts)) > 9
    assert list(gpt.decode(["the"], **options)) == [many]


def test_texts_stop(model: Completer) -> None:
    prompts = ["1: the c", "a"]
    whole = [found.text for (found,) in model.decode(prompts, max_length=50, seed=3)]
    new = whole[0][len(prompts[0]) :]
    for stop in ([new[3]], ["not in it", new[2:4]], [new[5:9], new[4:8]]):
        cut = [found.text for (found,) in model.decode(prompts, max_length=50, seed=3, stop=stop)]
        assert len(cut[0]) < len(whole[0])
        for prompt, full, short in zip(prompts, whole, cut, strict=True):
            places = [place for one in stop if (place := full.find(one, len(prompt))) >= 0]
            assert short == full[: min(places, default=len(full))]
    with pytest.raises(SettingsError, match="empty text to stop at"):
        next(model.decode(["a"], stop=[""]))


@pytest.mark.parametrize("kind", ["characters", "bpe"])
@pytest.mark.parametrize("stop", [[], ["t", "he"], ["😀"]])
def test_what_is_streamed_is_what_is_decoded(kind: str, stop: list[str], folder: Path) -> None:
    if not (run := folder / f"text of {kind}").exists():
        trained(folder, run.name, settings=(*GPT, f"text.target.kind={kind}"))
    model = load(run, device="cpu")
    for seed in range(5):
        options = {"max_length": 40, "seed": seed, "temperature": 2.0, "stop": stop}
        pieces = list(model.stream("1: the c😀", **options))
        assert "1: the c😀" + "".join(pieces) == next(model.decode(["1: the c😀"], **options))[0].text
        assert all(pieces) and (len(pieces) > 1 or stop)
    with pytest.raises(SettingsError, match="leave beam and nbest"):
        next(model.stream("a", nbest=2))


def test_the_first_token_comes_after_one_reading_and_one_step(
    model: Completer, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, int]] = []
    decoder = type(model.network.decoder)
    for name in ("prefill", "step"):
        plain = getattr(decoder, name)

        def noted(
            self: Any, first: Any, second: Any, *rest: Any, plain: Any = plain, name: str = name
        ) -> Any:
            prefill = name == "prefill"
            done.append((name, second.tokens.shape[1] if prefill else 1))
            return plain(self, first, second, *rest)

        monkeypatch.setattr(decoder, name, noted)
    next(model.stream("the cat sat"))
    assert done == [("prefill", 11), ("step", 1)]


def test_an_interrupted_stream_leaves_a_clean_terminal(gpt: Completer, folder: Path) -> None:
    """In a real terminal: the line is ended, nothing else is said, and the exit code tells of it."""
    master, slave = os.openpty()
    words = [
        sys.executable,
        "-m",
        "seq2see",
        "predict",
        str(folder / "gpt"),
        "--beam",
        "1",
        "--max-length",
        "100000",
    ]
    process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    os.write(master, b"the cat\n")
    said = b""
    while said.count(b"the cat") < 2 or len(said) < 200:  # the terminal shows what is typed, too
        said += os.read(master, 4096)
    process.send_signal(signal.SIGINT)
    try:
        while part := os.read(master, 4096):
            said += part
    except OSError:  # Linux says so where the other end of a terminal is closed
        pass
    os.close(master)
    assert process.wait(60) == 130
    assert said.endswith(b"\r\n") and b"Traceback" not in said and b"error" not in said


def test_the_lens_shows_one_text_that_looks_back(model: Completer) -> None:
    view = model.attention("1: the cat", max_length=4)
    assert view.source == view.read and view.read[0] == "<begin>"
    assert view.output == "1: the cat" + "".join(view.predicted[10:]).replace("▁", " ").replace("<end>", "")
    assert len(view.steps) == len(view.predicted) and view.steps[-1].top[0][1] == view.predicted[-1]
    found = next(model.decode(["1: the cat"], beam=1, max_length=4))[0]
    new = sum(step.log_probability for step in view.steps[10:])
    assert view.output == found.text and new == pytest.approx(found.log_probability, rel=1e-4)
    target = model.attention("1: the cat", " sat")
    assert target.output == "1: the cat sat" and target.predicted[-1] == "<end>"
    for kind in ("gradient", "occlusion"):
        by_token = model.attribution("1: the cat", max_length=4, kind=kind)
        assert by_token.shape == (len(view.predicted), len(view.read))
        assert by_token.triu(1).abs().max() == 0 < by_token.abs().max()


def test_a_text_without_a_begin_symbol(folder: Path) -> None:
    """As GPT-2 has it: the first token is read, and not foretold."""
    run = trained(folder, "bare", settings=(*GPT, "text.begins=false"))
    model = load(run, device="cpu")
    view = model.attention("1: the cat", max_length=4)
    ids = model.tokenizer.encode("1: the cat")
    found = next(model.decode(["1: the cat"], beam=1, max_length=4))[0]
    assert view.read[:2] == ["1", ":"] and view.predicted[0] == ":"
    assert view.output == found.text
    scores = model.network.logits(torch.tensor([ids]))[0, -1].log_softmax(-1).detach()
    assert view.steps[len(ids) - 1].log_probability == pytest.approx(
        float(scores[found.ids[len(ids)]]), rel=1e-4
    )
    assert next(model.decode([""], beam=1, max_length=4))[0].ids != ()


def test_edits_change_what_follows(gpt: Completer, folder: Path, seq2see: Any) -> None:
    edit = Off.model_validate({"at": "decoder.*.self", "how": "uniform"})
    view = gpt.attention("1: the cat", max_length=4, edits=[edit])
    assert (
        view.effect is not None and view.effect.change != 0 and view.weights["decoder.0.self"].shape[0] == 2
    )
    assert view.at()[5, :6].tolist() == pytest.approx([1 / 6] * 6, abs=1e-6)
    assert view.rollout().shape == (len(view.read), len(view.read))
    forced = gpt.attention("1: the cat", max_length=4, edits=[Force(step=10, token="a")])
    assert forced.output.startswith("1: the cata")
    said = [next(gpt.decode(["1: the cat"], beam=1, max_length=4, edits=some))[0] for some in ((), [edit])]
    assert said[1].text == view.output and said[0].log_probability != said[1].log_probability
    plain, changed = (gpt.outcome(passages(TEXT[:200]), edits=some).nats.sum() for some in ((), [edit]))
    assert plain != changed
    heads = json.loads(seq2see("heads", folder / "gpt", folder / "text.txt", "--json").out)
    assert list(heads["changes"]) == ["decoder.0.self"] and len(heads["changes"]["decoder.0.self"]) == 2
    (folder / "prompts.txt").write_text("the cat\n")
    shown = seq2see("predict", folder / "gpt", folder / "prompts.txt", "--show-attention", "--max-length", 3)
    assert shown.code == 0 and "<begin>" in shown.err
