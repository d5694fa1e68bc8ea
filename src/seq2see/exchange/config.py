"""What `config.json` says of a model, value by value."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from seq2see.errors import DataError
from seq2see.exchange.reading import read_json
from seq2see.wording import quoted

__all__ = ["Config"]


class Config:
    """Settings of another tool, typed where they are asked for."""

    def __init__(self, values: Mapping[str, Any], path: Path) -> None:
        self._values, self.path = values, path

    @classmethod
    def read(cls, folder: Path) -> "Config":
        """The configuration of a folder."""
        path = folder / "config.json"
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder}")
        if not path.is_file():
            raise DataError(
                f"{folder} has no config.json, so it is not a folder in Hugging Face's layout; "
                "see docs/import-export.md for what can be brought in"
            )
        # How outputs are searched for stands in a file of its own, or (older) in the same one.
        further = folder / "generation_config.json"
        return cls({**(read_json(further) if further.is_file() else {}), **read_json(path)}, path)

    def get(self, key: str, default: Any = None) -> Any:
        """A value, whatever it is."""
        found = self._values.get(key)
        return default if found is None else found

    def number(self, *keys: str, default: int | None = None) -> int:
        """A positive whole number, under the first of several names that is there."""
        for key in keys:
            value = self.get(key)
            if value is not None:
                if type(value) is not int or not 0 < value <= 10**9:
                    self.refuse(key, "a positive whole number is needed")
                return int(value)
        if default is None:
            raise DataError(f"{self.path} does not say {keys[0]}")
        return default

    def share(self, *keys: str, default: float = 0.0) -> float:
        """A number from 0 to 1, such as dropout or an epsilon."""
        for key in keys:
            value = self.get(key)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
                    self.refuse(key, "a number from 0 to 1 is needed")
                return float(value)
        return default

    def choice(self, key: str, known: Mapping[str, str], default: str) -> str:
        """What we call one of some names."""
        value = self.get(key, default)
        if not isinstance(value, str) or value not in known:
            self.refuse(key, f"our parts have {', '.join(known)}")
        return known[value]

    def flag(self, key: str, default: bool = False) -> bool:
        """Yes or no."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            self.refuse(key, "true or false is needed")
        return value

    def token(self, key: str) -> int | None:
        """The id of a symbol; of several the first."""
        value = self.get(key)
        if isinstance(value, list) and value:
            value = value[0]
        if value is not None and (type(value) is not int or not -1 <= value <= 10**9):
            self.refuse(key, "the id of a token is needed")
        return value if value is not None and value >= 0 else None

    def only(self, key: str, wanted: Any, reason: str) -> None:
        """Refuse any other value than the one that our parts express."""
        value = self.get(key, wanted)
        if value != wanted:
            self.refuse(key, reason)

    def refuse(self, key: str, reason: str) -> NoReturn:
        """Say that a value cannot be taken, and why."""
        raise DataError(f"{self.path}: {key} = {quoted(self._values.get(key))} cannot be taken; {reason}")
