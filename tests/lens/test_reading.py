"""Looking into models that read but do not write, from Python and from the command line."""

import subprocess
import sys

import pytest
import torch
from reading_runs import READ

from seq2see.data import Pair
from seq2see.errors import DataError, SettingsError
from seq2see.goals.reading_model import hide
from seq2see.lab.head_effects import weigh_heads
from seq2see.layers.attention import plain_attention, split
from seq2see.layers.positions import rotate, rotations
from seq2see.lens.edits import Block, Borrow, Force, Hard, Off, Pin, Reword, Temperature, Top
from seq2see.lens.watchers import addresses_of

EVERY = list(READ)
LOOKING = ["classes", "pooled", "members", "labels", "number", "tags", "mixed"]
BLIND = ["cut", "counts", "letters"]
EDITS = [
    Off(at="*"),
    Off(at="*", how="uniform"),
    Off(at="*", how="mean"),
    Hard(at="*"),
    Top(at="*", count=1),
    Temperature(at="*", value=20),
    Pin(at="*", step=0, places=(1,)),
    Block(at="*", places=(0, 2)),
    Borrow(at="*", text="blue new green"),
]


@pytest.mark.parametrize("name", EVERY)
def test_a_view_shows_what_the_model_answers(readers, name):
    model, text = readers[name], READ[name]
    view, answer = model.attention(text), model.predict([text])[0]
    assert view.text == text and view.kind == model.attention(text).kind
    assert set(view.weights) == set(addresses_of(model.network))
    for address, weights in view.weights.items():
        rows, columns = view.rows(address), view.columns(address)
        assert weights.shape[1:] == (len(rows), len(columns))
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
        assert columns == view.source
    if view.kind == "number":
        assert float(view.output) == pytest.approx(answer.value, rel=1e-3)
        assert view.log_probability is None and view.steps == []
        assert f"{answer.low:.4g} to {answer.high:.4g}" in view.note and view.note in repr(view)
    elif view.kind == "tags":
        assert view.predicted == list(answer.tags["tags"]) and view.read == text.split(" ")
        assert [step.log_probability for step in view.steps] == pytest.approx(
            torch.tensor(answer.probabilities["tags"]).log().tolist(), abs=1e-4
        )
    else:
        assert view.output == answer.text
        for _, label, value in view.steps[0].top:
            assert torch.tensor(value).exp() == pytest.approx(answer.probabilities[label], abs=1e-4)
    if view.kind == "labels":
        right = [value if value > 0.5 else 1 - value for value in answer.probabilities.values()]
        assert view.log_probability == pytest.approx(float(torch.tensor(right).log().sum()), abs=1e-4)


@pytest.mark.parametrize("name", ["classes", "number", "tags"])
def test_collected_weights_are_those_of_plain_attention(readers, name):
    """The first layer computed again from its parts, without the code that is watched."""
    model = readers[name]
    network, example = model.network, Pair(1, READ[name], "", "")
    sides = {key: column.collate(column.encode([example])) for key, column in model.inputs.items()}
    block = network.encoder.blocks[0]
    attention = block.attention
    with torch.inference_mode():
        states = block.attention_residual.norm(network.front(sides).states)
        parts = [
            split(part(states), attention.heads) for part in (attention.query, attention.key, attention.value)
        ]
        turned = rotations(0, states.shape[1], parts[0].shape[-1], states.device)
        _, again = plain_attention(rotate(parts[0], turned), rotate(parts[1], turned), parts[2], None)
    found = model.attention(READ[name]).weights["encoder.0.self"]
    torch.testing.assert_close(found, again[0], rtol=1e-4, atol=1e-5)


