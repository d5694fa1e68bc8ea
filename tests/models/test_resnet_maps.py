"""A residual network gives its last map, or several of them as one."""

import pytest
import torch

from seq2see.data.columns.contract import ImageShape, Vocabulary
from seq2see.errors import SettingsError
from seq2see.lens.pictures import grid_of
from seq2see.models import ModelSettings, make_encoder_decoder
from seq2see.recipe import compose
from seq2see.text import STANDARD

SIZE = (21, 30)
WIDTHS = (4, 6, 10)


def network(maps: int):
    """A network of three stages, whose maps have 11 x 15, 6 x 8 and 3 x 4 places."""
    settings = {
        "width": 8,
        "front": {"kind": "stem", "width": 4, "stride": 2},
        "encoder": {"kind": "resnet", "widths": WIDTHS, "depths": (1, 1, 1), "maps": maps},
        "decoder": {"kind": "recurrent", "attention": "general"},
    }
    shape = ImageShape(3, *SIZE, (0.5,) * 3, (0.2,) * 3)
    source, target = Vocabulary(256, STANDARD, image=shape), Vocabulary(9, STANDARD)
    torch.manual_seed(1)
    return make_encoder_decoder(ModelSettings.model_validate(settings), source, target).eval(), shape


@pytest.mark.parametrize("maps", [1, 2, 3])
def test_a_place_has_the_features_of_all_maps_over_it(maps: int) -> None:
    """B1: place by place, the finest map first; the grid of the lens has as many places."""
    model, shape = network(maps)
    pixels = torch.randint(0, 256, (2, 3, *SIZE), generator=torch.manual_seed(2))
    states, mask = model.front(model.sides(pixels))
    memory = model.encoder(states, mask)
    each = []
    for stage in model.encoder.stages:
        states = stage(states)
        each.append(states)
    finest, grid = each[-maps], grid_of(model, shape)
    assert (grid.rows, grid.columns) == finest.shape[2:] == {1: (3, 4), 2: (6, 8), 3: (11, 15)}[maps]
    assert memory.states.shape == (2, grid.rows * grid.columns, sum(WIDTHS[-maps:]))
    for row in range(grid.rows):
        for column in range(grid.columns):
            above = [one[:, :, row >> level, column >> level] for level, one in enumerate(each[-maps:])]
            found = memory.states[:, row * grid.columns + column]
            torch.testing.assert_close(found, torch.cat(above, 1))
    torch.testing.assert_close(memory.summary, memory.states.mean(1))


def test_no_more_maps_than_stages() -> None:
    """H: the reason, and how many there are."""
    encoder = {"kind": "resnet", "widths": [4, 8], "depths": [1, 1], "maps": 3}
    model = {"front": {"kind": "stem"}, "encoder": encoder, "decoder": {"kind": "recurrent"}}
    with pytest.raises(SettingsError, match="maps = 3, but there are 2 stages"):
        compose([{"data": {"train": "a.tsv"}, "model": model}], "test")
