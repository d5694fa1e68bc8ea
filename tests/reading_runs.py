"""Small trained runs of the goals whose models read but do not write, for tests that look inside them."""

from pathlib import Path

import seq2see

__all__ = ["READ", "train_readers"]

_WORDS = ("red", "blue", "green", "old", "new", "big")
READ = {
    "classes": "red old big",
    "pooled": "red old big",
    "labels": "red old big",
    "number": "abcabd",
    "tags": "red old big",
    "cut": "red old big",
    "counts": "red old big",
    "letters": "abcabd",
    "members": "red old big",
    "mixed": "red old big",
}
"""A text for each of them."""
_TINY = ("model.width=16", "model.dropout=0", "training.learning_rate=0.01", "training.warmup=2")
_SYMBOLS = "text.source.kind=symbols"
_CUT = (
    "model.front.kind=tokens",
    "model.encoder.kind=recurrent",
    "model.head.dropout=0",
    "text.source.kind=characters",
)
_KINDS = {
    "classes": ("classes", "classify", "reader-transformer", (_SYMBOLS,)),
    "pooled": ("classes", "classify", "attention-pool", ("text.source.kind=bpe", "text.source.size=300")),
    "members": ("classes", "classify", "attention-pool", (_SYMBOLS, "model.head.members=2")),
    "labels": ("labels", "classify", "attention-pool", (_SYMBOLS, "model.head.several_labels=true")),
    "number": ("number", "regress", "reader-transformer", ("text.source.kind=characters",)),
    "tags": ("tags", "tag", "tagger-transformer", ("model.encoder.layers=1",)),
    "cut": ("tags", "tag", None, _CUT),
    "counts": ("classes", "classify", "counts", ("text.source.kind=words",)),
    "letters": ("number", "regress", "sequence-tiny", ("model.head.counts.least=1",)),
    "mixed": ("classes", "classify", "attention-pool", ("model.head.counts.least=1", "text.source.kind=bpe")),
}
"""Data, goal, preset and settings of each."""


def train_readers(folder: Path) -> dict[str, Path]:
    """Train one of each kind, for a few steps: what they say does not matter, what can be seen of it does."""
    sentences = [
        [_WORDS[(first + place * step) % 6] for place in range(3)] for first in range(6) for step in range(10)
    ]
    lines = {
        "classes": [(" ".join(words), "warm" if "red" in words else "cold") for words in sentences],
        "labels": [
            (" ".join(words), "|".join(sorted(set(words) & {"red", "blue"})) or "-") for words in sentences
        ],
        "number": [
            (text, str(text.count("a") + row % 7 / 10))
            for row, text in enumerate(
                "".join("abcd"[(row * step + step) % 4] for step in range(1, 8)) for row in range(60)
            )
        ],
        "tags": [
            (" ".join(words), " ".join("C" if len(word) > 3 else "S" for word in words))
            for words in sentences
        ],
    }
    for name, rows in lines.items():
        text = "".join(f"{source}\t{target}\n" for source, target in rows)
        (folder / f"{name}.tsv").write_text(text)
    for name, (data, goal, preset, settings) in _KINDS.items():
        seq2see.train(
            folder / f"{data}.tsv",
            goal=goal,
            out=folder / name,
            preset=preset,
            settings=[*_TINY, *settings],
            max_steps=8,
            seed=5,
            device="cpu",
        )
    return {name: folder / name for name in _KINDS}
