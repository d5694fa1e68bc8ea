"""The families of models that go in and out, by the name that their configuration gives them."""

from seq2see.exchange.bert import Bert
from seq2see.exchange.family import Family
from seq2see.exchange.gpt2 import GPT2
from seq2see.exchange.llama import Llama
from seq2see.exchange.seq2seq import EncoderDecoderFamily
from seq2see.exchange.vision import ResNet, ViT

__all__ = ["FAMILIES"]

FAMILIES: dict[str, Family] = {
    "bert": Bert("bert"),
    "roberta": Bert("roberta"),
    "gpt2": GPT2(),
    "llama": Llama(),
    "mistral": Llama(),
    "qwen2": Llama(),
    "marian": EncoderDecoderFamily("marian", "MarianMTModel"),
    "pegasus": EncoderDecoderFamily("pegasus", "PegasusForConditionalGeneration"),
    "resnet": ResNet(),
    "vit": ViT(),
    "bart": EncoderDecoderFamily("bart", "BartForConditionalGeneration"),
}
