"""How a model is trained."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seq2see.evaluation import METRICS
from seq2see.layers.masking import MaskUnit
from seq2see.settings import Settings, near

__all__ = ["MaskingSettings", "TrainingSettings"]


def _metric(name: str) -> str:
    if name not in METRICS:
        raise ValueError(f"{name!r} is no metric; {near(name, METRICS)}")
    return name


class MaskingSettings(Settings):
    """Which tokens are hidden from a model that learns to fill gaps."""

    share: float = Field(default=0.15, gt=0, lt=1)
    """Of the tokens of a text, about so many are to be told, and at least one."""
    masked: float = Field(default=0.8, ge=0, le=1)
    """The part of these that the mask symbol stands for."""
    random: float = Field(default=0.1, ge=0, le=1)
    """The part of these that another token stands for; the rest stays as it is."""
    unit: MaskUnit = "tokens"
    """What is hidden together: tokens, the tokens of a word, or spans of words."""
    span: float = Field(default=3.0, ge=1, le=100)
    """Words of a span on the average; lengths are drawn from a geometric distribution."""
    longest_span: int = Field(default=10, ge=1, le=1000)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.masked + self.random > 1:
            raise ValueError(
                f"masked = {self.masked} and random = {self.random} are parts of one whole; "
                "together they may be 1 at the most"
            )
        return self


class TrainingSettings(Settings):
    """Batches, optimiser, schedule, and when to look at the dev set."""

    steps: int = Field(default=10_000, ge=1)
    minutes: float | None = Field(default=None, gt=0)
    """Stop after so many minutes of training, if the steps are not done by then."""
    tokens: int | None = Field(default=None, ge=1)
    """Stop after so many target tokens, if the steps are not done by then."""
    batch_tokens: int = Field(default=4096, ge=1)
    """Tokens of the longer side in a batch, padding counted."""
    batch_pairs: int | None = Field(default=None, ge=1)
    batch_by_length: bool = True
    """Examples of similar length share a batch, which leaves little padding; else batches are mixed."""
    batch_together: bool = True
    """Examples that share a source share a batch, which then reads it once; else they are mixed."""
    accumulate: int = Field(default=1, ge=1)
    """Batches whose gradients are added up for one step."""
    optimizer: Literal["adam", "adamw", "muon"] = "adam"
    """`muon` learns more from each step of matrices between states, and leaves all else to AdamW."""
    learning_rate: float = Field(default=1e-3, gt=0)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.98, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0)
    schedule: Literal["inverse-sqrt", "cosine", "linear", "constant"] = "inverse-sqrt"
    warmup: int = Field(default=1000, ge=0)
    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    freeze: tuple[str, ...] = ()
    """Parts whose weights stay as they are, such as front or encoder.blocks.0."""
    unfreeze_every: int | None = Field(default=None, ge=1)
    """At first only the head and what is new learns; after so many steps each, one more layer below does."""
    lower_rate: float = Field(default=1.0, gt=0, le=1)
    """What the learning rate is multiplied by below the head, or of weights that came from another run."""
    layer_decay: float = Field(default=1.0, gt=0, le=1)
    """What it is multiplied by once more for each further layer below."""
    masking: MaskingSettings | None = None
    """Of --goal fill."""
    clip: float | None = Field(default=1.0, gt=0)
    """The largest norm of the gradient."""
    evaluate_every: int = Field(default=500, ge=1)
    metric: Annotated[str, AfterValidator(_metric)] = "loss"
    """What is watched on the dev set, to keep the best weights and to stop early."""
    dev_examples: int = Field(default=1000, ge=1)
    """Dev sources that are decoded at each look; the loss is taken on all."""
    patience: int | None = Field(default=None, ge=1)
    """Looks at the dev set without a new best before training stops."""
    average: int = Field(default=5, ge=0, le=100)
    """The weights at the last so many looks are averaged at the end, and kept if they score better."""
    save_every: int = Field(default=200, ge=1)
    """Steps between saves of all that a resume needs."""
    device: str = "auto"
    precision: Literal["float32", "bfloat16"] = "float32"
