"""Edits of attention, on every model of the ladder."""

import pytest
import torch
from combinations import COMBINATIONS

from seq2see.decoding import DecodingSettings
from seq2see.decoding.search import search
from seq2see.errors import SettingsError
from seq2see.layers.attention import MultiHeadAttention
from seq2see.lens.edits import Block, Borrow, Hard, Off, Pin, Temperature, Top, edits_of, parse_edit
from seq2see.lens.teacher_forcing import teacher_force, weights_and_logits
from seq2see.lens.watchers import Editor, addresses_of, check_addresses, check_for_any
from seq2see.text import BEGIN, END

SOURCE = torch.tensor([[4, 5, 6, 7, END], [8, 9, END, 0, 0]])
INPUTS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 7, 8, END]])
LOOKING = [name for name, model in COMBINATIONS.items() if model["decoder"].get("attention") != "none"]
EDITS = {
    "off": Off(at="*"),
    "mean": Off(at="*", how="mean"),
    "uniform": Off(at="*", how="uniform"),
    "first": Off(at="*", how="first"),
    "hard": Hard(at="*"),
    "top": Top(at="*", count=2),
    "temperature": Temperature(at="*", value=0.3),
    "pin": Pin(at="*.cross", step=1, places=(2, 0)),
    "block": Block(at="*.cross", places=(1, 3)),
    "borrow": Borrow(at="*.cross"),
}


def network_of(make_model, name):
    return make_model(**COMBINATIONS[name])


def patterns_of(edit, network, lender=(9, 8, 4, END)):
    """What an edit puts in: the network's own weights, or those with another source."""
    if isinstance(edit, Off) and edit.how == "mean":
        return {0: teacher_force(network, [4, 5, 6, 7, END], [4, 5, END]).weights}
    return {0: teacher_force(network, list(lender), [6, 4, END]).weights} if isinstance(edit, Borrow) else {}


