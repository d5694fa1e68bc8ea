"""The two tasks: what is to be learnt by which model, and the text that every tool reads."""

import gzip
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from benchmarks.lab import Lab, peer_script

__all__ = ["LONGEST", "TASKS", "Task", "Text", "prepare", "read_lines", "write_lines"]

LONGEST = 60
"""Tokens of an output at the most, for every tool."""
_WORDS = {"dev": 1000, "test": 2000}
_MERGED = 10_100
"""Types that BPE may make; in the text it then cuts, some 400 of them are left over."""


@dataclass(frozen=True)
class Task:
    """A Transformer with shared embeddings, and the size of its batches: in target tokens or in pairs."""

    name: str
    layers: int
    width: int
    feedforward: int
    batch_tokens: int | None = None
    batch_pairs: int | None = None
    heads: int = 4
    dropout: float = 0.3
    smoothing: float = 0.1


TASKS = {
    "A": Task("A", layers=4, width=128, feedforward=256, batch_tokens=4096),
    "B": Task("B", layers=3, width=256, feedforward=512, batch_pairs=512),
}


@dataclass(frozen=True)
class Text:
    """Line-aligned files of symbols with spaces between: `train.src`, `train.tgt`, `dev.src`, ..."""

    task: Task
    folder: Path
    types: int
    pairs: int
    source_tokens: int
    target_tokens: int

    def file(self, name: str) -> Path:
        """A file of this task."""
        return self.folder / name

    @property
    def batch_pairs(self) -> int:
        """Pairs in a batch, for tools that count pairs."""
        return self.task.batch_pairs or round((self.task.batch_tokens or 0) * self.pairs / self.target_tokens)

    @property
    def flops_per_token(self) -> float:
        """Of training, for one target token: 6 x weights of matrix products x tokens that pass them.

        A source token passes the encoder and the cross-attention's keys and values, a target token the
        rest of the decoder and the output layer. Products of queries and keys are left out.
        """
        task = self.task
        square, forward = task.width**2, 2 * task.width * task.feedforward
        source = task.layers * (4 * square + forward + 2 * square)
        target = task.layers * (6 * square + forward) + self.types * task.width
        return 6 * (target + source * self.source_tokens / self.target_tokens)


def prepare(task: Task, data: Path, lab: Lab) -> Text:
    """The text of a task, made on the first call."""
    folder = lab.folder / task.name
    if not (folder / "types.txt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        parts = _multi30k(data / "multi30k", lab) if task.name == "A" else _cmudict(data / "cmudict")
        for name, pairs in parts.items():
            write_lines(folder / f"{name}.src", [source for source, _ in pairs])
            write_lines(folder / f"{name}.tgt", [target for _, target in pairs])
            write_lines(folder / f"{name}.tsv", ["\t".join(pair) for pair in pairs])
        counts = Counter(symbol for pair in parts["train"] for side in pair for symbol in side.split(" "))
        write_lines(folder / "types.txt", [symbol for symbol, _ in counts.most_common()])
    sources, targets = (read_lines(folder / f"train.{side}") for side in ("src", "tgt"))
    # One end symbol on each side.
    source_tokens, target_tokens = (
        sum(len(line.split(" ")) + 1 for line in side) for side in (sources, targets)
    )
    types = len(read_lines(folder / "types.txt"))
    return Text(task, folder, types, len(sources), source_tokens, target_tokens)


def read_lines(path: Path) -> list[str]:
    """Lines that end in a line feed and in nothing else."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_bytes().decode()
    return text.removesuffix("\n").split("\n")


def write_lines(path: Path, lines: list[str]) -> None:
    """Write lines as `read_lines` reads them."""
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())


def _multi30k(corpus: Path, lab: Lab) -> dict[str, list[tuple[str, str]]]:
    """English and German, cut into the sub-words of one joint BPE."""
    python = lab.environment("transformers") / "python"
    files = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
    words: dict[tuple[str, str], list[str]] = {}
    for part, name in files.items():
        for language in ("en", "de"):
            out = lab.folder / "A" / f"{part}.{language}"
            lab.run([python, peer_script("moses_text.py"), language, corpus / f"{name}.{language}.gz", out])
            words[part, language] = read_lines(out)
    bpe = tokenizers.Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    bpe.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=_MERGED, end_of_word_suffix="</w>", show_progress=False)
    bpe.train_from_iterator(words["train", "en"] + words["train", "de"], trainer)
    cut = {key: [" ".join(found.tokens) for found in bpe.encode_batch(lines)] for key, lines in words.items()}
    pairs = {part: list(zip(cut[part, "en"], cut[part, "de"], strict=True)) for part in files}
    return pairs | {"train": _shuffled(pairs["train"])}


def _cmudict(corpus: Path) -> dict[str, list[tuple[str, str]]]:
    """Letters and phonemes; some words to look at and to test on, each once."""
    parts = {}
    for part in ("train", "dev", "test"):
        rows = [line.split("\t") for line in read_lines(corpus / f"{part}.tsv.gz")]
        pairs = [(" ".join(word), sounds) for word, sounds in rows]
        if part in _WORDS:
            pairs = list(dict(pairs).items())
        parts[part] = _shuffled(pairs)[: _WORDS.get(part)]
    return parts


def _shuffled(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same pairs in a random order, which tools that read in order need."""
    return random.Random(1).sample(pairs, len(pairs))
