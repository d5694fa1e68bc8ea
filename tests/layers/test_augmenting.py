"""Random changes of images: seeded, within bounds, and different for each image."""

import torch

from seq2see.layers.augmenting import crop, cut_out, flip, shift

_IMAGES = torch.arange(1.0, 1 + 6 * 2 * 8 * 10).view(6, 2, 8, 10)


def test_a_seed_decides() -> None:
    for change in (flip, lambda x: shift(x, 2), lambda x: crop(x, 0.3), lambda x: cut_out(x, 3)):
        found = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            found.append(change(_IMAGES))
        assert found[0].equal(found[1]) and not found[0].equal(found[2])
        assert found[0].shape == _IMAGES.shape


def test_flipped_images_are_whole() -> None:
    torch.manual_seed(1)
    for image, changed in zip(_IMAGES, flip(_IMAGES), strict=True):
        assert changed.equal(image) or changed.equal(image.flip(-1))


def test_shifted_images_keep_their_values_in_order() -> None:
    torch.manual_seed(1)
    found = shift(_IMAGES, 2)
    assert found.is_contiguous()
    for image, changed in zip(_IMAGES, found, strict=True):
        places = [
            (down, right)
            for down in range(-2, 3)
            for right in range(-2, 3)
            if changed[:, 2:-2, 2:-2].equal(image[:, 2 + down : 6 + down, 2 + right : 8 + right])
        ]
        assert len(places) == 1
        assert changed.min() >= image.min()


def test_crops_lie_inside() -> None:
    torch.manual_seed(1)
    found = crop(_IMAGES, 0.5)
    for image, changed in zip(_IMAGES, found, strict=True):
        assert changed.min() >= image.min() and changed.max() <= image.max()
    torch.testing.assert_close(crop(_IMAGES, 0.0), _IMAGES, rtol=1e-4, atol=1e-3)


def test_what_is_cut_out_is_a_square() -> None:
    torch.manual_seed(1)
    for image, changed in zip(_IMAGES, cut_out(_IMAGES, 3), strict=True):
        hidden = (changed == 0).all(0)
        assert 1 <= hidden.sum() <= 9
        assert hidden.any(0).sum() * hidden.any(1).sum() == hidden.sum()
        assert changed[:, ~hidden].equal(image[:, ~hidden])