def test_blocking_a_token_in_attention_pooling_equals_computing_it_by_hand(readers):
    model, text = readers["pooled"], READ["pooled"]
    network, example = model.network, Pair(1, READ["pooled"], "", "")
    sides = {key: column.collate(column.encode([example])) for key, column in model.inputs.items()}
    member = network.head.members[0]
    pooling = member.attention
    with torch.inference_mode():
        states = network.front(sides).states[0]  # (S, D): no encoder stands between
        logits = pooling.score(torch.tanh(pooling.keys(states)))  # (S, H)
        logits[1] = -torch.inf
        weights = logits.softmax(0)
        width = states.shape[1] // pooling.heads
        read = [
            weights[:, head] @ states[:, head * width : (head + 1) * width] for head in range(pooling.heads)
        ]
        expected = member.output(torch.cat(read)).log_softmax(-1)
    view = model.attention(text, edits=[Block(at="head.pool", places=(1,))])
    torch.testing.assert_close(view.weights["head.pool"][:, 0], weights.T)
    shown = {label: value for _, label, value in view.steps[0].top}
    assert [shown[label] for label in model.labels] == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize("name", LOOKING)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit.kind} {getattr(edit, 'how', '')}")
def test_edits_change_the_answer_and_the_effect_says_how(readers, name, edit):
    model, text = readers[name], READ[name]
    plain, changed = model.attention(text), model.attention(text, edits=[edit])
    effect = changed.effect
    assert effect.output == plain.output and effect.predicted == plain.predicted
    assert [token for sign, token in effect.difference if sign != "+"] == plain.predicted
    assert [token for sign, token in effect.difference if sign != "-"] == changed.predicted
    moved = max(float((changed.weights[at] - plain.weights[at]).abs().max()) for at in plain.weights)
    # Attention pooling has one row, which is its own mean.
    assert (moved > 1e-3) == ("encoder.0.self" in plain.weights or getattr(edit, "how", "") != "mean")
    if plain.kind == "number":
        assert effect.divergence == [] and effect.log_probability is None
        assert effect.change == pytest.approx(float(changed.output) - float(plain.output), abs=2e-2)
        return
    assert effect.log_probability == pytest.approx(plain.log_probability)
    assert len(effect.divergence) == len(plain.predicted) and all(value >= 0 for value in effect.divergence)
    before, after = ([{id_: v for id_, _, v in step.top} for step in view.steps] for view in (plain, changed))
    best = [max(step, key=step.get) for step in before]
    drop = sum(new[id_] - old[id_] for old, new, id_ in zip(before, after, best, strict=True))
    assert effect.change == pytest.approx(drop, abs=1e-4)
    # Every divergence computed again; labels that do not exclude each other are a choice of yes or no each.
    for old, new, found in zip(before, after, effect.divergence, strict=True):
        p, q = (torch.tensor([step[id_] for id_ in sorted(step)]).double().exp() for step in (old, new))
        wanted = (p * (p / q).log()).sum()
        if plain.kind == "labels":
            wanted += ((1 - p) * ((1 - p) / (1 - q)).log()).sum()
        assert found == pytest.approx(float(wanted), abs=1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_another_text_can_be_read_instead(readers, name):
    text, other = READ[name], "abd" if name in ("number", "letters") else "blue new"
    view = readers[name].attention(text, edits=[Reword(text=other)])
    plain = readers[name].attention(other)
    assert (view.output, view.source, view.text) == (plain.output, plain.source, other)
    if view.kind == "tags":  # three words and two have no change that could be summed
        assert view.effect.change is None and view.effect.divergence == []


def test_what_cannot_be_done_is_refused(readers):
    model, text = readers["classes"], READ["classes"]
    with pytest.raises(SettingsError, match="none can be forced"):
        model.attention(text, edits=[Force(step=0, token=4)])
    with pytest.raises(SettingsError, match=r"no attention of this model is at 'decoder\.0\.cross'"):
        model.attention(text, edits=[Off(at="decoder.0.cross")])
    with pytest.raises(SettingsError, match="this model has no attention"):
        readers["counts"].attention(READ["counts"], edits=[Off(at="head.pool")])
    with pytest.raises(SettingsError, match=r"the lender has no attention at 'encoder\.0\.self'"):
        model.attention(text, edits=[Borrow(at="*")], donor=readers["pooled"])
    with pytest.raises(SettingsError, match="there is no attribution 'gradients'"):
        model.attribution(text, kind="gradients")
    with pytest.raises(DataError, match="no text to look at"):
        model.attention(" ")
    with pytest.raises(SettingsError, match="no attention; model"):
        readers["letters"].attention("abc").save("x.svg")


def test_a_donor_lends_weights(readers):
    model, donor, text = readers["classes"], readers["members"], READ["classes"]
    view = model.attention(text, edits=[Borrow(at="head.pool", origin="head.1.pool", head=2)], donor=donor)
    lent = donor.attention(text).weights["head.1.pool"][2]
    torch.testing.assert_close(view.weights["head.pool"], lent.expand(4, -1, -1))


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ("counts", "letters", "mixed")])
def test_gradients_equal_finite_differences(readers, name):
    """d score / d x . x is the slope of the score as the state of one token grows by a share of itself."""
    model, text = readers[name], READ[name]
    network = model.network.double()
    example = Pair(1, text, "", "")
    sides = {key: column.collate(column.encode([example])) for key, column in model.inputs.items()}
    found = model.attribution(text, kind="gradient")
    plain = model.read(example, model.head_outputs(sides)[0]).scores
    best = plain.argmax(1, keepdim=True)
    step = 1e-4
    try:
        for place in range(found.shape[1]):
            both = []
            for sign in (1, -1):

                def grow(module, given, made, by=sign * step, place=place):
                    states = made.states.clone()
                    states[:, place] *= 1 + by
                    return made._replace(states=states)

                hook = network.front.register_forward_hook(grow)
                with torch.no_grad():
                    outputs = model.head_outputs(sides)
                hook.remove()
                both.append(_scores(model, example, outputs[0]).gather(1, best)[:, 0])
            slope = (both[0] - both[1]) / (2 * step)
            torch.testing.assert_close(found[:, place].double(), slope.double(), rtol=2e-2, atol=2e-3)
    finally:
        network.float()


