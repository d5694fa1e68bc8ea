"""Examples that were parsed once come back as they were, as often as they are asked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import Pair, PairFile
from seq2see.data import spool as spool_module
from seq2see.data import survey as survey_module
from seq2see.data.spool import Spool
from seq2see.errors import DataError
from seq2see.workflow import Request, train

PAIRS = st.builds(
    Pair, st.integers(1, 10**9), st.text(), st.text(), st.text(), st.lists(st.text()).map(tuple)
)


@given(st.lists(PAIRS, max_size=30), st.sampled_from([1, 7, 1 << 20]))
def test_a_spool_gives_back_what_it_took(pairs: list[Pair], block: int) -> None:
    kept, spool = spool_module._BLOCK, Spool()
    spool_module._BLOCK = block
    try:
        for pair in pairs:
            spool.append(pair)
        assert len(spool) == len(pairs)
        assert list(spool) == pairs
        assert list(spool) == pairs
    finally:
        spool_module._BLOCK = kept


def test_readers_do_not_disturb_each_other() -> None:
    spool = Spool()
    pairs = [Pair(line, f"source {line}", "target", "") for line in range(50)]
    for pair in pairs:
        spool.append(pair)
    assert list(zip(spool, spool, strict=True)) == list(zip(pairs, pairs, strict=True))


def test_training_parses_its_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the first lines guesses the goal; then the whole file is parsed once, and never again."""
    counted: list[int] = []
    read = PairFile.__iter__

    def counting(self: PairFile) -> Iterator[Any]:
        counted.append(0)
        for item in read(self):
            counted[-1] += 1
            yield item

    monkeypatch.setattr(PairFile, "__iter__", counting)
    monkeypatch.setattr(survey_module, "_PEEK", 50)
    lines = [f"word{row} more\t{'good' if row % 3 else 'bad'}\n" for row in range(200)]
    (tmp_path / "a.tsv").write_text("".join(lines))
    settings = ("training.dev_examples=20", "training.batch_pairs=8", "model.head.counts.least=1")
    train(
        Request(
            str(tmp_path / "a.tsv"),
            out=str(tmp_path / "run"),
            preset="counts",
            max_steps=2,
            settings=settings,
        ),
        tell=lambda _: None,
    )
    assert counted == [50, 200]


def test_a_full_disk_is_a_sentence() -> None:
    """What could not be written is told, and not tried again when the spool goes."""
    spool = Spool()
    spool._file = Path("/dev/full").open("wb")  # noqa: SIM115
    spool.append(Pair(1, "a", "b", ""))
    with pytest.raises(DataError, match=r"No space left on device; set TMPDIR"):
        list(spool)
    spool_module._close(spool._file)
