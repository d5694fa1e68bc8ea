"""A run as a folder that `transformers` loads without our code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import pad

from seq2see.data.columns import Passages, SourceText
from seq2see.errors import RunError, SettingsError
from seq2see.exchange.families import FAMILIES
from seq2see.exchange.family import Family
from seq2see.exchange.names import ABSENT, Names, residual_order, written
from seq2see.exchange.tokenizers_out import write_tokenizer
from seq2see.files import publish, replace_text
from seq2see.goals import Predictor, load
from seq2see.models.settings import ModelSettings, TransformerSettings
from seq2see.models.weights import weights_of
from seq2see.text import BEGIN, END, PAD, UNKNOWN, Codec

__all__ = ["export_run"]

_NEVER = -1e9
"""The bias of rows that only fill up a table."""


def export_run(run: Path, folder: Path) -> str:
    """Write a run in Hugging Face's layout, and give the name of the architecture that it became."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunError(f"{folder} is not empty; name another place")
    model = load(run, "cpu")
    if model.recipe.data.images is not None:
        raise SettingsError(f"{run} reads images, and models that read texts alone can be exported so far")
    if len(model.recipe.data.targets) > 1 and model.recipe.goal == "generate":
        raise SettingsError(
            f"{run} writes into several targets, told by its first symbol, and models of transformers always "
            "begin with the same; train on one of them with --target to export it"
        )
    name = _family_name(model)
    config = FAMILIES[name].config(model.recipe.model)
    write = {"complete": _write_decoder, "fill": _write_filler, "generate": _write_pair}[model.recipe.goal]

    def write_all(draft: Path) -> None:
        draft.chmod(0o755)
        write(draft, model, FAMILIES[name], config)
        replace_text(draft / "README.md", _readme(run, config))

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        publish(folder, write_all)
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror or error}; name another place") from None
    return str(config["architectures"][0])


def _family_name(model: Predictor) -> str:
    """The family whose parts a model has, or the reason why there is none."""
    settings, goal = model.recipe.model, model.recipe.goal
    if goal == "fill":
        return "bert"
    if goal not in ("complete", "generate"):
        raise SettingsError(
            f"a model of the goal {goal} does not go out: Hugging Face's heads for it are others than ours; "
            "models of the goals fill, complete and generate do"
        )
    decoder, encoder = settings.decoder, settings.encoder
    if not isinstance(decoder, TransformerSettings):
        raise SettingsError("a recurrent decoder does not go out: transformers has no such model")
    if goal == "complete":
        return "llama" if decoder.norm_kind == "rms" else "gpt2"
    if not isinstance(encoder, TransformerSettings):
        raise SettingsError(f"a {encoder.kind} encoder does not go out: transformers has no such model")
    if settings.pointer:
        raise SettingsError(
            "copying from the source (model.pointer) does not go out: transformers has it not"
        )
    return "pegasus" if encoder.norm == "before" else "marian"


def _write_decoder(draft: Path, model: Predictor, family: Family, config: dict[str, Any]) -> None:
    """GPT-2 or Llama, whose output layers have no bias."""
    settings, text = model.recipe.model, model.run.columns["target"]
    assert isinstance(text, Passages)
    weights = weights_of(model.network)
    bias = weights.get("head.bias", weights.get("head.output.bias"))
    kept = list(range(text.size))
    if bias is not None:
        kept = [place for place in kept if bias[place] > ABSENT / 2]
        if bias[kept].any():
            raise SettingsError(
                "the output layer of this model has a bias, and those of GPT-2 and Llama have none; train "
                "with model.tie_output=true and model.output_bias=false"
            )
        if BEGIN not in kept and not weights["decoder.embed.weight"][BEGIN].equal(
            weights["decoder.embed.weight"][END]
        ):
            kept.insert(0, BEGIN)
    names = [one for one in family.names(settings) if one.theirs != ("lm_head.bias",)]
    scale = settings.front.embedding_scale(settings.width)
    if scale != 1.0:
        # The embedding is scaled where it is read, but not where it is the output layer.
        if settings.tie_output:
            weights["head.output.weight"] = weights["decoder.embed.weight"]
            names.append(Names(("head.output.weight",), ("lm_head.weight",), rows="target"))
            config["tie_word_embeddings"] = False
        weights = weights | {"decoder.embed.weight": weights["decoder.embed.weight"] * scale}
    longest = min(model.recipe.data.max_length, settings.length_limit("decoder") or 10**9)
    begins = model.recipe.text.begins
    symbols = write_tokenizer(draft, text.tokenizer, kept, (begins, False), longest)
    config |= {"vocab_size": len(kept), "max_position_embeddings": longest} | _ids(symbols)
    if config["model_type"] == "gpt2":
        config["max_position_embeddings"] = settings.max_length
    _write(draft, config, written(names, weights, {"target": kept}))
    _write_generation(draft, symbols, {"do_sample": True})


