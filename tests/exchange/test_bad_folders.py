"""Folders that are damaged, or lie: a sentence, nothing executed, nothing left behind, little memory."""

import json
import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import foreign
import pytest
import torch
from foreign import Foreign
from safetensors.torch import load_file, save_file

import seq2see
from seq2see.errors import Seq2seeError
from seq2see.exchange.importing import import_model


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """A folder in order."""
    return foreign.gpt2(tmp_path_factory.mktemp("made") / "gpt2")


@pytest.fixture
def folder(theirs: Foreign, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    copy = tmp_path / "theirs"
    copy.mkdir()
    for file in theirs.folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


def configured(folder: Path, **values: Any) -> None:
    """Change what the configuration says."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def sharded(folder: Path, parts: int = 2) -> list[Path]:
    """Spread the weights over several files."""
    whole = folder / "model.safetensors"
    tensors = load_file(whole)
    whole.unlink()
    names = sorted(tensors)
    files, listed = [], {}
    for number in range(parts):
        files.append(folder / f"model-{number + 1:05}-of-{parts:05}.safetensors")
        mine = names[number::parts]
        save_file({name: tensors[name] for name in mine}, files[-1])
        listed |= dict.fromkeys(mine, files[-1].name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": listed}))
    return files


def refused(folder: Path, tmp_path: Path, reason: str, **options: Any) -> None:
    """Refused with this reason, and no run is left behind."""
    with pytest.raises(Seq2seeError, match=reason):
        import_model(folder, tmp_path / "run", tell=lambda note: None, **options)
    assert not (tmp_path / "run").exists()
    assert not list(tmp_path.glob(".draft-*"))


def test_shards_and_one_file_are_the_same(folder: Path, theirs: Foreign, tmp_path: Path) -> None:
    """E5: weights may lie in shards, named with a prefix or without."""
    import_model(theirs.folder, tmp_path / "whole", tell=lambda note: None)
    path = folder / "model.safetensors"
    bare = {name.removeprefix("transformer."): tensor for name, tensor in load_file(path).items()}
    bare["h.0.attn.bias"] = torch.ones(1, 1, 48, 48)  # the mask, which old files hold
    save_file(bare, path)
    sharded(folder)
    import_model(folder, tmp_path / "shards", tell=lambda note: None)
    whole, parts = (tmp_path / name / "model.safetensors" for name in ("whole", "shards"))
    assert whole.read_bytes() == parts.read_bytes()


def test_old_names_and_half_precision(tmp_path: Path) -> None:
    """E5: BERT's first names of norms, without its prefix, in 16 bits, the tied layer there once more."""
    folder = foreign.bert(tmp_path / "theirs").folder
    path = folder / "model.safetensors"
    tensors = {name: tensor.bfloat16() for name, tensor in load_file(path).items()}
    save_file(tensors, path)
    import_model(folder, tmp_path / "new", tell=lambda note: None)
    old = {
        name.removeprefix("bert.")
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in tensors.items()
    }
    old["cls.predictions.decoder.weight"] = old["embeddings.word_embeddings.weight"].clone()
    save_file(old, path)
    import_model(folder, tmp_path / "old", tell=lambda note: None)
    first, second = (tmp_path / name / "model.safetensors" for name in ("new", "old"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_truncated_shards(folder: Path, tmp_path: Path, share: float) -> None:
    """E5: a file that ends too soon, wherever."""
    path = sharded(folder)[1]
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    refused(folder, tmp_path, rf"{path.name} is damaged or not complete")


def _missing_shard(folder: Path) -> None:
    sharded(folder)[0].unlink()


def _shard_elsewhere(folder: Path) -> None:
    sharded(folder)
    index = folder / "model.safetensors.index.json"
    index.write_text(index.read_text().replace("model-00001-of", "../../model-00001-of"))


def _huge_header(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 10_000_000_000) + b"{}")


def _huge_tensor(folder: Path) -> None:
    header = {
        "transformer.wte.weight": {"dtype": "F32", "shape": [2**16, 40_000], "data_offsets": [0, 2**33]}
    }
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 64)


def _overlapping(folder: Path) -> None:
    header = {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 8]}}
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 8)


def _deep_header(folder: Path) -> None:
    text = b'{"a":' * 100_000
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)


def _no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def _no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def _larger_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    parts = json.loads(path.read_text())
    parts["model"]["vocab"]["zz"] = len(parts["model"]["vocab"]) + 5
    path.write_text(json.dumps(parts))


def _broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": 3}}')


def _strange_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("[" * 100_000)


