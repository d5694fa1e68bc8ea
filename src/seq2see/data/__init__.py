"""Files of pairs to batches of ids. Knows nothing of models."""

from seq2see.data.batches import Batch, Batches, pad
from seq2see.data.encoded import Encoded
from seq2see.data.pairs import BadLines, Columns, Pair, PairFile, Problem

__all__ = ["BadLines", "Batch", "Batches", "Columns", "Encoded", "Pair", "PairFile", "Problem", "pad"]
