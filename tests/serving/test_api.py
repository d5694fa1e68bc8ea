"""What the explorer's page may ask, and what it is told when it asks wrongly."""

import json
import struct
import subprocess
import sys

import numpy as np
import pytest
from fastapi.testclient import TestClient

from seq2see.lens.edits import edits_of
from seq2see.serving import desk as desks
from seq2see.serving import work
from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk

EDITS = [
    {"kind": "off", "at": "decoder.*.cross", "heads": [0], "how": "zero"},
    {"kind": "off", "at": "decoder.*.cross", "how": "mean"},
    {"kind": "off", "at": "*", "how": "uniform"},
    {"kind": "off", "at": "*", "how": "first"},
    {"kind": "hard", "at": "*"},
    {"kind": "top", "at": "*", "count": 1},
    {"kind": "temperature", "at": "*", "value": 5},
    {"kind": "pin", "at": "*.cross", "step": 1, "places": [0, 2]},
    {"kind": "block", "at": "*.cross", "places": [1]},
    {"kind": "force", "step": 1, "token": "k"},
    {"kind": "source", "text": "bam"},
    {"kind": "borrow", "at": "*.cross", "text": "gulst"},
    {"kind": "borrow", "at": "decoder.1.cross", "model": "b", "from": "decoder.cross", "head": 0},
]


@pytest.fixture(scope="module")
def desk(runs, models):
    return Desk(
        {"a": (runs["transformer"], models["transformer"]), "b": (runs["recurrent"], models["recurrent"])},
        "dost",
    )


@pytest.fixture(scope="module")
def client(desk):
    return TestClient(explorer(desk, ["testserver"]))


def ask(client, **request):
    return client.post("/api/view", json={"text": "dost", **request})


def test_models_are_described(client):
    found = client.get("/api/models").json()
    assert [model["name"] for model in found["models"]] == ["a", "b"]
    assert found["example"] == "dost"
    addresses = {one["address"]: one for one in found["models"][0]["addresses"]}
    assert addresses["decoder.1.cross"] == {
        "address": "decoder.1.cross",
        "heads": 4,
        "rows": "target",
        "columns": "source",
    }
    assert addresses["decoder.0.self"]["columns"] == "target"
    assert addresses["encoder.0.self"]["rows"] == "source"


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_view_is_that_of_the_model(client, models, name):
    model = models["transformer" if name == "a" else "recurrent"]
    said = ask(client, model=name, beam=3).json()
    view = model.attention("dost", beam=3)
    assert said["output"] == view.output
    assert said["predicted"] == view.predicted
    assert [one["address"] for one in said["maps"]] == list(view.weights)
    assert {node["state"] for node in said["tree"]["nodes"]} >= {"best", "pruned"}
    for one in said["maps"]:
        for head in range(one["heads"]):
            weights = view.weights[one["address"]][head].numpy()
            place = f"/api/map/{said['id']}/{one['address']}/{head}"
            shown = np.frombuffer(client.get(place).content, np.uint8).reshape(one["shape"])
            np.testing.assert_allclose(shown / 255, weights, atol=0.51 / 255)
            row = np.frombuffer(client.get(f"{place}?row=1").content, "<f4")
            np.testing.assert_allclose(row, weights[1], atol=1e-6)


def test_thumbnails_are_small_and_summaries_whole(client, models):
    said = ask(client).json()
    answer = client.get(f"/api/thumbnails/{said['id']}/decoder.1.cross")
    assert answer.headers["X-Shape"] == "4,5,5"
    assert len(answer.content) == 100
    rollout = np.frombuffer(client.get(f"/api/summary/{said['id']}/rollout").content, "<f4").reshape(5, 5)
    np.testing.assert_allclose(rollout.sum(1), 1, atol=1e-5)
    for kind in ("gradient", "occlusion"):
        found = np.frombuffer(client.get(f"/api/summary/{said['id']}/{kind}").content, "<f4")
        expected = models["transformer"].attribution("dost", beam=1, kind=kind)
        np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=1e-4)


