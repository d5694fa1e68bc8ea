"""The consensus of captions with several references for each image."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import SettingsError
from seq2see.evaluation.outcomes import Captions

__all__ = ["CIDER_NEEDS", "consensus", "has_cider"]

CIDER_NEEDS = "CIDEr is worked out by pycocoevalcap, which is not installed; pip install 'seq2see[captions]'"


def has_cider(captions: Captions | None = None) -> bool:
    """Whether CIDEr can be worked out here."""
    return find_spec("pycocoevalcap") is not None


def consensus(captions: Captions) -> NDArray[np.floating[Any]]:
    """CIDEr of each caption, and 1: (examples, 2).

    How rare an n-gram is follows from the references of all images ("CIDEr: Consensus-based Image Description
    Evaluation", Vedantam et al. 2015).
    """
    try:
        from pycocoevalcap.cider.cider import Cider
    except ImportError:
        raise SettingsError(CIDER_NEEDS) from None
    rows = captions.compared().examples
    scores: Any = np.zeros(len(rows))
    if any(reference for one in rows for reference in one.references):
        references = {place: list(one.references) for place, one in enumerate(rows)}
        _, scores = Cider().compute_score(references, {place: [one.output] for place, one in enumerate(rows)})
    return np.stack([scores, np.ones(len(rows))], 1)
