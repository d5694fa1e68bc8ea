"""Small models, as a run would hold them."""

import random
from copy import deepcopy
from typing import Any

import torch
from networks import pad

from seq2see.goals.generate import columns_of, network_of
from seq2see.goals.text_model import Source, TextModel
from seq2see.layers.losses import cross_entropy
from seq2see.models import EncoderDecoder
from seq2see.recipe import Recipe
from seq2see.run import DataFacts, Run
from seq2see.text import BEGIN, PAD, Codec, TextSettings, TokenizerSettings

LETTERS = [chr(0x4E00 + place) for place in range(20)]
_TRAINED: dict[str, EncoderDecoder] = {}
TAGS = ("V;PST", "N;PL", "")


def small_run(
    encoder: dict[str, Any] | None = None,
    decoder: dict[str, Any] | None = None,
    *,
    features: bool = False,
    seed: int = 0,
    **settings: Any,
) -> TextModel:
    """A model over twenty symbols, trained for a moment; the decoder is like the encoder unless told."""
    part = {"layers": 2, "heads": 2, "feedforward": 24, "positions": "sinusoidal"}
    values = {"width": 16, "max_length": 40, "encoder": part | (encoder or {})}
    values |= {"decoder": part | (decoder or encoder or {}), **settings}
    symbols = TokenizerSettings(kind="symbols")
    text = TextSettings(source=symbols, target=symbols, shared=bool(settings.get("share_embeddings")))
    codec = Codec.learn([" ".join(LETTERS)], [" ".join(LETTERS)], TAGS if features else None, text)
    recipe = Recipe.model_validate(
        {"model": values, "text": text.model_dump(), "data": {"train": "-", "max_length": 40}}
    )
    key = repr((recipe.model, features, seed))
    if key not in _TRAINED:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            _TRAINED[key] = _train(network_of(recipe, codec), codec, features)
    network = deepcopy(_TRAINED[key])
    facts = DataFacts("", 1, 1, length_ratio=0.5, longest_source=12, longest_target=9)
    return TextModel(Run(recipe, columns_of(codec), network, facts))


def _train(network: EncoderDecoder, codec: Codec, features: bool) -> EncoderDecoder:
    """A few steps, so that outputs end, differ, and hold no symbol that is never to be written."""
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for step in range(60):
        texts = sentences(32, features, seed=step)
        source = pad(codec.encode_sources([one.text for one in texts], [one.features for one in texts]))
        target = pad(codec.encode_targets([one.text[: len(one.text) // 2] for one in texts]), before=BEGIN)
        optimiser.zero_grad()
        cross_entropy(network.logits(source, target[:, :-1]), target[:, 1:], PAD).backward()
        optimiser.step()
    # Biases, gains and the padding's embedding get values too, so that each of them matters.
    for parameter in network.parameters():
        parameter.data += torch.randn_like(parameter) * 0.25
    return network


def sentences(count: int = 60, features: bool = False, seed: int = -1) -> list[Source]:
    """Sources of several lengths."""
    draw = random.Random(seed)
    return [
        Source(" ".join(draw.choices(LETTERS, k=draw.randint(1, 12))), draw.choice(TAGS) if features else "")
        for _ in range(count)
    ]