def test_every_edit_works_over_http_and_its_code_does_the_same(client, tmp_path):
    """What the page offers to copy gives what the page shows."""
    answers = [ask(client, edits=[edit]).json() for edit in EDITS]
    script = tmp_path / "copied.py"
    script.write_text(
        "\n".join(f"{said['code']}\nprint('#', view.effect.change, view.output)" for said in answers)
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    found = [line.split(" ", 2)[1:] for line in ran.stdout.splitlines() if line.startswith("# ")]
    assert [output for _, output in found] == [said["output"] for said in answers]
    for (change, _), said in zip(found, answers, strict=True):
        assert float(change) == pytest.approx(said["effect"]["change"], abs=1e-3)
        assert len(said["effect"]["kl"]) == len(said["effect"]["predicted"])


def test_attributions_follow_the_edits(client):
    said = ask(client, edits=[{"kind": "source", "text": "bam"}]).json()
    found = client.get(f"/api/summary/{said['id']}/occlusion")
    assert found.headers["X-Shape"] == f"{len(said['predicted'])},{len(said['source'])}"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"text": "x" * 100_000}, "text: String should have at most 4000 characters"),
        ({"text": ""}, "there is no text to look at"),
        ({"text": 3}, "text: Input should be a valid string"),
        ({"text": "\ud800"}, "text: Input should be a valid string, unable to parse"),
        ({"beam": 0}, "beam: Input should be greater than or equal to 1"),
        ({"beam": 10_000}, "beam: Input should be less than or equal to 16"),
        ({"bean": 3}, "bean: Extra inputs are not permitted"),
        ({"model": "c"}, "model: Input should be 'a' or 'b'"),
        ({"edits": [{"kind": "hard", "at": "*"}] * 5000}, "edits: Tuple should have at most 64 items"),
        ({"edits": [{"kind": "melt", "at": "*"}]}, "edits.0: Input tag 'melt'"),
        (
            {"edits": [{"kind": "hard", "at": "decoder.9.cross"}]},
            "no attention of this model is at 'decoder.9.cross'",
        ),
        ({"edits": [{"kind": "hard", "at": "*", "heads": [99]}]}, "there is no head 99"),
        ({"edits": [{"kind": "pin", "at": "*", "step": -1, "places": [0]}]}, "greater than or equal to 0"),
        ({"edits": [{"kind": "temperature", "at": "*", "value": 0}]}, "greater than 0"),
        ({"edits": [{"kind": "force", "step": 3000, "token": "k"}]}, "step 3000 is past the end"),
        ({"edits": [{"kind": "force", "step": 0, "token": 999_999}]}, "token 999999 cannot be forced"),
    ],
)
def test_wrong_questions_get_helpful_answers(client, request_, message):
    body = json.dumps({"text": "dost", **request_})
    answer = client.post("/api/view", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert message in answer.json()["detail"]


def test_what_is_not_there_is_named(client):
    name = ask(client).json()["id"]
    for place, code, message in [
        ("/api/map/0000/decoder.1.cross/0", 410, "ask for it again"),
        (f"/api/map/{name}/decoder.1.corss/0", 404, "did you mean 'decoder.1.cross'?"),
        (f"/api/map/{name}/decoder.1.cross/-1", 404, "numbered from 0 to 3"),
        (f"/api/map/{name}/decoder.1.cross/first", 404, "numbered from 0 to 3"),
        (f"/api/map/{name}/decoder.1.cross/0?row=-1", 422, "row: Input should be greater"),
        (f"/api/map/{name}/decoder.1.cross/0?row=99", 404, "this map has 5 rows"),
        (f"/api/summary/{name}/magic", 422, "kind: Input should be"),
        ("/web/passwd", 404, "no file 'passwd'"),
        ("/web/..%2F..%2Frun.py", 404, ""),
        ("/elsewhere", 404, "Not Found"),
    ]:
        answer = client.get(place)
        assert (answer.status_code, message in answer.json()["detail"]) == (code, True), place


def test_bytes_that_are_no_text_are_refused(client):
    headers = {"Content-Type": "application/json"}
    for content in (b'{"text": "\xff\xfe"}', b"{", b"[]", b"", struct.pack("8d", *range(8))):
        answer = client.post("/api/view", content=content, headers=headers)
        assert answer.status_code in (400, 422)
        assert answer.json()["detail"]
    answer = client.post("/api/view", content=b" " * 2_000_000, headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (413, "a request has 1,048,576 bytes at the most")


def test_only_its_own_page_may_ask(desk):
    """A page elsewhere that points its own name at this machine is turned away."""
    client = TestClient(explorer(desk, ["127.0.0.1"]), base_url="http://evil.example")
    assert client.get("/api/models").status_code == 400
    own = TestClient(explorer(desk, ["127.0.0.1"]), base_url="http://127.0.0.1")
    answer = own.get("/api/models")
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_views_are_bounded_in_size_and_number(desk, monkeypatch):
    client = TestClient(explorer(desk, ["testserver"]))
    names = [ask(client, text=text).json()["id"] for text in ("bam", "dost")]
    monkeypatch.setattr(desks, "_KEPT", 1)
    latest = ask(client, text="feir").json()["id"]
    assert [client.get(f"/api/map/{name}/decoder.1.cross/0").status_code for name in (*names, latest)] == [
        410,
        410,
        200,
    ]
    monkeypatch.setattr(work, "_LONGEST", 6)
    answer = ask(client, text="bambambam")
    assert answer.status_code == 422
    assert "10 tokens, and a view of this model shows 6 at the most" in answer.json()["detail"]
    assert len(ask(client, text="bamba").json()["predicted"]) <= 6


def test_edits_are_the_same_from_python_and_over_http():
    assert len(edits_of(EDITS)) == len(EDITS)