def _scores(model, example, outputs):
    """The scores of a reading without the rounding to single precision."""
    kind = model.read(example, outputs).kind
    if kind == "number":
        return (outputs * model.column.deviation + model.column.mean)[None]
    if kind == "tags":
        return outputs[: len(example.source.split(" "))]
    if kind == "labels":
        return torch.nn.functional.logsigmoid(outputs)[None]
    return outputs.log_softmax(-1)[None]


REPLACED = {
    "classes": ("red old big", "red qqq big", 1),
    "labels": ("red old big", "red qqq big", 1),
    "members": ("red old big", "red old zz", 2),
    "tags": ("red old big", "red 999 big", 1),
    "number": ("abcabd", "abxabd", 2),
    "counts": ("red old big", "red zzz big", 1),
    "letters": ("abcabd", "abxabd", 2),
}


@pytest.mark.parametrize("name", REPLACED)
def test_occlusion_is_what_is_lost_where_a_token_is_one_that_training_never_showed(readers, name):
    model = readers[name]
    text, replaced, place = REPLACED[name]
    lost = model.attribution(text, kind="occlusion")
    whole, left = (
        model.read(Pair(1, one, "", ""), model.outputs([Pair(1, one, "", "")])[0]) for one in (text, replaced)
    )
    best = whole.scores.argmax(1, keepdim=True)
    expected = (whole.scores - left.scores).gather(1, best)[:, 0]
    torch.testing.assert_close(lost[:, place], expected, rtol=1e-3, atol=1e-4)
    assert lost[:, place].abs().max() > 1e-5


@pytest.mark.parametrize("name", ["counts", "letters", "mixed"])
def test_counts_are_explained_by_occlusion_alone(readers, name):
    """Pieces that are counted are no tokens: the usual way is occlusion, and the gradient says what to do."""
    model, text = readers[name], READ[name]
    torch.testing.assert_close(model.attribution(text), model.attribution(text, kind="occlusion"))
    with pytest.raises(SettingsError, match="choose kind=occlusion"):
        model.attribution(text, kind="gradient")


