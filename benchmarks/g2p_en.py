"""The model of g2p-en, brought in, beside that package's own code: the same phonemes, counted, and how fast.

The package (Apache-2.0) is not part of the project: `pip download --no-deps g2p-en`, unpack the wheel, and
name its folder `g2p_en`. Only the network is compared: what the package looks up in a dictionary is left out,
so what it imports for that is replaced by stand-ins. The words are the first column of any file, in any case.

With `--run`, a run of ours that was trained on other words reads the same ones, with its own beam and
greedily; words that stand in its training file are refused. g2p-en was trained on CMUdict itself, so it may
have seen them. Error rates are against the second column, without stress, any of several pronunciations
being right. Run it as
`python -m benchmarks.g2p_en --package FOLDER --words FILE [--run RUN]`; RUN is made by
`seq2see train cmudict/train.tsv.gz --dev cmudict/dev.tsv.gz --out RUN`.
"""

import argparse
import gzip
import importlib
import re
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import seq2see
from seq2see.exchange.importing import import_model


def words_of(path: Path, count: int | None = None) -> dict[str, set[str]]:
    """Words as the file spells them, each with its pronunciations; so many of them, evenly chosen."""
    read = gzip.open if path.suffix == ".gz" else open
    found: dict[str, set[str]] = {}
    with read(path, "rt", encoding="utf-8") as file:
        for line in file:
            word, _, said = line.rstrip("\n").partition("\t")
            if re.fullmatch("[a-z]+", word.lower()):
                found.setdefault(word, set()).add(_plain(said))
    step = max(1, len(found) // count) if count else 1
    return dict(list(found.items())[::step][:count])


def package_model(folder: Path) -> Any:
    """The package's own network, without the dictionary and the tagger around it."""
    for name in ("nltk", "nltk.corpus", "nltk.tokenize", "inflect"):
        stand_in: ModuleType = MagicMock(name=name)
        sys.modules[name] = stand_in
    sys.path.insert(0, str(folder.parent))
    return importlib.import_module(f"{folder.name}.g2p").G2p()


def _plain(phonemes: str) -> str:
    return re.sub(r"\d", "", phonemes)


def main() -> None:
    """Compare, and print figures; the exit code is 1 if a word is said otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, required=True)
    parser.add_argument("--words", type=Path, required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--run", type=Path)
    given = parser.parse_args()
    words = words_of(given.words, given.count)
    small = [word.lower() for word in words]
    theirs = package_model(given.package)
    began = time.perf_counter()
    expected = [" ".join(theirs.predict(word)) for word in small]
    their_seconds = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        import_model(given.package, Path(folder) / "run")
        ours = seq2see.load(Path(folder) / "run", "cpu")
    ours(small[:20])
    began = time.perf_counter()
    found = ours(small)
    our_seconds = time.perf_counter() - began
    same = sum(a == b for a, b in zip(found, expected, strict=True))
    print(f"the same phonemes: {same:,} of {len(words):,} words")
    for word, a, b in zip(words, found, expected, strict=True):
        if a != b:
            print(f"  {word}: {a} | {b}")
    print(f"words/s: the package's own code {len(words) / their_seconds:,.0f}", end="")
    print(f", brought in {len(words) / our_seconds:,.0f}")
    answers = {"g2p-en": expected, "brought in": found}
    if given.run is not None:
        other = seq2see.load(given.run, "cpu")
        if seen := words.keys() & words_of(Path(other.recipe.data.train)).keys():
            sys.exit(f"{len(seen):,} of the words stand in the training file of {given.run}, as {min(seen)}")
        for beam in (other.recipe.decoding.beam, 1):
            name = f"{given.run}, beam {beam}"
            began = time.perf_counter()
            answers[name] = other(list(words), beam=beam)
            print(f"words/s of {name}: {len(words) / (time.perf_counter() - began):,.0f}")
    for name, said in answers.items():
        wrong = sum(_plain(one) not in right for one, right in zip(said, words.values(), strict=True))
        print(f"word error rate of {name}: {100 * wrong / len(words):.1f} %")
    if same < len(words):
        sys.exit(1)


if __name__ == "__main__":
    main()
