"""Training and decoding speed beside the peers: `python -m benchmarks.speed --data FOLDER`."""
