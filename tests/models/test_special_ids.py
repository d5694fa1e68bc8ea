"""Special ids belong to the vocabulary: a network whose ids are permuted says the same, permuted."""

import pytest
import torch
from combinations import COMBINATIONS

from seq2see.data.columns.contract import fill
from seq2see.data.sides import Side
from seq2see.decoding import DecodingSettings
from seq2see.decoding.search import search
from seq2see.models import EncoderDecoder, ModelSettings, Vocabulary, make_encoder_decoder
from seq2see.text import STANDARD, Special

SIZE = 13
OTHER = Special(pad=5, begin=9, end=0, unknown=12)
NAMES = ["gru", "additive in heads", "hybrid", "convolution", "pointing transformer", "own past fed", "luong"]
SOURCES = [[4, 6, 7, 2], [8, 2], [10, 11, 4, 4, 9, 2]]


def permutation() -> list[int]:
    """For each id of the usual vocabulary the id in the other one."""
    rest = iter(sorted(set(range(SIZE)) - set(OTHER)))
    moved = dict(zip(STANDARD, OTHER, strict=True))
    return [moved[id_] if id_ in moved else next(rest) for id_ in range(SIZE)]


def twins(name: str) -> tuple[EncoderDecoder, EncoderDecoder]:
    """The same network for both vocabularies."""
    settings = ModelSettings.model_validate({"width": 16} | COMBINATIONS[name])
    to = permutation()
    copies = [id_ if id_ in (*range(4, SIZE), STANDARD.end) else STANDARD.pad for id_ in range(SIZE)]
    moved = [0] * SIZE
    for id_, copied in enumerate(copies):
        moved[to[id_]] = to[copied]
    torch.manual_seed(2)
    usual = make_encoder_decoder(settings, *[Vocabulary(SIZE, STANDARD)] * 2, copies).eval()
    other = make_encoder_decoder(settings, *[Vocabulary(SIZE, OTHER)] * 2, moved).eval()
    weights = usual.state_dict()
    back = torch.tensor(to).argsort()
    other.load_state_dict(
        {key: value[back] if value.shape[:1] == (SIZE,) else value for key, value in weights.items()}
    )
    return usual, other


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beam", [1, 3])
def test_ids_may_be_any(name, beam):
    usual, other = twins(name)
    to = permutation()
    moved = [[to[id_] for id_ in row] for row in SOURCES]
    plan = DecodingSettings(beam=beam, nbest=beam)
    found = []
    for network, rows in ((usual, SOURCES), (other, moved)):
        with torch.inference_mode():
            memory = network.encode({"source": Side(*fill(rows, network.special.pad))})
        found.append(search(network, memory, [7] * 3, plan))
    for one, two in zip(*found, strict=True):
        assert [[to[id_] for id_ in hypothesis.ids] for hypothesis in one] == [list(h.ids) for h in two]
        for first, second in zip(one, two, strict=True):
            assert first.log_probability == pytest.approx(second.log_probability, abs=1e-4)
