"""Small runs to look into."""

from pathlib import Path

import seq2see

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
SMALL = ("model.width=16", "model.dropout=0", "training.batch_pairs=8", "training.learning_rate=0.02")
TARGET = ("text.target.kind=bpe", "text.target.size=270")
TWO_LAYERS = ("model.encoder.layers=1", "model.decoder.layers=2")


def train_small(place: Path) -> dict[str, Path]:
    """Runs that spell short words in reverse, more or less, and one that copies sentences."""
    (place / "words.tsv").write_text("".join(f"{word}\t{' '.join(word[::-1])}\n" for word in WORDS))
    pairs = [f"{one} {other}" for one, other in zip(WORDS, WORDS[7:] + WORDS[:7], strict=True)]
    (place / "pairs.tsv").write_text("".join(f"{pair}\t{pair}\n" for pair in pairs))
    kinds = {
        "transformer": ("words", "transformer-tiny", TWO_LAYERS),
        "recurrent": ("words", "luong", ("model.decoder.self_attention=dot", "model.decoder.heads=2")),
        "bottleneck": ("words", "rnn", ()),
        "sentences": (
            "pairs",
            "transformer-tiny",
            (*TWO_LAYERS, "text.source.kind=bpe", "text.source.size=270", *TARGET),
        ),
    }
    for name, (data, preset, settings) in kinds.items():
        seq2see.train(
            place / f"{data}.tsv",
            out=str(place / name),
            preset=preset,
            settings=(*SMALL, "training.evaluate_every=60", *settings),
            max_steps=120,
            seed=5,
        )
    return {name: place / name for name in kinds}