def _another_weight(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file({**load_file(path), "transformer.h.0.attn.q_norm.weight": torch.ones(4)}, path)


def _not_finite(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["transformer.wpe.weight"][0, 0] = float("nan")
    save_file(tensors, path)


def _lacking(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["transformer.h.1.ln_2.bias"]
    save_file(tensors, path)


SPOILT: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing shard": (_missing_shard, "is missing: model.safetensors.index.json says"),
    "shard elsewhere": (_shard_elsewhere, "is not a file of its own folder"),
    "huge header": (_huge_header, "claims a header of 10,000,000,000 bytes"),
    "huge tensor": (_huge_tensor, "is damaged or not complete"),
    "overlapping": (_overlapping, "claims .* in 8 bytes"),
    "deep header": (_deep_header, "its header is not that of safetensors"),
    "no weights": (_no_weights, "has no weights"),
    "no tokenizer": (_no_tokenizer, "has no tokenizer"),
    "larger tokenizer": (_larger_tokenizer, "it belongs to another model"),
    "broken tokenizer": (_broken_tokenizer, "tokenizer of .* cannot be used"),
    "strange tokenizer": (_strange_tokenizer, "is not JSON"),
    "another weight": (_another_weight, "q_norm.weight', of a part that our model"),
    "not finite": (_not_finite, "values that are no numbers"),
    "lacking a weight": (_lacking, "the weight transformer.h.1.ln_2.bias is missing"),
    "no config": (lambda folder: (folder / "config.json").unlink(), "has no config.json"),
    "config not JSON": (lambda folder: (folder / "config.json").write_text("{"), "is not JSON"),
    "config a list": (lambda folder: (folder / "config.json").write_text("[1]"), "a JSON object is needed"),
    "architecture": (lambda folder: configured(folder, model_type="t5"), "models of the type 't5' cannot"),
    "strange architecture": (lambda folder: configured(folder, model_type=["gpt2"]), "cannot be brought in"),
    "no architecture": (lambda folder: configured(folder, model_type=None), "models of the type None cannot"),
    "wider": (lambda folder: configured(folder, n_embd=32), r"by the configuration \("),
    "much wider": (lambda folder: configured(folder, n_embd=65536, n_inner=60000), "by the configuration"),
    "more layers": (lambda folder: configured(folder, n_layer=3), "transformer.h.2.* is missing"),
    "fewer layers": (lambda folder: configured(folder, n_layer=1), "of a part that our model"),
    "too many layers": (lambda folder: configured(folder, n_layer=10**8), "layers"),
    "places": (lambda folder: configured(folder, n_positions=1000), "by the configuration"),
    "no number": (lambda folder: configured(folder, n_head="four"), "n_head = 'four' cannot be taken"),
    "heads": (lambda folder: configured(folder, n_head=5), "cannot be split among 5 heads"),
    "activation": (lambda folder: configured(folder, activation_function="mish"), "our parts have gelu"),
    "scaling": (lambda folder: configured(folder, scale_attn_by_inverse_layer_idx=True), "scaled alike"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_what_cannot_be_is_refused(name: str, folder: Path, tmp_path: Path) -> None:
    """E5: each with its reason, and nothing is left behind."""
    spoil, reason = SPOILT[name]
    spoil(folder)
    refused(folder, tmp_path, reason)


class _Program:
    """What a pickle runs where it is read carelessly."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


def test_pickles_are_read_only_if_asked_and_never_run(folder: Path, theirs: Foreign, tmp_path: Path) -> None:
    """E5: refused by default; when allowed, numbers are read and programs are not run."""
    path = folder / "model.safetensors"
    torch.save(load_file(path), folder / "pytorch_model.bin")
    path.unlink()
    refused(folder, tmp_path, "a pickle, which can hold programs")
    import_model(folder, tmp_path / "run", allow_pickle=True, tell=lambda note: None)
    import_model(theirs.folder, tmp_path / "same", tell=lambda note: None)
    first, second = (tmp_path / name / "model.safetensors" for name in ("run", "same"))
    assert first.read_bytes() == second.read_bytes()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": _Program(tmp_path / "ran")}))
    with pytest.raises(Seq2seeError, match="is not a file of weights alone"):
        import_model(folder, tmp_path / "other", allow_pickle=True, tell=lambda note: None)
    assert not (tmp_path / "ran").exists()


def test_a_place_that_is_used_is_kept(folder: Path, tmp_path: Path) -> None:
    """E5: what stands in a folder already stays there."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("kept")
    with pytest.raises(Seq2seeError, match="is not empty"):
        import_model(folder, tmp_path / "run", tell=lambda note: None)
    assert (tmp_path / "run" / "mine").read_text() == "kept"


def test_claims_cost_no_memory(folder: Path, tmp_path: Path) -> None:
    """E5: a header of 10 GB and a model of 100 layers, 65536 wide, need no more memory than a good folder."""
    configured(folder, n_embd=65536, n_layer=100, n_inner=65536, n_positions=1_000_000)
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from seq2see.exchange.importing import import_model\n"
        "import torch, seq2see.goals\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: import_model(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "except Exception as error: print(type(error).__name__)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    command = [sys.executable, "-c", code, str(folder), str(tmp_path / "run")]
    kind, more = subprocess.check_output(command, text=True).split()
    assert kind == "DataError"
    assert int(more) / (1024 if sys.platform == "darwin" else 1) < 200_000


LLAMA: dict[str, tuple[dict[str, Any], str]] = {
    "scaled positions": ({"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}, "turn by one base"),
    "old scaled positions": ({"rope_scaling": {"type": "linear"}}, "turn by one base"),
    "wide heads": ({"head_dim": 8}, "split the width 16 evenly"),
    "windows": ({"sliding_window": 4096}, "looks at everything before"),
    "activation": ({"hidden_act": "gelu"}, "swiglu"),
}


@pytest.mark.parametrize("name", LLAMA)
def test_llamas_that_are_not_ours(name: str, tmp_path: Path) -> None:
    """E5: the part that differs is named."""
    values, reason = LLAMA[name]
    folder = foreign.llama(tmp_path / "theirs").folder
    configured(folder, **values)
    refused(folder, tmp_path, reason)


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    """E5: rows without a token, a pooler, a head that is not there."""
    notes: list[str] = []
    import_model(foreign.llama(tmp_path / "llama").folder, tmp_path / "a", tell=notes.append)
    assert any("rows of model.embed_tokens.weight belong to no token" in note for note in notes)
    import_model(foreign.bert(tmp_path / "bert", headed=False).folder, tmp_path / "b", tell=notes.append)
    said = " ".join(notes)
    assert "pooler" in said and "token type 0" in said and "until it is trained" in said
    assert seq2see.load(tmp_path / "b", "cpu").recipe.goal == "fill"
