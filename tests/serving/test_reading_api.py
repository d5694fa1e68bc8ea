"""What the explorer's page may ask of models that do not write: never a failure, always a sentence."""

import itertools

import numpy as np
import pytest
from fastapi.testclient import TestClient
from reading_runs import READ

from seq2see.lens.edits import edits_of
from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk

EDITS = [
    {"kind": "off", "at": "*", "how": how} for how in ("zero", "mean", "uniform", "first")
] + [
    {"kind": "hard", "at": "*"},
    {"kind": "top", "at": "*", "count": 1},
    {"kind": "temperature", "at": "*", "value": 5},
    {"kind": "pin", "at": "*", "step": 0, "places": [0, 2]},
    {"kind": "block", "at": "*", "places": [0]},
    {"kind": "source", "text": "blue new"},
    {"kind": "borrow", "at": "*", "text": "green old"},
]  # fmt: skip
REFUSED = [
    {"kind": "force", "step": 0, "token": 4},
    {"kind": "off", "at": "decoder.0.cross"},
    {"kind": "borrow", "at": "*", "model": "b"},
    {"kind": "borrow", "at": "*", "from": "nowhere"},
]
BLIND = ("cut", "counts", "letters")


@pytest.fixture(scope="module")
def clients(reader_runs, readers, runs, models):
    """A client for each reader; the second model of each desk is one that writes."""
    other = (runs["transformer"], models["transformer"])
    desks = {name: Desk({"a": (reader_runs[name], readers[name]), "b": other}, READ[name]) for name in READ}
    return {name: TestClient(explorer(desk, ["testserver"])) for name, desk in desks.items()}


def ask(client, name, **request):
    return client.post("/api/view", json={"text": READ[name], **request})


@pytest.mark.parametrize("name", READ)
def test_models_say_what_can_be_asked_of_them(clients, readers, name):
    model, other = clients[name].get("/api/models").json()["models"]
    assert (model["writes"], other["writes"]) == (False, True)
    assert model["attributions"] == list(readers[name].attributions)
    assert readers[name].recipe.goal in model["about"]
    assert bool(model["addresses"]) == (name not in BLIND)


@pytest.mark.parametrize("name", READ)
def test_everything_can_be_looked_at(clients, readers, name):
    client, model = clients[name], readers[name]
    found = ask(client, name).json()
    view = model.attention(READ[name])
    assert (found["kind"], found["output"], found["note"]) == (view.kind, view.output, view.note)
    assert found["predicted"] == view.predicted and found["tree"] is None
    for one, head in itertools.product(found["maps"], ("mean", "0")):
        answer = client.get(f"/api/map/{found['id']}/{one['address']}/{head}")
        assert answer.headers["X-Shape"] == ",".join(map(str, one["shape"]))
        assert client.get(f"/api/thumbnails/{found['id']}/{one['address']}").status_code == 200
    for kind in ("gradient", "occlusion"):
        answer = client.get(f"/api/summary/{found['id']}/{kind}")
        if kind in model.attributions:
            shown = np.frombuffer(answer.content, "<f4").reshape(len(view.predicted), len(view.source))
            np.testing.assert_allclose(shown, model.attribution(READ[name], kind=kind).numpy(), atol=1e-5)
        else:
            assert answer.status_code == 422 and "kind=occlusion" in answer.json()["detail"]
    rollout = client.get(f"/api/summary/{found['id']}/rollout")
    assert rollout.status_code == (200 if "encoder.0.self" in view.weights else 404)


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit['kind']} {edit.get('how', '')}")
def test_edits_work_or_are_refused(clients, readers, name, edit):
    client = clients[name]
    answer = ask(client, name, edits=[edit])
    if name in BLIND and "at" in edit:
        assert answer.status_code == 422 and "no attention" in answer.json()["detail"]
        return
    found = answer.json()
    view = readers[name].attention(READ[name], edits=list(edits_of([edit])))
    assert (found["output"], found["effect"]["change"]) == (view.output, view.effect.change)
    assert client.get(f"/api/summary/{found['id']}/occlusion").status_code == 200
    scope: dict[str, object] = {}
    exec(found["code"], scope)
    assert scope["view"].output == found["output"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["classes", "number", "tags", "counts"])
@pytest.mark.parametrize(
    "request_",
    [{"edits": [edit]} for edit in REFUSED] + [{"target": "a"}, {"text": " "}, {"text": "x" * 3000}],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(clients, name, request_):
    answer = ask(clients[name], name, **request_)
    if answer.status_code == 200:  # one long word is one token
        assert "x" in request_["text"] and name != "number"
        return
    assert answer.status_code == 422 and len(answer.json()["detail"]) > 20


def test_a_reader_lends_nothing_to_a_writer(clients):
    edit = {"kind": "borrow", "at": "*.cross", "model": "a"}
    answer = clients["classes"].post("/api/view", json={"text": "dost", "model": "b", "edits": [edit]})
    assert answer.status_code == 422 and "cannot lend weights" in answer.json()["detail"]


@pytest.mark.parametrize("name", READ)
def test_words_and_beams_do_no_harm(clients, name):
    found = ask(clients[name], name, words=True, beam=4).json()
    assert found["output"] == ask(clients[name], name).json()["output"]
    answer = clients[name].get(f"/api/summary/{found['id']}/occlusion")
    assert answer.status_code == 422 and "switch words off" in answer.json()["detail"]
