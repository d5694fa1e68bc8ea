"""The command `seq2see`, with the padding of its training batches counted: COUNTS.json WORDS..."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from seq2see.cli import main
from seq2see.data.batches import Batch, Batches

counts = {"kept": 0, "places": 0}
plain = Batches.__iter__


def counted(batches: Batches) -> Iterator[Batch]:
    """The same batches; the begin symbol is no place of its own."""
    for batch in plain(batches):
        for name, first in (("source", 0), ("target", 1)):
            mask = batch[name].mask
            assert mask is not None
            counts["kept"] += int(mask[:, first:].sum())
            counts["places"] += mask[:, first:].numel()
        yield batch


if __name__ == "__main__":
    out = Path(sys.argv.pop(1))
    Batches.__iter__ = counted  # type: ignore[method-assign]
    try:
        main()
    finally:
        out.write_text(json.dumps(counts))
