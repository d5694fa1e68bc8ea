"""Small random models and tokenizers as `transformers` writes them."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

from seq2see.data.sides import Side

transformers.utils.logging.disable_progress_bar()

TEXTS = [
    "the quick brown fox jumps over the lazy dog",
    "pack my box with five dozen liquor jugs",
    "how vexingly quick daft zebras jump",
    "the five boxing wizards jump quickly over it",
]
SMALL = {"num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 24}
SIDES = {
    f"{side}_{name}": value
    for side in ("encoder", "decoder")
    for name, value in {"layers": 2, "attention_heads": 4, "ffn_dim": 24}.items()
}


def byte_pairs(*special: str, first: tuple[str, ...] = ()) -> tokenizers.Tokenizer:
    """A byte-level BPE with special symbols, at the ids after all others or before them."""
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=alphabet, special_tokens=list(first), show_progress=False
    )
    inner.train_from_iterator(TEXTS, trainer)
    inner.add_special_tokens(list(special))
    return inner


def unigram(*special: str) -> tokenizers.Tokenizer:
    """A unigram model over words that begin with ▁; the last symbol is the unknown one."""
    inner = tokenizers.Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=list(special), unk_token=special[-1], show_progress=False
    )
    inner.train_from_iterator(TEXTS * 3, trainer)
    return inner


def word_pieces() -> tokenizers.Tokenizer:
    """BERT's kind of tokenizer, its symbols in the middle of the others."""
    inner = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    special = ["[PAD]", *(f"[unused{number}]" for number in range(5)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    inner.train_from_iterator(TEXTS, trainer)
    parts = json.loads(inner.to_str())
    kept = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    parts["added_tokens"] = [one for one in parts["added_tokens"] if one["content"] in kept]
    inner = tokenizers.Tokenizer.from_str(json.dumps(parts))
    around = {name: (name, inner.token_to_id(name)) for name in ("[SEP]", "[CLS]")}
    inner.post_processor = processors.BertProcessing(around["[SEP]"], around["[CLS]"])
    return inner


def ended(inner: tokenizers.Tokenizer, end: str, begin: str | None = None) -> tokenizers.Tokenizer:
    """A tokenizer that puts symbols around texts."""
    special = [(name, inner.token_to_id(name)) for name in (begin, end) if name is not None]
    single = " ".join(filter(None, [begin, "$A", end]))
    inner.post_processor = processors.TemplateProcessing(single=single, special_tokens=special)
    return inner


@dataclass
class Foreign:
    """A model with its tokenizer, in a folder."""

    folder: Path
    model: Any
    inner: tokenizers.Tokenizer


def noisy(model: Any, seed: int = 0) -> Any:
    """The model with nothing at zero or one."""
    torch.manual_seed(seed)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data += torch.randn_like(parameter) * 0.2
    return model.eval()


def save(folder: Path, model: Any, inner: tokenizers.Tokenizer, **config: Any) -> Foreign:
    """Write a folder as users have them."""
    model.save_pretrained(folder)
    inner.save(str(folder / "tokenizer.json"))
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return Foreign(folder, model, inner)


def gpt2(folder: Path, **options: Any) -> Foreign:
    """A small GPT-2."""
    inner = byte_pairs("<|endoftext|>")
    end = inner.token_to_id("<|endoftext|>")
    config = transformers.GPT2Config(
        vocab_size=inner.get_vocab_size(),
        n_positions=48,
        n_embd=16,
        n_layer=2,
        n_head=4,
        bos_token_id=end,
        eos_token_id=end,
        attn_implementation="eager",
        **options,
    )
    return save(folder, noisy(transformers.GPT2LMHeadModel(config)), inner)


def llama(folder: Path, **options: Any) -> Foreign:
    """A small Llama with heads in groups; its texts begin with a symbol, its last rows belong to no token."""
    inner = unigram("<unk>", "<s>", "</s>")
    special = [("<s>", inner.token_to_id("<s>"))]
    inner.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=special)
    settings = {"num_key_value_heads": 2, "rope_theta": 5000.0, "max_position_embeddings": 64} | options
    config = transformers.LlamaConfig(
        vocab_size=inner.get_vocab_size() + 3,
        bos_token_id=inner.token_to_id("<s>"),
        eos_token_id=inner.token_to_id("</s>"),
        attn_implementation="eager",
        **SMALL,
        **settings,
    )
    return save(folder, noisy(transformers.LlamaForCausalLM(config)), inner, unk_token="<unk>")


def bert(folder: Path, headed: bool = True, **options: Any) -> Foreign:
    """A small BERT."""
    inner = word_pieces()
    config = transformers.BertConfig(
        vocab_size=inner.get_vocab_size(),
        max_position_embeddings=40,
        attn_implementation="eager",
        **SMALL,
        **options,
    )
    kind = transformers.BertForMaskedLM if headed else transformers.BertModel
    return save(folder, noisy(kind(config)), inner)


def roberta(folder: Path) -> Foreign:
    """A small RoBERTa, whose places begin at 2."""
    inner = byte_pairs("<mask>", first=("<s>", "<pad>", "</s>", "<unk>"))
    ids = {name: inner.token_to_id(name) for name in ("<s>", "<pad>", "</s>")}
    inner.post_processor = processors.RobertaProcessing(("</s>", ids["</s>"]), ("<s>", ids["<s>"]))
    config = transformers.RobertaConfig(
        vocab_size=inner.get_vocab_size(),
        max_position_embeddings=42,
        pad_token_id=ids["<pad>"],
        attn_implementation="eager",
        type_vocab_size=1,
        **SMALL,
    )
    return save(folder, noisy(transformers.RobertaForMaskedLM(config)), inner)


def pair(folder: Path, kind: str, **options: Any) -> Foreign:
    """A small Marian, Pegasus or BART."""
    inner = unigram("<s>", "<pad>", "</s>", "<unk>")
    ids = {name: inner.token_to_id(f"<{name}>") for name in ("s", "pad", "/s")}
    ended(inner, "</s>", "<s>" if kind == "Bart" else None)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=inner.get_vocab_size(),
        d_model=16,
        max_position_embeddings=48,
        pad_token_id=ids["pad"],
        eos_token_id=ids["/s"],
        bos_token_id=ids["s"],
        decoder_start_token_id=ids["/s"] if kind == "Bart" else ids["pad"],
        forced_eos_token_id=None,
        attn_implementation="eager",
        **SIDES,
        **({"activation_function": "swish", "scale_embedding": True} | options),
    )
    ends = {"Marian": "MarianMTModel", "Bart": "BartForConditionalGeneration"}
    model = getattr(transformers, ends.get(kind, f"{kind}ForConditionalGeneration"))(config)
    model.final_logits_bias.data += torch.randn_like(model.final_logits_bias)
    return save(folder, noisy(model), inner, unk_token="<unk>")


@contextmanager
def states_of(blocks: Any) -> Iterator[list[Tensor]]:
    """Notes what each of our blocks gives."""
    found: list[Tensor] = []
    hooks = [
        block.feedforward_residual.register_forward_hook(lambda *given: found.append(given[-1]))
        for block in blocks
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


class Seen(dict[str, Tensor]):
    """Notes the weights of every attention by its address."""

    def __call__(self, address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        self[address] = weights
        return weights


def side(rows: Tensor) -> Side:
    """Ids without padding, as a network reads them."""
    return Side(rows, torch.ones_like(rows, dtype=torch.bool))
