"""How outputs are searched for."""

from typing import Self

from pydantic import Field, model_validator

from seq2see.settings import Settings

__all__ = ["DecodingSettings"]


class DecodingSettings(Settings):
    """Beam search (greedy with a beam of one) or sampling."""

    beam: int = Field(default=5, ge=1, le=1000)
    nbest: int = Field(default=1, ge=1, le=1000)
    length_penalty: float = Field(default=0.0, ge=0, le=5)
    """Scores are log-probability / length ** penalty: 0 compares plain probabilities, 1 averages."""
    hard_attention: bool = False
    """Each step reads one place of the source, that with the most weight, instead of a mixture."""
    sample: bool = False
    temperature: float = Field(default=1.0, ge=1e-6, le=100)
    top_k: int | None = Field(default=None, ge=1)
    top_p: float | None = Field(default=None, ge=1e-6, le=1)
    max_length: int | None = Field(default=None, ge=1, le=100_000)
    """Output tokens at the most, the end symbol counted; by default what the training pairs suggest."""
    seed: int = Field(default=1, ge=0)
    batch_tokens: int = Field(default=8192, ge=1)
    """Source tokens times beam that are decoded together."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.sample and self.nbest > self.beam:
            raise ValueError(
                f"nbest {self.nbest} needs a beam at least as wide, and it is {self.beam}; "
                f"set beam={self.nbest}, or sample"
            )
        if not self.sample and (self.top_k or self.top_p or self.temperature != 1):
            raise ValueError("temperature, top_k and top_p choose among samples; set sample=true (--sample)")
        return self
