"""The weights of a model by name, each once, and their way into and out of a file."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from seq2see.errors import RunError
from seq2see.files import replace_bytes

__all__ = [
    "is_checked",
    "load_weights",
    "read_tensors",
    "refuse_not_finite",
    "weights_of",
    "write_tensors",
]


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Every weight and buffer; one that several modules share goes by its first name."""
    seen: set[int] = set()
    found = {}
    for name, tensor in model.state_dict().items():
        if tensor.data_ptr() not in seen or tensor.numel() == 0:
            seen.add(tensor.data_ptr())
            found[name] = tensor
    return found


_RENAMED = {
    "encoder.embed.": "front.embed.",
    "encoder.positions.": "front.positions.",
    "output.": "head.output.",
    "pointer.": "head.pointer.",
}
"""How the names of weights began in version 0.1.0, and how they begin now."""


def _current(name: str) -> str:
    """The name that a weight has today."""
    for old, new in _RENAMED.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def load_weights(model: nn.Module, weights: Mapping[str, Tensor], origin: str) -> None:
    """Copy weights into a model, or say which do not fit; old names are understood."""
    own = weights_of(model)
    weights = {_current(name): tensor for name, tensor in weights.items()}
    for name in sorted(own.keys() ^ weights.keys()):
        where = "lacks" if name in own else "has, but the recipe does not,"
        raise RunError(f"{origin} does not fit the recipe: it {where} the weight {name}")
    for name, tensor in own.items():
        if tensor.shape != weights[name].shape:
            raise RunError(
                f"{origin} does not fit the recipe: {name} is {tuple(weights[name].shape)} in the file, "
                f"{tuple(tensor.shape)} by the recipe"
            )
        tensor.copy_(weights[name])


def refuse_not_finite(weights: Mapping[str, Tensor], origin: str) -> None:
    """Refuse weights that are no numbers, or infinite: nothing that a model says with them means anything."""
    for name, tensor in weights.items():
        if (
            tensor.is_floating_point()
            and tensor.numel()
            and not torch.stack(tensor.aminmax()).isfinite().all()
        ):
            raise RunError(f"{origin} is damaged: {name} holds values that are no numbers; train again")


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, str] | None = None) -> None:
    """Write a safetensors file whole or not at all; what stood there before stays until then."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    about = dict(about or {})
    replace_bytes(path, save(plain, metadata=about | {_DIGEST: _digest(plain, about)}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file and what is said about them; a damaged file is refused."""
    tensors, about, _ = _read(path)
    return tensors, about


def is_checked(path: Path) -> bool:
    """Refuse a damaged file of tensors, and say whether it carries a checksum; that of 0.1.0 does not."""
    return _read(path)[2] is not None


_DIGEST = "sha256"
_WAY_OUT = "put a copy of it back, or train a new run"


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str], str | None]:
    try:
        with safe_open(path, framework="pt") as file:
            about = dict(file.metadata() or {})
            digest = about.pop(_DIGEST, None)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise RunError(f"{path} is missing; the run directory is not complete") from None
    except (SafetensorError, OSError, ValueError) as error:
        raise RunError(f"{path} is damaged ({error}); {_WAY_OUT}") from None
    if digest is not None and digest != _digest(tensors, about):
        raise RunError(f"{path} is damaged: its checksum does not fit; {_WAY_OUT}")
    return tensors, about, digest


def _digest(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> str:
    """A checksum of all that a file says: names, kinds, shapes, values and what is said about them."""
    digest = hashlib.sha256(repr(sorted(about.items())).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
