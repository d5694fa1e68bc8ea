"""Files of pairs to batches of ids. Knows nothing of models.

Only what reads files stands here: it needs no PyTorch, which takes long to import.
"""

from seq2see.data.pairs import BadLines, Columns, Pair, PairFile, Problem

__all__ = ["BadLines", "Columns", "Pair", "PairFile", "Problem"]
