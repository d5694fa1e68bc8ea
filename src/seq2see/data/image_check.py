"""What is odd in sets of images: files that cannot be read, images that come twice, and their sizes."""

import hashlib
from collections import Counter
from collections.abc import Sequence

from seq2see.data.check import FileCheck, Targets
from seq2see.data.image_file import ImageFile
from seq2see.data.image_sets import image_name, read_image
from seq2see.data.pairs import Check, Columns, Pair, Problem
from seq2see.data.values import many
from seq2see.errors import DataError

__all__ = ["check_images"]

_KEPT = 1000
"""Problems of one kind that are listed; all are counted."""
_SIZES = 3


def check_images(
    names: Sequence[str], columns: Columns, problem: Check, targets: Targets | None
) -> list[FileCheck]:
    """Look through sets of images; the first is the training data, the others are dev or test data."""
    checks = []
    training: _Images | None = None
    for place, name in enumerate(names):
        file = ImageFile(name, columns, training=not place, check=problem)
        file.looks_at = "name"  # each image is looked at here, and once is enough
        found = _Images(file, training)
        checks.append(found.finish(targets))
        training = training or found
    return checks


class _Images:
    """A set read once, each image by a digest of its pixels."""

    def __init__(self, file: ImageFile, training: "_Images | None") -> None:
        self.name, self.lines = file.name, 0
        self.counts: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.seen: dict[bytes, str] = {}
        self.sizes: Counter[tuple[int, int]] = Counter()
        self.colours: Counter[str] = Counter()
        self.pairs: list[Pair] = []
        last, wrong = "", None
        for item in file:
            self.lines = item.line
            if isinstance(item, Problem):
                self._add(item)
                continue
            if item.source != last:  # several captions of one image follow one another
                wrong = self._look(item, training)
            last = item.source
            if wrong is None:
                self.pairs.append(item._replace(source=""))
            else:
                self._add(wrong._replace(line=item.line))

    def _look(self, example: Pair, training: "_Images | None") -> Problem | None:
        """Take note of an image; gives what is wrong with one that cannot be read."""
        try:
            image, name = read_image(example.source), image_name(example.source)
        except DataError as error:
            return Problem(example.line, "unreadable image", str(error))
        self.sizes[image.size] += 1
        self.colours["grey" if image.mode == "L" else "in colour"] += 1
        digest = hashlib.blake2b(repr((image.mode, image.size)).encode() + image.tobytes(), digest_size=16)
        key = digest.digest()
        if self.seen.setdefault(key, name) != name:
            self._add(Problem(example.line, "duplicate", f"{name} is like {self.seen[key]}", fatal=False))
        if training is not None and key in training.seen:
            detail = f"{name} is like {training.seen[key]} there"
            self._add(Problem(example.line, f"seen in {training.name}", detail, fatal=False))
        return None

    def _add(self, problem: Problem) -> None:
        self.counts[problem.kind] += 1
        if self.counts[problem.kind] <= _KEPT:
            self.problems.append(problem)

    def finish(self, targets: Targets | None) -> FileCheck:
        """All that was found."""
        meant = [targets(self.pairs)] if targets is not None and self.pairs else []
        return FileCheck(
            self.name,
            self.lines,
            len(self.pairs),
            self.problems,
            dict(self.counts),
            None,
            None,
            None,
            {},
            "; ".join([*meant, self._described()]),
        )

    def _described(self) -> str:
        common = [
            f"{count:,} of {width} x {height}" for (width, height), count in self.sizes.most_common(_SIZES)
        ]
        rest = len(self.sizes) - len(common)
        common += [f"{many(rest, 'further size')}"] if rest > 0 else []
        return (
            f"images: {', '.join(common)}; {', '.join(f'{n:,} {what}' for what, n in self.colours.items())}"
        )
