"""A plain cached step as a graph for other runtimes: one for all numbers of rows and lengths."""

import torch
from torch import Tensor, nn
from torch.export import Dim, export

from seq2see.layers.attention import KeysValues
from seq2see.models import EncoderDecoder
from seq2see.models.decoders.transformer_states import BlockPast, PlainState

SOURCES = torch.tensor([[4, 5, 6, 2, 0], [7, 2, 0, 0, 0], [4, 4, 4, 4, 2]])
TOKENS = torch.tensor([[4, 5, 6, 7, 8, 4], [5, 6, 4, 8, 8, 7], [6, 6, 7, 4, 5, 8]])


class Step(nn.Module):
    """One step on tensors alone."""

    def __init__(self, model: EncoderDecoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, positions: Tensor, mask: Tensor, source_mask: Tensor, *cached: Tensor):
        blocks = [
            BlockPast(
                block, KeysValues(*cached[at : at + 2]), KeysValues(*cached[at + 2 : at + 4], source_mask)
            )
            for block, at in zip(self.model.decoder.blocks, range(0, len(cached), 4), strict=True)
        ]
        state = PlainState(tuple(blocks), positions, mask, tokens.shape[0])
        output, after = self.model.decoder.step(tokens, state)
        keys_values = [part for block in after.blocks for part in (block.past.keys, block.past.values)]
        return self.model.head.logits(output, None), after.positions, after.mask, *keys_values


def given(model: EncoderDecoder, rows: int, steps: int) -> tuple[Tensor, ...]:
    """What a step gets after some steps of some rows."""
    state = model.decoder.begin(model.encode_ids(SOURCES[:rows]), plain=True)
    for tokens in TOKENS[:rows, :steps].T:
        _, state = model.decoder.step(tokens, state)
    parts = [(one.past.keys, one.past.values, one.memory.keys, one.memory.values) for one in state.blocks]
    cached = [tensor for block in parts for tensor in block]
    return TOKENS[:rows, steps], state.positions, state.mask, state.blocks[0].memory.mask, *cached


def test_an_exported_step_is_the_step(make_model):
    """D9: exported with one number of rows and positions, the step serves others."""
    model = make_model()
    rows, past, length = Dim("rows", min=2), Dim("past", min=2), Dim("length", min=2)
    with torch.no_grad():
        example = given(model, 2, 2)
        cached = tuple({0: rows, 2: past if at % 4 < 2 else length} for at in range(len(example) - 4))
        shapes = {"tokens": {0: rows}, "positions": {0: rows}, "mask": {0: rows, 1: past}}
        shapes |= {"source_mask": {0: rows, 3: length}, "cached": cached}
        graph = export(Step(model), example, dynamic_shapes=shapes).module()
        for inputs in (example, given(model, 3, 5)):
            for found, expected in zip(graph(*inputs), Step(model)(*inputs), strict=True):
                torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
