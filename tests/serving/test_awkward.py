"""Nothing that the page can ask, however awkward its state is, fails inside the server."""

import json
from itertools import product

import pytest
from fastapi.testclient import TestClient

from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk

TEXTS = ["dost", "A😀", " ", "", "x" * 90, "a<!-- <script>b", "two  words\t", "\u2028\u202e\ud83d"]
PLACES = [[0], [99], [0, 0, 7], []]
ADDRESSES = ["decoder.1.cross", "decoder.cross", "encoder.0.self", "head.pool", "decoder.9.cross", "*", "["]
EDITS = [
    *({"kind": "off", "at": at, "how": how} for at in ADDRESSES for how in ("zero", "mean")),
    *({"kind": "hard", "at": at, "heads": heads} for at in ADDRESSES for heads in (None, [0], [9])),
    *({"kind": "top", "at": "*", "count": count} for count in (1, 10**6, 0)),
    *({"kind": "temperature", "at": "*", "value": value} for value in (1e-6, 1000, 0, "nan")),
    *({"kind": "pin", "at": "*", "step": step, "places": places} for step in (0, 99) for places in PLACES),
    *({"kind": "block", "at": "*", "places": places} for places in PLACES),
    *(
        {"kind": "force", "step": step, "token": token}
        for step in (0, 1, 99)
        for token in (0, 2, 5, 10**6, -1)
    ),
    *({"kind": "source", "text": text} for text in TEXTS),
    *(
        {"kind": "borrow", "at": at, "model": model, "from": origin, "head": head, "text": text}
        for at in ("*", "decoder.1.cross", "encoder.0.self")
        for model in (None, "b")
        for origin, head, text in ((None, None, "A" * 40), ("decoder.cross", 0, None), ("head.pool", 9, None))
    ),
]
PAIRS = [
    ("transformer", "recurrent"),
    ("recurrent", "bottleneck"),
    ("transformer", "classes"),
    ("tags", "counts"),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_no_awkward_state_fails_inside(pair, runs, models, reader_runs, readers):
    places, loaded = {**runs, **reader_runs}, {**models, **readers}
    desk = Desk({name: (places[one], loaded[one]) for name, one in zip("ab", pair, strict=True)}, "dost")
    client = TestClient(explorer(desk, ["testserver"]), raise_server_exceptions=False)
    requests = [{"model": model, "text": "dost", "edits": [edit]} for model, edit in product("ab", EDITS)]
    for number, (model, text, target) in enumerate(product("ab", TEXTS, (None, "", "k 😀"))):
        more = {"target": target, "beam": 1 + number % 3, "words": number % 2 == 0}
        requests.append({"model": model, "text": text, **more})
    codes = {asked(client, request, number % 5 == 0) for number, request in enumerate(requests)}
    assert codes == {200, 422}


def asked(client: TestClient, request: dict[str, object], whole: bool) -> int:
    """The answer to a request; and, if `whole`, to all that the page then asks about the view."""
    body = json.dumps(request)
    answer = client.post("/api/view", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code < 500, request
    if whole and answer.status_code == 200:
        view = answer.json()
        paths = [f"summary/{view['id']}/{kind}" for kind in ("rollout", "gradient", "occlusion")]
        for one in view["maps"][:2]:
            paths += [f"map/{view['id']}/{one['address']}/{head}" for head in ("mean", "0", "0?row=0", "77")]
            paths.append(f"thumbnails/{view['id']}/{one['address']}")
        for path in paths:
            assert client.get(f"/api/{path}").status_code < 500, (request, path)
    return answer.status_code
