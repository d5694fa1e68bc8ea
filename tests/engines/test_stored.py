"""An export appears whole, is used again, and follows the weights."""

import json
import os
import time
from pathlib import Path

import pytest
from small_runs import sentences, small_run

from seq2see import files
from seq2see.engines import stored
from seq2see.engines.ctranslate2 import CTranslate2
from seq2see.goals.text_model import TextModel


def place(folder: Path) -> Path:
    return folder / "engines" / "ctranslate2"


def texts(model: TextModel, folder: Path) -> list[str]:
    """What the engine says."""
    model.engine = CTranslate2(model, folder)
    return [output[0].text for output in model.decode(sentences(20), beam=1)]


def test_one_export_serves_until_the_weights_change(tmp_path: Path) -> None:
    model, changed = small_run(seed=0), small_run(seed=1)
    first = texts(model, tmp_path)
    [folder] = place(tmp_path).iterdir()
    written = (folder / "model.bin").stat().st_mtime_ns
    assert texts(model, tmp_path) == first
    assert (folder / "model.bin").stat().st_mtime_ns == written
    assert texts(changed, tmp_path) != first
    [renewed] = place(tmp_path).iterdir()
    assert renewed != folder


def test_a_weight_that_moves_a_little_is_noticed() -> None:
    model = small_run()
    before = stored.fingerprint(model)
    assert stored.fingerprint(small_run()) == before
    model.network.decoder.blocks[1].cross.value.bias.data[3] += 1e-6
    assert stored.fingerprint(model) != before


def test_a_damaged_export_is_made_again(tmp_path: Path) -> None:
    model = small_run()
    first = texts(model, tmp_path)
    [folder] = place(tmp_path).iterdir()
    (folder / "model.bin").write_bytes(b"broken")
    assert texts(model, tmp_path) == first


def test_a_vocabulary_in_another_order_is_noticed(tmp_path: Path) -> None:
    """Safety 8: such an export could be loaded, and said other words."""
    model = small_run()
    first = texts(model, tmp_path)
    [vocabulary] = place(tmp_path).glob("*/shared_vocabulary.json")
    names = json.loads(vocabulary.read_text())
    vocabulary.write_text(json.dumps(names[:4] + names[5:] + names[4:5]))
    assert texts(model, tmp_path) == first


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "model.bin").write_bytes(b"half")
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"), stored.exported(small_run(), tmp_path / "place", fail):
        pass
    assert list((tmp_path / "place").iterdir()) == []


def test_drafts_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    place(tmp_path).mkdir(parents=True)
    old, young = place(tmp_path) / ".draft-old", place(tmp_path) / ".draft-young"
    old.mkdir()
    young.mkdir()
    os.utime(old, (time.time() - 2 * files._ABANDONED,) * 2)
    texts(small_run(), tmp_path)
    assert young.exists()
    assert not old.exists()


def test_where_nothing_can_be_written_a_passing_folder_serves(tmp_path: Path) -> None:
    model = small_run()
    (tmp_path / "engines").write_text("a file where the folder should be")
    blocked = texts(model, tmp_path)
    (tmp_path / "free").mkdir()
    assert texts(model, tmp_path / "free") == blocked