def test_forgetting_a_token_takes_its_text_out_of_all_that_is_read(readers):
    """The word is no longer counted, nor any run of words or letters that it stands in; the others are."""
    model = readers["counts"]
    column = model.run.columns["counts"]

    def counted(row):
        return {column.pieces[int(id_)] for id_ in row[2::2]}

    example = Pair(1, "red old big", "", "")
    (whole,) = column.encode([example])
    without = counted(model.forgotten(example)["counts"][1])
    assert {"\tred", "\tbig", " re"} <= without < counted(whole)
    assert not any("old" in piece for piece in without) and any(piece == "\told" for piece in counted(whole))
    letters = readers["tags"].forgotten(example)["letters"][1]
    assert letters[:5] == readers["tags"].run.columns["letters"].encode([example])[0][:5]
    assert set(letters[5:10]) == {1, 2, 3}


@pytest.mark.parametrize(
    ("span", "left"),
    [(None, "a bc  d"), ((2, 4), "a ￿￿  d"), ((1, 4), "a ￿￿  d"), ((4, 6), "a bc￿￿d"), ((0, 1), "￿ bc  d")],
)
def test_spaces_beside_a_hidden_token_stay(span, left):
    assert hide("a bc  d", span) == left


@pytest.mark.parametrize("name", EVERY)
def test_every_token_has_a_place_in_the_text(readers, name):
    """Spans are as many as ids, and what they cover is what the token shows."""
    model, text = readers[name], READ[name]
    source = model.run.columns["source"]
    example = Pair(1, text, "", "")
    spans, tokens = source.spans(example), model.source_tokens(example)
    assert len(spans) == len(source.encode([example])[0]) == len(tokens)
    for span, token in zip(spans, tokens, strict=True):
        shown = text[slice(*span)].strip() if span is not None else "<end>"
        assert shown == token.strip("▁")


@pytest.mark.parametrize("name", ["classes", "number", "tags", "labels"])
@pytest.mark.parametrize("options", [{}, {"grid": True}, {"at": "encoder.0.self", "head": 1}])
def test_figures_are_drawn(readers, name, options, tmp_path):
    if name == "labels" and "at" in options:
        options = {"at": "head.pool", "head": 1}
    path = readers[name].attention(READ[name]).save(tmp_path / "x.svg", **options)
    assert path.read_text().startswith("<?xml")


@pytest.mark.parametrize("name", EVERY)
def test_a_saved_page_holds_the_answer(readers, name, tmp_path):
    view = readers[name].attention(READ[name])
    page = view.save(tmp_path / "x.html").read_text()
    assert f'"kind": "{view.kind}"' in page and f'"output": "{view.output}"' in page


@pytest.mark.parametrize("name", ["pooled", "tags", "number"])
def test_words_are_merged(readers, name):
    view = readers[name].attention(READ[name])
    merged = view.in_words()
    assert merged.predicted == view.predicted and merged.steps == view.steps
    for address, weights in merged.weights.items():
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
        assert weights.shape[1:] == (len(merged.rows(address)), len(merged.columns(address)))


@pytest.mark.parametrize("name", ["classes", "number", "tags"])
def test_heads_are_weighed(readers, name):
    model = readers[name]
    target = {"classes": "warm", "number": "2", "tags": "S S S"}[name]
    found = weigh_heads(model, [Pair(line, READ[name], target, "") for line in range(1, 4)])
    assert {at: len(changes) for at, changes in found.changes.items()} == addresses_of(model.network)
    view = model.attention(READ[name], edits=[Off(at=found.ranked[0][0], heads=(found.ranked[0][1],))])
    if name == "number":  # of three equal examples the error is that of each
        assert abs(float(view.output) - 2) - found.score == pytest.approx(found.ranked[0][2], abs=1e-2)


def test_without_attention_the_terminal_tells_what_each_token_did(reader_runs):
    done = subprocess.run(
        [sys.executable, "-m", "seq2see", "predict", str(reader_runs["counts"]), "-", "--show-attention"],
        input="red old big\n",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.strip() in ("warm", "cold")
    assert "no attention" in done.stderr and "▁red" in done.stderr and "error" not in done.stderr
