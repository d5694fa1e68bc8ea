"""Draw docs/families.svg: what each token may look at in BERT, GPT and an encoder-decoder.

    python -m benchmarks.family_masks

Nothing is drawn by hand: networks of the three kinds are built from settings, and a cell is filled where one
of their attentions, watched on a text, puts any weight.
"""

from pathlib import Path
from typing import Any

import torch
from matplotlib import rc_context
from matplotlib.figure import Figure
from torch import Tensor

from seq2see.data.sides import Side
from seq2see.figures import figure_bytes
from seq2see.lens.watchers import WeightCollector
from seq2see.models import make_decoder_only, make_encoder_decoder, make_reader
from seq2see.models.contracts import Vocabulary
from seq2see.models.heads.filling import FillingHead
from seq2see.models.settings import ModelSettings
from seq2see.text.special import STANDARD

PLACE = Path(__file__).parents[1] / "docs" / "families.svg"
SOURCE, TARGET = ["the", "cat", "sat", "."], ["le", "chat", "assis", "."]
WORDS = Vocabulary(8, STANDARD)
COLOURS = {"self": "#0072B2", "cross": "#D55E00"}


def main() -> None:
    """Look, and draw."""
    panels = [
        ("BERT: an encoder alone\n--goal fill", _seen(_encoder), SOURCE, SOURCE),
        ("GPT: a decoder alone\n--goal complete", _seen(_decoder), SOURCE, SOURCE),
        ("Encoder and decoder\n--goal generate", _seen(_both), SOURCE + TARGET, SOURCE + TARGET),
    ]
    with rc_context({"svg.hashsalt": "seq2see", "font.size": 10}):
        figure = Figure(figsize=(10.5, 4.2), layout="constrained")
        for axes, (title, seen, rows, columns) in zip(
            figure.subplots(1, 3, width_ratios=(1, 1, 1.35)), panels, strict=True
        ):
            for row, column, kind in seen:
                axes.add_patch(_square(row, column, COLOURS[kind]))
            axes.set(title=title, xlim=(0, len(columns)), ylim=(len(rows), 0), aspect="equal")
            axes.set_xticks([place + 0.5 for place in range(len(columns))], columns, rotation=45)
            axes.set_yticks([place + 0.5 for place in range(len(rows))], rows)
            axes.tick_params(length=0)
            axes.set(xlabel="is looked at")
            for place in range(1, len(rows)):
                bold = len(rows) > len(SOURCE) and place == len(SOURCE)
                line: dict[str, Any] = {"color": "#666666" if bold else "#dddddd", "lw": 1.5 if bold else 0.6}
                axes.axhline(place, **line)
                axes.axvline(place, **line)
        figure.axes[0].set_ylabel("looks")
        handles = [_square(0, 0, COLOURS["self"]), _square(0, 0, COLOURS["cross"])]
        names = ["self-attention", "attention on the source"]
        figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
        PLACE.write_bytes(figure_bytes(figure, "svg"))


def _square(row: int, column: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column + 0.08, row + 0.08), 0.84, 0.84, color=colour, lw=0)


def _settings(**parts: Any) -> ModelSettings:
    return ModelSettings.model_validate({"width": 8, **parts})


def _encoder(collector: WeightCollector) -> None:
    settings = _settings(decoder=None, encoder={"heads": 1, "layers": 1})
    network = make_reader(settings, {"source": WORDS}, lambda width: FillingHead(width, WORDS, None))
    network.encode({"source": Side(_ids(4), torch.ones(1, 4, dtype=torch.bool))}, collector)


def _decoder(collector: WeightCollector) -> None:
    settings = _settings(encoder={"kind": "none"}, decoder={"heads": 1, "layers": 1})
    make_decoder_only(settings, WORDS).logits(_ids(4), collector)


def _both(collector: WeightCollector) -> None:
    part = {"heads": 1, "layers": 1}
    make_encoder_decoder(_settings(encoder=part, decoder=part), WORDS, WORDS).logits(
        _ids(4), _ids(4), collector
    )


def _ids(count: int) -> Tensor:
    return torch.arange(4, 4 + count)[None]


@torch.inference_mode()
def _seen(look: Any) -> list[tuple[int, int, str]]:
    """Row, column and kind of attention of each cell that gets any weight; targets come after sources."""
    collector = WeightCollector(None)
    torch.manual_seed(1)
    look(collector)
    weights = collector.weights()
    shift = len(SOURCE) if len(weights) > 1 else 0
    found = []
    for address, (heads,) in weights.items():
        down = shift if address.startswith("decoder") else 0
        across = shift if address.startswith("decoder") and address.endswith("self") else 0
        kind = "cross" if address.endswith("cross") else "self"
        found += [(row + down, column + across, kind) for row, column in (heads[0] > 0).nonzero().tolist()]
    return found


if __name__ == "__main__":
    main()
