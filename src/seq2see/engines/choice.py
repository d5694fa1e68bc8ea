"""Which engine decodes, and why."""

from pathlib import Path
from typing import Literal, get_args

from seq2see.decoding import DecodingSettings
from seq2see.engines.ctranslate2 import CTranslate2, installed, misfit, refusal
from seq2see.errors import SettingsError
from seq2see.goals.text_model import TextModel

__all__ = ["ENGINES", "EngineName", "use_engine"]

EngineName = Literal["auto", "torch", "ctranslate2"]
ENGINES: tuple[str, ...] = get_args(EngineName)


def use_engine(
    model: TextModel,
    folder: Path,
    name: str = "auto",
    *,
    int8: bool = False,
    settings: DecodingSettings | None = None,
    prefix: bool = False,
) -> None:
    """Let an engine decode for a model of a run directory; "auto" takes one where it can be had and fits."""
    if name not in ENGINES:
        raise SettingsError(f"there is no engine {name!r}; choose {', '.join(ENGINES)}")
    if int8 and name == "torch":
        raise SettingsError("--int8 needs ctranslate2, and --engine is torch; leave one of them out")
    if name == "torch":
        return
    reason = _against(model, settings or model.recipe.decoding, prefix)
    if reason is None:
        model.engine = CTranslate2(model, folder, int8)
    elif int8 or name != "auto":
        asked = "--engine ctranslate2" if name != "auto" else "--int8"
        raise SettingsError(f"{asked} is not possible: {reason}")


def _against(model: TextModel, settings: DecodingSettings, prefix: bool) -> str | None:
    """Why the engine cannot be used, with a way out."""
    without = "leave --engine and --int8 out to decode with PyTorch"
    if not installed():
        return "ctranslate2 is not installed; pip install 'seq2see[engines]'"
    if model.device.type != "cpu":
        return f"the model is on {model.device.type}; give --device cpu"
    if part := misfit(model.recipe):
        return f"ctranslate2 cannot do {part}; {without}"
    if way := refusal(settings, prefix):
        return f"ctranslate2 cannot do {way} as it is done here; {without}"
    return None
