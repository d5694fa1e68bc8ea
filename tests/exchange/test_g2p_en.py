"""The checkpoint of g2p-en as a run: the same phonemes as the package's own formulas give."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import seq2see
from seq2see.errors import DataError, SettingsError
from seq2see.exchange.g2p_en import CHECKPOINT, LETTERS, PHONEMES
from seq2see.exchange.importing import import_model
from seq2see.models.settings import ModelSettings
from seq2see.settings import build

WIDTH = 12
WORDS = ["word", "a", "unseen", "quixotry", "Hello", "it's"]


def arrays(seed: int = 0) -> dict[str, np.ndarray]:
    """A random checkpoint."""
    draw = np.random.default_rng(seed)
    sizes: dict[str, tuple[int, ...]] = {"enc_emb": (len(LETTERS), WIDTH), "dec_emb": (len(PHONEMES), WIDTH)}
    for side in ("enc", "dec"):
        sizes |= {f"{side}_w_ih": (3 * WIDTH, WIDTH), f"{side}_w_hh": (3 * WIDTH, WIDTH)}
        sizes |= {f"{side}_b_ih": (3 * WIDTH,), f"{side}_b_hh": (3 * WIDTH,)}
    sizes |= {"fc_w": (len(PHONEMES), WIDTH), "fc_b": (len(PHONEMES),)}
    found = {name: draw.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    found["fc_b"][:3] = -99  # symbols that are never written
    return found


def spoken(given: dict[str, np.ndarray], word: str) -> str:
    """What a GRU without attention says, step by step."""

    def step(side: str, inputs: np.ndarray, state: np.ndarray) -> np.ndarray:
        read = given[f"{side}_w_ih"] @ inputs + given[f"{side}_b_ih"]
        kept = given[f"{side}_w_hh"] @ state + given[f"{side}_b_hh"]
        reset, update = (1 / (1 + np.exp(-(read + kept)[: 2 * WIDTH]))).reshape(2, WIDTH)
        new = np.tanh(read[2 * WIDTH :] + reset * kept[2 * WIDTH :])
        return (1 - update) * new + update * state

    state = np.zeros(WIDTH, np.float32)
    for letter in [*word, "</s>"]:
        row = LETTERS.index(letter) if letter in LETTERS else LETTERS.index("<unk>")
        state = step("enc", given["enc_emb"][row], state)
    said, last = [], PHONEMES.index("<s>")
    for _ in range(20):
        state = step("dec", given["dec_emb"][last], state)
        last = int((given["fc_w"] @ state + given["fc_b"]).argmax())
        if PHONEMES[last] == "</s>":
            break
        said.append(PHONEMES[last])
    return " ".join(said)


def test_the_same_phonemes(tmp_path: Path) -> None:
    """E5: every word, those that reach the limit too."""
    given = arrays()
    np.savez(tmp_path / CHECKPOINT, **given)
    for number, path in enumerate((tmp_path, tmp_path / CHECKPOINT)):
        import_model(path, tmp_path / f"run{number}")
        model = seq2see.load(tmp_path / f"run{number}", "cpu")
        assert model(WORDS) == [spoken(given, word) for word in WORDS]


def test_bad_checkpoints_are_refused(tmp_path: Path) -> None:
    """E5: cut short, of other shapes, of objects, or with a claim of 10 GB."""
    path = tmp_path / "some.npz"
    np.savez(path, **arrays())
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="is damaged"):
        import_model(path, tmp_path / "run")
    np.savez(path, **(arrays() | {"dec_emb": np.zeros((3, WIDTH), np.float32)}))
    with pytest.raises(DataError, match="dec_emb is not of the shape"):
        import_model(path, tmp_path / "run")
    np.savez(path, enc_w_hh=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="is not an array of 32 bits"):
        import_model(path, tmp_path / "run")
    content = io.BytesIO()
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (50000, 50000), }\n"
    content.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("enc_w_hh.npy", content.getvalue())
    with pytest.raises(DataError, match="is not an array of 32 bits"):
        import_model(path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_bridge_of_nothing_needs_equal_widths() -> None:
    """C1: the first state is the summary itself, so both have the same features."""
    encoder = {"kind": "recurrent", "cell": "gru"}
    decoder = encoder | {"attention": "none", "bridge": "none", "hidden": 8}
    with pytest.raises(
        SettingsError, match=r"decoder\.bridge = 'none' starts from the encoder's 16 features"
    ):
        build(ModelSettings, {"width": 16, "encoder": encoder, "decoder": decoder}, "recipe")
