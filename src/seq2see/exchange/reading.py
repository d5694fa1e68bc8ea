"""Files that others wrote: bounded, checked before they are used, and never executed."""

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from seq2see.errors import DataError
from seq2see.wording import quoted

__all__ = ["Tensors", "read_json", "read_lines", "read_text"]

_LARGEST_TEXT = 200_000_000
"""Bytes of a configuration or vocabulary at the most."""
_LARGEST_HEADER = 50_000_000
_FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
"""The kinds of numbers that weights have, and their bytes."""
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")


def read_text(path: Path, most: int = _LARGEST_TEXT) -> str:
    """A file of text in UTF-8, unless it is larger than any file of its kind."""
    try:
        if not path.is_file():
            raise DataError(f"{path.parent} has no {path.name}")
        if (size := path.stat().st_size) > most:
            raise DataError(f"{path} has {size:,} bytes, and such a file has {most:,} at the most")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text in UTF-8: {error.reason} at byte {error.start:,}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def read_json(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object."""
    try:
        found = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise DataError(f"{path} holds {quoted(found)}, and a JSON object is needed")
    return found


def read_lines(path: Path) -> list[str]:
    """The lines of a file of text, which only a line feed ends."""
    return [line.removesuffix("\r") for line in read_text(path).removesuffix("\n").split("\n")]


class Tensors:
    """The weights of a folder by name, in one file or in shards: shapes are known before any is read."""

    def __init__(self, folder: Path, files: Mapping[str, Path], pickled: Mapping[str, Tensor] | None) -> None:
        self.folder, self._files, self._pickled = folder, files, pickled or {}
        self.shapes = {name: tuple(tensor.shape) for name, tensor in self._pickled.items()}
        for path in sorted(set(files.values())):
            held = {name: shape for name, shape in _shapes(path) if files.get(name) == path}
            self.shapes |= held
        for name, path in files.items():
            if name not in self.shapes:
                raise DataError(f"{path} lacks the weight {name}, which the folder's index says it has")

    @classmethod
    def open(cls, folder: Path, allow_pickle: bool = False) -> "Tensors":
        """The weights of a folder; those in a pickle only if that is allowed."""
        whole, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
        if whole.is_file():
            return cls(folder, {name: whole for name, _ in _shapes(whole)}, None)
        if index.is_file():
            return cls(folder, _indexed(index), None)
        for name in _PICKLES:
            if (folder / name).is_file():
                if not allow_pickle:
                    raise DataError(
                        f"{folder} has its weights in {name}, a pickle, which can hold programs; convert it "
                        "to safetensors (in transformers: model.save_pretrained), or, if you trust where it "
                        "comes from, allow the numbers in it to be read with --allow-pickle"
                    )
                files = set(_indexed(folder / name).values()) if name.endswith(".json") else {folder / name}
                return cls(folder, {}, dict(pair for path in sorted(files) for pair in _unpickled(path)))
        raise DataError(f"{folder} has no weights: neither {whole.name} nor {index.name} is there")

    def read(self, name: str) -> Tensor:
        """A weight in 32 bits."""
        if name in self._pickled:
            return self._pickled[name].float()
        path = self._files[name]
        try:
            with safe_open(path, framework="pt") as file:
                found: Tensor = file.get_tensor(name).float()
                return found
        except (SafetensorError, OSError, ValueError) as error:
            raise DataError(f"{path} is damaged: {name} cannot be read ({error})") from None


def _indexed(index: Path) -> dict[str, Path]:
    """The file of each weight, by an index of shards."""
    listed = read_json(index).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(file, str) for file in listed.values()):
        raise DataError(f"{index} has no weight_map of names and files")
    files = {}
    for name, file in listed.items():
        path = index.parent / file
        if Path(file).name != file:
            raise DataError(f"{index} points to {quoted(file)}, which is not a file of its own folder")
        if not path.is_file():
            raise DataError(f"{path} is missing: {index.name} says that it holds {name}")
        files[name] = path
    return files


def _shapes(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes in a safetensors file; what its header claims must be there, to the byte."""
    damaged = f"{path} is damaged or not complete"
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > min(_LARGEST_HEADER, size - 8):
                raise DataError(f"{damaged}: it claims a header of {length:,} bytes, and has {size:,} in all")
            header = json.loads(file.read(length))
        room, ends = size - 8 - length, 0
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            kind, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
            if not all(type(number) is int and 0 <= number <= size for number in (*shape, start, end)):
                raise DataError(f"{damaged}: {quoted(name)} claims {quoted(shape)} from {start} to {end}")
            if end > room:
                raise DataError(f"{damaged}: {quoted(name)} ends at byte {end:,} of {room:,}")
            ends = max(ends, end)
            if kind not in _FLOATS:
                continue  # masks and numbers of places, which are no weights
            count = 1
            for number in shape:
                count *= number
            if count * _FLOATS[kind] != end - start:
                raise DataError(f"{damaged}: {quoted(name)} claims {shape} in {end - start:,} bytes")
            yield name, tuple(shape)
        if ends != room:
            raise DataError(f"{damaged}: its weights end at byte {ends:,} of {room:,}")
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{damaged}: its header is not that of safetensors ({quoted(str(error))})") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _unpickled(path: Path) -> Iterator[tuple[str, Tensor]]:
    """Tensors of a pickle: PyTorch's reader of weights alone runs no programs."""
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a file that somebody made up leads to
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not a file of weights alone: {reason}") from None
    if not isinstance(found, dict):
        raise DataError(f"{path} holds {quoted(type(found).__name__)}, and weights by name are needed")
    for name, tensor in found.items():
        if isinstance(name, str) and isinstance(tensor, Tensor) and tensor.is_floating_point():
            yield name, tensor
