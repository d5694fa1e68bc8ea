"""Weights by name, into a file and out again."""

import pytest
import torch
from networks import make_network

from seq2see.errors import RunError
from seq2see.models.weights import load_weights, read_tensors, weights_of, write_tensors


@pytest.mark.parametrize("share", [False, True])
def test_weights_come_back_from_a_file(make_model, tmp_path, share):
    """H: a model loaded from its file says just what the first one says; shared weights are kept once."""
    model = make_model(share_embeddings=share, sizes=(9, 9))
    write_tensors(tmp_path / "model.safetensors", weights_of(model), {"step": "7"})
    tensors, about = read_tensors(tmp_path / "model.safetensors")
    assert about == {"step": "7"}
    assert ("decoder.embed.weight" in tensors) != share
    other = make_network(model.settings, 9, 9).eval()
    source, inputs = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 4, 6]])
    assert not torch.allclose(other.logits(source, inputs), model.logits(source, inputs))
    load_weights(other, tensors, "file")
    assert torch.equal(other.logits(source, inputs), model.logits(source, inputs))
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]


def test_weights_that_do_not_fit(make_model):
    """H: a missing, a surplus and a misshapen weight are each named."""
    model, weights = make_model(), weights_of(make_model())
    name = "encoder.final_norm.weight"
    with pytest.raises(RunError, match=f"lacks the weight {name}"):
        load_weights(model, {key: value for key, value in weights.items() if key != name}, "file")
    with pytest.raises(RunError, match="the recipe does not, the weight extra"):
        load_weights(model, weights | {"extra": torch.zeros(1)}, "file")
    with pytest.raises(RunError, match=rf"{name} is \(3,\) in the file, \(16,\) by the recipe"):
        load_weights(model, weights | {name: torch.zeros(3)}, "file")


def test_files_of_weights_that_cannot_be_read(tmp_path):
    """H: a missing and a damaged file are told apart."""
    with pytest.raises(RunError, match="is missing"):
        read_tensors(tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"not a safetensors file")
    with pytest.raises(RunError, match="is damaged"):
        read_tensors(tmp_path / "bad.safetensors")