def _write_filler(draft: Path, model: Predictor, family: Family, config: dict[str, Any]) -> None:
    text = model.run.columns["source"]
    assert isinstance(text, SourceText)
    if not text.codec.begins:
        raise SettingsError("BERT's texts begin with a symbol, and this model's do not (text.begins)")
    _refuse_features(text.codec.features)
    kept = list(range(text.size))
    symbols = write_tokenizer(draft, text.codec.source, kept, (True, True), model.recipe.model.max_length)
    config |= {"vocab_size": len(kept), "pad_token_id": symbols["pad"]}
    _write(
        draft, config, written(family.names(model.recipe.model), weights_of(model.network), {"source": kept})
    )


def _write_pair(draft: Path, model: Predictor, family: Family, config: dict[str, Any]) -> None:
    """Marian or Pegasus. Of two vocabularies, that of the targets lies in a folder of its own."""
    settings, source = model.recipe.model, model.run.columns["source"]
    assert isinstance(source, SourceText) and isinstance(source.codec, Codec)
    codec = source.codec
    _refuse_features(codec.features)
    longest = settings.length_limit("encoder") or 1024
    around = (codec.begins, True)
    orders = {"source": list(range(codec.source_size)), "target": list(range(codec.target_size))}
    symbols = write_tokenizer(draft, codec.source, orders["source"], around, longest)
    if not codec.shared:
        other = draft / "target_tokenizer"
        other.mkdir()
        write_tokenizer(other, codec.target, orders["target"], (False, True), longest)
    halves = torch.arange(settings.width).view(2, -1).T.flatten()
    weights = residual_order(weights_of(model.network), halves.argsort())
    tensors = written(family.names(settings), weights, orders)
    if "final_logits_bias" not in tensors:
        tensors["final_logits_bias"] = torch.zeros(1, codec.target_size)
    _place_embeddings(tensors, settings, config)
    config |= {"decoder_start_token_id": BEGIN, "forced_eos_token_id": None} | _ids(symbols)
    _write(draft, config, tensors)
    never = {"decoder_start_token_id": BEGIN, "suppress_tokens": [PAD, BEGIN, UNKNOWN]}
    never |= {"max_length": min(512, settings.max_length), "num_beams": model.recipe.decoding.beam}
    _write_generation(draft, symbols, never)


def _place_embeddings(tensors: dict[str, Tensor], settings: ModelSettings, config: dict[str, Any]) -> None:
    """Put embeddings and output layer where the architecture looks for them."""
    shared, read, wrote, output = (
        "model.shared.weight",
        "model.encoder.embed_tokens.weight",
        "model.decoder.embed_tokens.weight",
        "lm_head.weight",
    )
    if settings.share_embeddings:
        config["vocab_size"] = len(tensors[shared])
        if not settings.tie_output:
            tensors |= {name: tensors[shared].clone() for name in (read, wrote)}
        return
    marian = config["model_type"] == "marian"
    if marian:
        sizes = {"vocab_size": len(tensors[read]), "decoder_vocab_size": len(tensors[wrote])}
        config |= {**sizes, "share_encoder_decoder_embeddings": False}
        return
    # Pegasus has one size for all of its tables, and ties all or none of them.
    config["tie_word_embeddings"] = False
    if settings.tie_output:
        tensors[output] = tensors[wrote].clone()
    most = max(len(tensors[read]), len(tensors[wrote]))
    for name in (read, wrote, output):
        tensors[name] = pad(tensors[name], (0, 0, 0, most - len(tensors[name])))
    bias = tensors["final_logits_bias"]
    tensors["final_logits_bias"] = pad(bias, (0, most - bias.shape[1]), value=_NEVER)
    tensors[shared] = tensors[read].clone()
    config["vocab_size"] = most


def _refuse_features(features: object) -> None:
    if features is not None:
        raise SettingsError(
            "features before a source have a vocabulary of their own, which transformers does not know; "
            "write them into the source, and train again"
        )


def _ids(symbols: Mapping[str, int]) -> dict[str, int | None]:
    roles = {"pad": "pad", "begin": "bos", "end": "eos"}
    return {f"{short}_token_id": symbols.get(role) for role, short in roles.items()}


def _write(draft: Path, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    plain = {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}
    save_file(plain, draft / "model.safetensors", metadata={"format": "pt"})
    _write_json(draft / "config.json", {**config, "torch_dtype": "float32"})


def _write_generation(draft: Path, symbols: Mapping[str, int], values: Mapping[str, Any]) -> None:
    _write_json(draft / "generation_config.json", {**_ids(symbols), **values})


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    replace_text(path, json.dumps(values, ensure_ascii=False, indent=2) + "\n")


def _readme(run: Path, config: Mapping[str, Any]) -> str:
    """The card of the run, and how `transformers` loads it."""
    card = run / "card.md"
    told = card.read_text(encoding="utf-8").split("\nUse it:")[0] if card.is_file() else "# A seq2see model\n"
    kind = config["architectures"][0]
    target = ""
    if (config.get("decoder_vocab_size") is not None) or "Pegasus" in kind:
        target = (
            "\nWhere there is a folder `target_tokenizer`, outputs are decoded with the tokenizer in it.\n"
        )
    return f"""---
library_name: transformers
---
{told.rstrip()}

Made with seq2see, in the layout of `{kind}`:

```python
from transformers import AutoTokenizer, {kind}
tokenizer = AutoTokenizer.from_pretrained("this folder")
model = {kind}.from_pretrained("this folder")
```
{target}"""
