"""Typed settings: YAML in and out, dotted overrides, and refusals that say what to write instead."""

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from yaml.error import MarkedYAMLError

from seq2see.errors import SettingsError
from seq2see.pipes import is_pipe, open_pipe
from seq2see.wording import quoted, shortened

__all__ = ["Settings", "build", "merge", "near", "override", "parse_yaml", "read_yaml", "write_yaml"]


S = TypeVar("S", bound="Settings")
_MOST_BYTES = 1_000_000
_LISTED = 100
_DEEPEST = 20
"""Groups inside groups; a recipe has four."""


class Settings(BaseModel):
    """A frozen group of settings that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping, or say which line of which file is not one."""
    try:
        with open_pipe(path) if is_pipe(path) else path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise SettingsError(f"{path} has more than {_MOST_BYTES:,} bytes, and a recipe has a few hundred")
        value = parse_yaml(text.decode("utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"there is no recipe at {path}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise SettingsError(f"{path}{where}: not valid YAML ({problem})") from None
    except (OSError, ValueError) as error:  # bytes that are no text, a name with a NUL byte
        raise SettingsError(f"{path} cannot be read as a recipe: {error}") from None
    if not isinstance(value, dict) or not _names_only(value):
        raise SettingsError(f"{path} holds no settings; a recipe is a list of 'key: value' lines")
    return value


class _PlainLoader(yaml.SafeLoader):
    """YAML as people write settings: no aliases, no tags, no dates, no nesting without end."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if hasattr(event, "anchor") and event.anchor is not None:
            raise MarkedYAMLError(None, None, "aliases (& and *) are not for settings", event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise MarkedYAMLError(None, None, "tags (!) are not for settings", event.start_mark)
        if self._depth == _DEEPEST:
            raise MarkedYAMLError(None, None, "brackets inside brackets without end", event.start_mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except ValueError as error:
            raise MarkedYAMLError(None, None, f"not a number: {error}", node.start_mark) from None


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parse_yaml(text: str) -> Any:
    """The value of a YAML text; yaml.YAMLError where it is none, or none that settings may have."""
    return yaml.load(text, _PlainLoader)


def _names_only(value: dict[Any, Any]) -> bool:
    """Whether all keys are words, in all groups."""
    return all(isinstance(key, str) for key in value) and all(
        _names_only(one) for one in value.values() if isinstance(one, dict)
    )


def write_yaml(settings: Settings) -> str:
    """The settings as YAML text, in the order in which the fields are declared."""
    return yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Put nested changes over a nested base; a change of `kind` starts that group afresh."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            other_kind = "kind" in value and value["kind"] != old.get("kind", value["kind"])
            merged[key] = dict(value) if other_kind else merge(old, value)
        else:
            merged[key] = value
    return merged


def override(assignments: Iterable[str]) -> dict[str, Any]:
    """Turn `a.b=value` strings into nested settings; values are read as YAML."""
    changes: dict[str, Any] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        keys = path.strip().split(".")
        if not equals or not all(keys):
            raise SettingsError(
                f"--set {quoted(assignment)} is not of the form KEY=VALUE, as in model.width=256"
            )
        if len(keys) > _DEEPEST:
            raise SettingsError(f"--set {quoted(assignment)}: no setting stands so deep")
        try:
            value = parse_yaml(text)
        except yaml.YAMLError:
            value = text
        for key in reversed(keys):
            value = {key: value}
        changes = merge(changes, value)
    return changes


def build(kind: type[S], values: Mapping[str, Any], origin: str) -> S:
    """Check values against the settings class; every problem is named by its dotted path."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problems = [_explain(kind, problem) for problem in error.errors()]
        raise SettingsError("\n".join(f"{origin}: {problem}" for problem in problems[:5])) from None


def near(word: str, choices: Iterable[str]) -> str:
    """A "did you mean" for a misspelt word, or the list of what there is."""
    choices = sorted(set(choices))
    close = difflib.get_close_matches(word[:_LISTED], choices, n=1)
    more = ", ..." if len(choices) > _LISTED else ""
    listed = ", ".join(map(shortened, choices[:_LISTED]))
    return f"did you mean {close[0]!r}?" if close else f"choose from {listed}{more}"


def _explain(kind: type[Settings], problem: Any) -> str:
    location = [part for part in problem["loc"] if isinstance(part, str)]
    group, path = _walk(kind, location)
    name = shortened(".".join(path))
    if problem["type"] == "extra_forbidden":
        holder = _holder(kind, path)
        return f"unknown key {name}; {holder or near(path[-1], group)}"
    if problem["type"] == "union_tag_invalid":
        options = re.findall("'([^']*)'", problem["ctx"]["expected_tags"])
        return f"{name}.kind = {quoted(problem['ctx']['tag'])}; {near(problem['ctx']['tag'], options)}"
    if problem["type"] == "missing":
        return f"{name} is missing"
    reason = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return f"{name}: {reason}" if name else reason
    hint = ""
    if problem["type"] == "literal_error":
        options = re.findall("'([^']*)'", problem["ctx"]["expected"])
        close = difflib.get_close_matches(quoted(problem["input"]), options, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{name} = {quoted(problem['input'])}: {reason[0].lower()}{reason[1:]}{hint}"


def _holder(kind: type[Settings], path: list[str]) -> str:
    """Which other kind of the same group knows a key, if one does."""
    options: list[type[Settings]] = [kind]
    for part in path[:-1]:
        fields = [option.model_fields[part] for option in options if part in option.model_fields]
        options = [found for field in fields for found in _options(field)]
    kinds = [_tag(option) for option in options if path[-1] in option.model_fields]
    return f"it belongs to {'.'.join([*path[:-1], 'kind'])} = {kinds[0]}" if kinds and kinds[0] else ""


def _walk(kind: type[Settings], location: list[str]) -> tuple[list[str], list[str]]:
    """Field names at the place of a problem, and its path without pydantic's union tags."""
    group = list(kind.model_fields)
    path: list[str] = []
    options: list[type[Settings]] = [kind]
    for part in location:
        if path and not options:
            break  # a tag of pydantic's for one of several plain types
        holders = [option for option in options if part in option.model_fields]
        if not holders and any(part == _tag(option) for option in options):
            options = [option for option in options if part == _tag(option)]
            group = [name for option in options for name in option.model_fields]
            continue
        path.append(part)
        if holders:
            options = _options(holders[0].model_fields[part])
            group = (
                [name for option in options for name in option.model_fields]
                if part != location[-1]
                else group
            )
    return group, path


def _tag(option: type[Settings]) -> str | None:
    field = option.model_fields.get("kind")
    return get_args(field.annotation)[0] if field and get_args(field.annotation) else None


def _options(field: FieldInfo) -> list[type[Settings]]:
    """The settings that a field may hold; where kinds stand in a table, its validator lists them."""
    for mark in field.metadata:
        listed = getattr(getattr(mark, "func", None), "options", None)
        if listed is not None:
            return list(listed())
    return _settings_in(field.annotation)


def _settings_in(annotation: Any) -> list[type[Settings]]:
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return [annotation]
    return [found for part in get_args(annotation) for found in _settings_in(part)]
