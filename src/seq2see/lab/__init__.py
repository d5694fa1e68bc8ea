"""Experiments on whole runs: several models compared, heads switched off."""
