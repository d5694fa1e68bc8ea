"""A network that reads a text in which tokens are hidden, and says what they were."""

from seq2see.data.sides import Batch, Side
from seq2see.layers.masking import Masking
from seq2see.models.contracts import Loss, Vocabulary
from seq2see.models.encoders import ENCODERS
from seq2see.models.fronts import FRONTS
from seq2see.models.heads.filling import FillingHead
from seq2see.models.network import Network
from seq2see.models.settings import ModelSettings

__all__ = ["MaskedReader", "make_masked_reader"]


class MaskedReader(Network):
    """A front, an encoder and a head that fills gaps; every batch is masked anew.

    The gaps are drawn from torch's own generator, whose state an exact resume puts back.
    """

    head: FillingHead
    masking: Masking

    def forward(self, batch: Batch) -> Loss:
        """The loss of the hidden tokens of a batch, and how many there are."""
        ids, mask = batch["source"]
        read, told = self.masking(ids)
        sides = {"source": Side(read, mask), "target": Side(ids, told)}
        return super().forward(Batch(sides, batch.lines))


def make_masked_reader(
    settings: ModelSettings, text: Vocabulary, masking: Masking, smoothing: float = 0.0
) -> MaskedReader:
    """An untrained network that fills gaps."""
    front = FRONTS[settings.front.kind].make(settings, {"source": text})
    encoder = ENCODERS[settings.encoder.kind].make(settings, settings.encoder)
    tied = front.embed if settings.tie_output else None
    head = FillingHead(settings.memory_width, text, tied, settings.head.transform, smoothing)
    network = MaskedReader(settings, front=front, encoder=encoder, head=head)
    network.masking = masking
    network.initialise()
    return network
