"""The model of a seq2see run for CTranslate2, by way of Marian: RUN LOGITS.safetensors OUT.

Stops where Marian's logits are not those of seq2see.
"""

import sys
from pathlib import Path

import torch
from ctranslate2.converters.transformers import BartLoader
from marian import BEGIN, END, PAD, SPECIAL, UNKNOWN, carried_over
from safetensors.torch import load_file
from transformers import MarianMTModel

TOLERANCE = 1e-3


def main() -> None:
    """Check and convert."""
    run, logits, out = map(Path, sys.argv[1:])
    model, symbols = carried_over(run)
    difference = _difference(model, load_file(logits))
    print(f"largest difference of logits: {difference:.1e}")
    if not difference < TOLERANCE:
        sys.exit(f"Marian with the weights of {run} gives other logits: {difference:.1e} off at the most")
    # What the loader for Bart asks, and Marian's configuration does not say.
    model.config.normalize_before = model.config.normalize_embedding = False
    spec = BartLoader().get_model_spec(model)
    spec.register_source_vocabulary(symbols)
    spec.register_target_vocabulary(symbols)
    spec.config.bos_token = spec.config.decoder_start_token = SPECIAL[BEGIN]
    spec.config.eos_token, spec.config.unk_token = SPECIAL[END], SPECIAL[UNKNOWN]
    spec.validate()
    spec.optimize()
    out.mkdir(parents=True, exist_ok=True)
    spec.save(str(out))


@torch.inference_mode()
def _difference(model: MarianMTModel, known: dict[str, torch.Tensor]) -> float:
    """The largest on places that are no padding."""
    found = model(
        input_ids=known["source"],
        attention_mask=(known["source"] != PAD).long(),
        decoder_input_ids=known["inputs"],
    ).logits
    return float((found - known["logits"])[known["inputs"] != PAD].abs().max())


if __name__ == "__main__":
    main()
