"""Other programs that run a trained model. Each is used where it is installed and the model fits."""

from seq2see.engines.choice import ENGINES, use_engine

__all__ = ["ENGINES", "use_engine"]