@pytest.mark.parametrize("name", COMBINATIONS)
def test_weights_are_shares_of_what_may_be_seen(make_model, name):
    """D3: rows sum to 1 or see nothing at all; padding and the future get exactly 0."""
    network = network_of(make_model, name)
    found = weights_and_logits(network, SOURCE, INPUTS)[0]
    assert set(found) == set(addresses_of(network))
    for address, weights in found.items():
        assert len(weights[0]) == addresses_of(network)[address]
        sums = weights.sum(-1)
        seeing = sums > 0
        torch.testing.assert_close(sums[seeing], torch.ones_like(sums[seeing]))
        if address.endswith("self") and address.startswith("decoder"):
            assert torch.all(weights.triu(1) == 0)
        else:
            assert seeing.all()
            assert torch.all(weights[1, ..., 3:] == 0)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_recording_changes_nothing(make_model, name):
    """C10, D1: what is said with a recorder equals what is said without, and leaves no trace behind."""
    network = network_of(make_model, name)
    with torch.inference_mode():
        before = network.logits(SOURCE, INPUTS)
        said = teacher_force(network, SOURCE[0].tolist(), [4, 5, 6, END]).log_probabilities
        assert torch.equal(network.logits(SOURCE, INPUTS), before)
    torch.testing.assert_close(said, before[0].log_softmax(-1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", LOOKING)
@pytest.mark.parametrize(
    "edit",
    [
        Temperature(at="*", value=1),
        Top(at="*", count=99),
        Block(at="*", places=(50,)),
        Pin(at="*", step=40, places=(0,)),
    ],
    ids=lambda edit: edit.kind,
)
def test_an_edit_that_changes_nothing_changes_nothing(make_model, name, edit):
    network = network_of(make_model, name)
    with torch.inference_mode():
        plain = network.logits(SOURCE, INPUTS, lambda address, weights, mask: weights)
        assert torch.equal(network.logits(SOURCE, INPUTS, Editor([edit])), plain)


@pytest.mark.parametrize("name", LOOKING)
@pytest.mark.parametrize("kind", EDITS)
def test_searched_and_forced_are_edited_alike(make_model, name, kind):
    """What a beam found under an edit has the log-probability that the edited network gives it as a whole."""
    network, edit = network_of(make_model, name), EDITS[kind]
    source = [4, 5, 6, 7, END]
    patterns = patterns_of(edit, network)
    watch = Editor([edit], patterns, searching=True)
    with torch.inference_mode():
        memory = network.encode_ids(torch.tensor([source]), watch)
    settings = DecodingSettings(beam=3, nbest=3)
    found = search(network, memory, [6], settings, watch=watch)[0]
    assert len(found) == 3
    for one in found:
        said = [*one.ids, END]
        again = sum(teacher_force(network, source, said, Editor([edit], patterns)).of(said))
        assert again == pytest.approx(one.log_probability, abs=2e-4)


@pytest.mark.parametrize("name", LOOKING)
@pytest.mark.parametrize("kind", EDITS)
def test_every_edit_is_seen_in_the_weights_and_the_output(make_model, name, kind):
    network, edit = network_of(make_model, name), EDITS[kind]
    source, said = [4, 5, 6, 7, END], [4, 5, END]
    plain, edited = (
        teacher_force(network, source, said, watch)
        for watch in (None, Editor([edit], patterns_of(edit, network)))
    )
    assert any(not torch.equal(plain.weights[place], edited.weights[place]) for place in plain.weights)
    assert (plain.log_probabilities - edited.log_probabilities).abs().max() > 1e-5
    for address, weights in edited.weights.items():
        sums = weights.sum(-1)
        if kind != "off":
            kept = plain.weights[address].sum(-1) > 0
            torch.testing.assert_close(sums[kept], torch.ones_like(sums[kept]))
    cross = [weights for address, weights in edited.weights.items() if address.endswith("cross")][-1]
    expected = {
        "off": lambda: torch.all(cross == 0),
        "uniform": lambda: torch.allclose(cross, torch.full_like(cross, 1 / 5)),
        "first": lambda: torch.all(cross[..., 0] == 1),
        "hard": lambda: torch.all(cross.amax(-1) == 1),
        "top": lambda: torch.all((cross > 0).sum(-1) == 2),
        "pin": lambda: torch.equal(cross[:, 1], torch.tensor([[0.5, 0, 0.5, 0, 0]]).expand(len(cross), 5)),
        "block": lambda: torch.all(cross[..., [1, 3]] == 0),
        "mean": lambda: torch.allclose(cross, cross[:, :1].expand_as(cross)),
        "borrow": lambda: torch.all(cross[..., 4] == 0),
        "temperature": lambda: True,
    }
    assert expected[kind]()


# A Transformer that points takes where it looked from whoever watches: it has no other way to see nothing.
@pytest.mark.parametrize("name", [name for name in LOOKING if name != "pointing transformer"])
def test_all_heads_off_is_a_model_without_what_they_read(make_model, name):
    """D2: an attention whose heads read nothing adds nothing but the bias of its output layer."""
    network = network_of(make_model, name)
    address = next(place for place in addresses_of(network) if place.endswith("cross"))
    module = next(module for module in network.modules() if getattr(module, "address", None) == address)
    with torch.inference_mode():
        off = network.logits(SOURCE, INPUTS, Editor([Off(at=address)]))

    def nothing(module, given, output):
        if isinstance(module, MultiHeadAttention):
            return module.output.bias.expand_as(output)
        return torch.zeros_like(output[0]), torch.zeros_like(output[1])

    hook = module.register_forward_hook(nothing)
    try:
        with torch.inference_mode():
            without = network.logits(SOURCE, INPUTS, lambda address, weights, mask: weights)
    finally:
        hook.remove()
    torch.testing.assert_close(off, without, rtol=1e-5, atol=1e-5)


def test_an_edit_of_some_heads_leaves_the_others(make_model):
    network = make_model()
    plain, edited = (
        teacher_force(network, [4, 5, 6, END], [4, 5, END], watch)
        for watch in (None, Editor([Off(at="decoder.1.cross", heads=(1,), how="uniform")]))
    )
    for address in plain.weights:
        for head in range(2):
            same = torch.equal(plain.weights[address][head], edited.weights[address][head])
            assert same == ((address, head) != ("decoder.1.cross", 1))


def test_edits_are_applied_in_their_order(make_model):
    network = make_model()
    one = [Block(at="decoder.0.cross", places=(0,)), Off(at="decoder.0.cross", how="uniform")]
    weights = [
        teacher_force(network, [4, 5, 6, END], [4, END], Editor(edits)).weights["decoder.0.cross"]
        for edits in (one, one[::-1])
    ]
    assert torch.allclose(weights[0], torch.tensor(1 / 4))
    assert torch.allclose(weights[1][..., 1:], torch.tensor(1 / 3))


def test_addresses_and_heads_that_are_not_there_are_refused(make_model):
    network = make_model()
    with pytest.raises(SettingsError, match=r"'decoder.7.cross'; did you mean 'decoder.\d.cross'"):
        check_addresses([Hard(at="decoder.7.cross")], network)
    with pytest.raises(SettingsError, match=r"no head 2 .* from 0 to 1"):
        check_addresses([Hard(at="decoder.*", heads=(0, 2))], network)
    check_addresses([Hard(at="decoder.*", heads=(0, 1))], network)


def test_edits_made_for_one_source_are_refused_for_many():
    check_for_any([Off(at="*"), Hard(at="*"), Top(at="*", count=1), Temperature(at="*", value=2)])
    for kind in ("mean", "pin", "block", "borrow"):
        with pytest.raises(SettingsError, match="made for one source"):
            check_for_any([EDITS[kind]])


def test_edits_as_words_and_as_values():
    assert parse_edit("off at=decoder.*.cross heads=0,2 how=uniform") == Off(
        at="decoder.*.cross", heads=(0, 2), how="uniform"
    )
    assert parse_edit("temperature at=* value=0.5") == Temperature(at="*", value=0.5)
    assert edits_of([{"kind": "borrow", "at": "*", "from": "decoder.0.cross"}])[0].origin == "decoder.0.cross"
    with pytest.raises(SettingsError, match=r"kind = 'of'; did you mean 'off'\?"):
        parse_edit("of at=*")
    with pytest.raises(SettingsError, match=r"unknown key .*haeds; did you mean 'heads'\?"):
        parse_edit("hard at=* haeds=1")
    with pytest.raises(SettingsError, match="NAME=VALUE"):
        parse_edit("hard decoder.0.cross")
