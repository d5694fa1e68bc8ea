"""Makes the views that the page asks for, one at a time, and keeps the latest of them."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn.functional import adaptive_max_pool2d

from seq2see.errors import DataError, Seq2seeError, SettingsError
from seq2see.goals import Predictor
from seq2see.lens.blocks import blocks_of
from seq2see.lens.edits import Borrow, Edit
from seq2see.lens.page import described, map_of
from seq2see.lens.request import LensRequest
from seq2see.lens.view import View
from seq2see.lens.watchers import addresses_of
from seq2see.serving.gallery import MOST_UPLOADED, Gallery
from seq2see.serving.requests import CHARACTERS, EDITS, WIDEST, ViewAnswer, ViewRequest
from seq2see.serving.work import (
    MOST_WEIGHTS,
    longest_text,
    refuse_attribution,
    refuse_search,
    stoppable,
)
from seq2see.settings import near

__all__ = ["Desk", "ForgottenError", "MissingError"]

_KEPT = 8
"""Views that are remembered; a page needs two or three at a time."""
_SIDE = 48
"""Rows and columns of a thumbnail at the most."""


class ForgottenError(Seq2seeError):
    """A view that is not remembered any more."""


class MissingError(Seq2seeError):
    """Something that a view does not have."""


class Desk:
    """One or two models, a and b, and the latest views of them."""

    def __init__(
        self, models: dict[str, tuple[Path, Predictor]], example: str, gallery: Gallery | None = None
    ) -> None:
        self._models, self._example, self._gallery = models, example, gallery
        self._views: OrderedDict[str, tuple[ViewRequest, View]] = OrderedDict()
        self._keeping = threading.Lock()
        # One at a time: two cores are not faster with two searches, and memory stays bounded.
        self._turn = threading.Lock()
        self._closed = threading.Event()

    def close(self) -> None:
        """Give up all work, at the next layer of a network."""
        self._closed.set()

    def models(self) -> dict[str, Any]:
        """What there is to look at."""
        return {
            "models": [
                {
                    "name": name,
                    "run": str(run),
                    "about": _about(model),
                    "addresses": [map_of(at, heads) for at, heads in addresses_of(model.network).items()],
                    "features": model.recipe.data.features is not None,
                    "reads": model.recipe.model.encoder.kind != "none",
                    "writes": model.recipe.model.decoder is not None,
                    "attributions": list(model.attributions),
                    "images": model.recipe.data.images is not None,
                    "names": self._gallery.names if self._gallery is not None else [],
                    "blocks": list(blocks_of(model.network)),
                    "targets": list(model.facts.targets),
                }
                for name, (run, model) in self._models.items()
            ],
            "example": self._example,
            "limits": {"characters": CHARACTERS, "edits": EDITS, "beam": WIDEST, "upload": MOST_UPLOADED},
        }

    def upload(self, name: str, data: bytes) -> str:
        """Keep an image that the page sent; gives the name that it goes by."""
        if self._gallery is None:
            raise SettingsError("the model here reads texts, not images; type one instead")
        return self._gallery.upload(name, data)

    def view(self, request: ViewRequest, gone: threading.Event | None = None) -> ViewAnswer:
        """Look, and remember what was seen; work ends early when the asker has `gone`."""
        run, model = self._model(request.model)
        donor = self._donor(model, request.edits)
        self._refuse_long(model, request, donor)
        with self._working(gone):
            view = model.look(self._asked(model, request, donor), request.edits, donor)
            view = view.in_words() if request.words else view
        name = hashlib.sha256(request.model_dump_json().encode()).hexdigest()[:16]
        with self._keeping:
            self._views[name] = request, view
            self._views.move_to_end(name)
            while len(self._views) > 1 and (len(self._views) > _KEPT or self._held() > 3 * MOST_WEIGHTS):
                self._views.popitem(last=False)
        answer = {"id": name, "code": self._code(run, request), **described(view)}
        return ViewAnswer.model_validate(answer)

    def weights(self, name: str, address: str, head: str) -> Tensor:
        """The map of one head, or of all heads averaged, (T, S)."""
        found = self._weights(name, address)
        if head == "mean":
            return found.mean(0)
        if not head.isdecimal() or int(head) >= len(found):
            raise MissingError(
                f"{address} has no head {head[:20]!r}: they are numbered from 0 to {len(found) - 1}"
            )
        return found[int(head)]

    def thumbnails(self, name: str, address: str) -> Tensor:
        """All heads of an attention, each reduced to a small map of maxima, (H, T, S)."""
        found = self._weights(name, address)
        rows, columns = (min(_SIDE, size) for size in found.shape[1:])
        return adaptive_max_pool2d(found[None], (rows, columns))[0]

    def summary(self, name: str, kind: str, gone: threading.Event | None = None) -> Tensor:
        """Rollout through all layers, or an attribution of the output to the source, (T, S)."""
        request, view = self._view(name)
        if kind == "rollout":
            try:
                return view.rollout()
            except ValueError as error:
                raise MissingError(str(error)) from None
        _, model = self._model(request.model)
        if request.words:
            raise SettingsError("attributions are measured token by token; switch words off to see them")
        refuse_attribution(model, kind, len(view.source), len(view.predicted))
        donor = self._donor(model, request.edits)
        with self._working(gone):
            return model.attribute(self._asked(model, request, donor), kind, request.edits, donor)

    @contextmanager
    def _working(self, gone: threading.Event | None) -> Iterator[None]:
        """A turn at the models, which ends when the asker is gone or the desk is closed."""
        stops = [self._closed, *([gone] if gone is not None else [])]
        while not self._turn.acquire(timeout=0.1):
            with stoppable([], stops):
                pass
        try:
            with stoppable([model.network for _, model in self._models.values()], stops):
                yield
        finally:
            self._turn.release()

    def _donor(self, model: Predictor, edits: tuple[Edit, ...]) -> Predictor | None:
        """The other model, where an edit borrows from it."""
        names = {edit.model for edit in edits if isinstance(edit, Borrow) and edit.model is not None}
        others = [lender for name in names if (lender := self._model(name)[1]) is not model]
        return others[0] if others else None

    def _model(self, name: str) -> tuple[Path, Predictor]:
        if name not in self._models:
            raise SettingsError(f"there is no model {name!r} here; start the explorer with a second run")
        return self._models[name]

    def _refuse_long(self, model: Predictor, request: ViewRequest, donor: Predictor | None) -> None:
        longest = longest_text(model, request.edits, donor)
        texts = [request.text, *(text for edit in request.edits if (text := getattr(edit, "text", None)))]
        most = model.most_tokens(texts, request.features, request.target)
        if most > longest:
            raise DataError(
                f"this text has {most:,} tokens, and a view of this model shows {longest:,} at the most; "
                "look at a part of it"
            )
        refuse_search(model, request.edits, donor, most, request.beam)

    def _asked(self, model: Predictor, request: ViewRequest, donor: Predictor | None) -> LensRequest:
        """What a request wants to look at, within bounds."""
        longest = longest_text(model, request.edits, donor)
        read = self._gallery.read if self._gallery is not None else None
        return LensRequest(
            request.text, request.features, request.target, request.beam, longest, read, request.into
        )

    def _view(self, name: str) -> tuple[ViewRequest, View]:
        with self._keeping:
            if name not in self._views:
                raise ForgottenError("this view is not remembered any more; ask for it again")
            self._views.move_to_end(name)
            return self._views[name]

    def _weights(self, name: str, address: str) -> Tensor:
        _, view = self._view(name)
        if address not in view.weights:
            raise MissingError(f"there is no attention {address!r}; {near(address, view.weights)}")
        return view.weights[address]

    def _held(self) -> int:
        return sum(found.numel() for _, view in self._views.values() for found in view.weights.values())

    def _code(self, run: Path, request: ViewRequest) -> str:
        """Python that does the same."""
        kinds = sorted({type(edit).__name__ for edit in request.edits})
        options = [repr(self._gallery.source(request.text) if self._gallery is not None else request.text)]
        named = {name: getattr(request, name) for name in ("target", "features", "into")}
        options += [f"{name}={value!r}" for name, value in named.items() if value]
        if self._model(request.model)[1].recipe.model.decoder is not None:
            options.append(f"beam={request.beam}")
        if request.edits:
            listed = "".join(f"    {_call(edit)},\n" for edit in request.edits)
            options.append(f"edits=[\n{listed}]")
        lends = any(isinstance(edit, Borrow) and edit.model == "b" for edit in request.edits)
        donor = [f"donor = seq2see.load({str(self._models['b'][0])!r})"] if lends else []
        options += ["donor=donor"] if lends else []
        return "\n".join(
            [
                "import seq2see",
                *([f"from seq2see.lens.edits import {', '.join(kinds)}"] if kinds else []),
                "",
                f"model = seq2see.load({str(run)!r})",
                *donor,
                f"view = model.attention({', '.join(options)})",
                *(["view = view.in_words()"] if request.words else []),
                "print(view.output, view.log_probability)",
                *(["print(view.effect)"] if request.edits else []),
            ]
        )


def _call(edit: Edit) -> str:
    """An edit as it is written in Python."""
    given = {name: getattr(edit, name) for name in type(edit).model_fields if name not in ("kind", "model")}
    defaults = {name: field.default for name, field in type(edit).model_fields.items()}
    said = [f"{name}={value!r}" for name, value in given.items() if value != defaults[name]]
    return f"{type(edit).__name__}({', '.join(said)})"


def _about(model: Predictor) -> str:
    """A model in a few words."""
    settings = model.recipe.model
    writes = f" to {settings.decoder.kind}" if settings.decoder is not None else f", to {model.recipe.goal}"
    reads = settings.encoder.kind if settings.encoder.kind != "none" else "no encoder"
    count = sum(parameter.numel() for parameter in model.network.parameters())
    weights = f"{count / 1e6:.1f} M" if count >= 100_000 else f"{count:,}"
    return f"{reads}{writes}, width {settings.width}, {weights} weights"
