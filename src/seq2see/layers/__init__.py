"""Tensors to tensors. Letters for shapes, here and everywhere:

B batch, S source length, T target length, D model width, H heads, K = D/H head width, V vocabulary.
"""
