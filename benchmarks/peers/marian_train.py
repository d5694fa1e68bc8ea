"""Training of a Marian model by Hugging Face's Seq2SeqTrainer, every update noted: SETTINGS.json."""

import json
import sys
from collections import deque
from pathlib import Path
from typing import Any

import torch
from marian import END, PAD, SPECIAL, UNKNOWN, new_model, read_tokens
from transformers import MarianMTModel, Seq2SeqTrainer, Seq2SeqTrainingArguments, TrainerCallback
from updates import Updates

IGNORED = -100


class Collator:
    """Pads the sides of a batch and counts its places."""

    def __init__(self, model: MarianMTModel) -> None:
        self._model = model
        # Batches are made ahead of the updates that use them.
        self.counts: deque[tuple[int, int, int]] = deque()

    def __call__(self, pairs: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        source = _padded([pair["input_ids"] for pair in pairs], PAD)
        labels = _padded([pair["labels"] for pair in pairs], IGNORED)
        tokens = int((labels != IGNORED).sum())
        kept = tokens + int((source != PAD).sum())
        self.counts.append((tokens, kept, source.numel() + labels.numel()))
        return {
            "input_ids": source,
            "attention_mask": (source != PAD).long(),
            "labels": labels,
            "decoder_input_ids": self._model.prepare_decoder_input_ids_from_labels(labels),
        }


class Noting(TrainerCallback):  # type: ignore[misc]  # transformers is not installed where types are checked
    """Notes every update with the counts of its batch."""

    def __init__(self, updates: Updates, collator: Collator) -> None:
        self._updates, self._collator = updates, collator

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """An update has ended."""
        self._updates.note(*self._collator.counts.popleft())


def main() -> None:
    """Train and write the record."""
    settings = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(settings["folder"])
    symbols = [*SPECIAL, *(tokens[0] for tokens in read_tokens(Path(settings["types"])))]
    ids = {symbol: place for place, symbol in enumerate(symbols)}
    sides = (
        [[ids.get(symbol, UNKNOWN) for symbol in line] + [END] for line in read_tokens(Path(settings[side]))]
        for side in ("source", "target")
    )
    pairs = [{"input_ids": one, "labels": other} for one, other in zip(*sides, strict=True)]
    torch.manual_seed(1)
    model = new_model(len(symbols), **settings["model"])
    arguments = Seq2SeqTrainingArguments(
        str(folder / "trainer"),
        per_device_train_batch_size=settings["pairs"],
        max_steps=settings["steps"],
        train_sampling_strategy="group_by_length",
        learning_rate=settings["rate"],
        warmup_steps=50,
        lr_scheduler_type="inverse_sqrt",
        label_smoothing_factor=settings["smoothing"],
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    collator, updates = Collator(model), Updates(folder / "speed.json")
    Seq2SeqTrainer(
        model=model,
        args=arguments,
        train_dataset=pairs,
        data_collator=collator,
        callbacks=[Noting(updates, collator)],
    ).train()
    updates.write()


def _padded(rows: list[list[int]], filler: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])


if __name__ == "__main__":
    main()
