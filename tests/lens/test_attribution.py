"""What source tokens did for output tokens."""

import pytest
import torch
from combinations import COMBINATIONS

from seq2see.lens.attribution import gradient_times_input, occlusion
from seq2see.lens.teacher_forcing import teacher_force
from seq2see.text import BEGIN, END, UNKNOWN

SOURCE, SAID = [4, 5, 6, 7, END], [4, 5, END]


@pytest.mark.parametrize("name", ["dot", "luong", "gru", "location"])
@pytest.mark.parametrize("attribute", [gradient_times_input, occlusion])
def test_every_model_has_attributions(make_model, name, attribute):
    network = make_model(**COMBINATIONS[name])
    found = attribute(network, SOURCE, SAID)
    assert found.shape == (3, 5)
    assert torch.isfinite(found).all()
    assert found.abs().max() > 0


@pytest.mark.parametrize("shared", [False, True])
def test_the_gradient_is_that_of_the_source_embedding(make_model, shared):
    """By small steps along each embedding, and not along those of the target where both are one."""
    sizes = {"sizes": (11, 11), "share_embeddings": True} if shared else {}
    network = make_model("sinusoidal", **sizes)
    found = gradient_times_input(network, SOURCE, SAID)
    source, inputs = torch.tensor([SOURCE]), torch.tensor([[BEGIN, *SAID[:-1]]])

    def chances(place, factor):
        calls = []

        def stretch(module, given, embedded):
            calls.append(1)
            if len(calls) > 1:
                return None
            moved = embedded.clone()
            moved[:, place] *= factor
            return moved

        hook = network.front.embed.register_forward_hook(stretch)
        try:
            with torch.no_grad():
                logits = network.double().logits(source, inputs)
        finally:
            hook.remove()
            network.float()
        return logits[0].log_softmax(-1).gather(1, torch.tensor(SAID)[:, None])[:, 0]

    for place in range(len(SOURCE)):
        slope = (chances(place, 1 + 1e-4) - chances(place, 1 - 1e-4)) / 2e-4
        torch.testing.assert_close(found[:, place], slope.float(), rtol=1e-3, atol=1e-3)


def test_occlusion_is_what_is_lost_without_a_token(make_model):
    network = make_model()
    found = occlusion(network, SOURCE, SAID)
    without = [4, UNKNOWN, 6, 7, END]
    lost = [
        before - after
        for before, after in zip(
            teacher_force(network, SOURCE, SAID).of(SAID),
            teacher_force(network, without, SAID).of(SAID),
            strict=True,
        )
    ]
    assert found[:, 1].tolist() == pytest.approx(lost, abs=1e-4)


def test_long_sources_go_in_parts(make_model, monkeypatch):
    network = make_model()
    whole = [attribute(network, SOURCE, SAID) for attribute in (gradient_times_input, occlusion)]
    monkeypatch.setattr("seq2see.lens.attribution._TOGETHER", 16)
    parts = [attribute(network, SOURCE, SAID) for attribute in (gradient_times_input, occlusion)]
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
