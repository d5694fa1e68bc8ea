"""No request makes work without end, and no work outlives those who wait for it."""

import threading
import time

import pytest
from fastapi.testclient import TestClient

from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk
from seq2see.serving.requests import ViewRequest


@pytest.fixture
def desk(runs, models):
    return Desk(
        {"a": (runs["transformer"], models["transformer"]), "b": (runs["recurrent"], models["recurrent"])},
        "dost",
    )


@pytest.fixture
def client(desk):
    return TestClient(explorer(desk, ["testserver"]))


def borrowing(count, length):
    """Edits that borrow from texts which all differ."""
    return [{"kind": "borrow", "at": "*.cross", "text": "b" * (length - n)} for n in range(count)]


def test_what_edits_borrow_is_counted(client):
    """Each text that lends weights needs maps of its own."""
    answer = client.post("/api/view", json={"text": "b" * 900, "target": "a", "edits": borrowing(24, 900)})
    assert answer.status_code == 422
    assert "look at a part of it" in answer.json()["detail"]
    assert client.post("/api/view", json={"text": "b" * 900, "target": "a"}).status_code == 200


def test_a_lender_is_asked_once_for_each_text(models, monkeypatch):
    from seq2see.lens import text_lens
    from seq2see.lens.edits import edits_of

    passes = []
    known = text_lens.teacher_force
    monkeypatch.setattr(text_lens, "teacher_force", lambda *given: passes.append(1) or known(*given))
    edits = edits_of([{"kind": "borrow", "at": "*.cross", "text": "bam"}] * 20)
    models["transformer"].attention("dost", edits=edits)
    assert len(passes) == 4  # plain, lent, edited, and the plain output again


@pytest.mark.parametrize("address", ["decoder.1.cross", "decoder.*", "*"])
def test_what_the_lender_lacks_is_named(client, address):
    edits = [{"kind": "borrow", "at": address, "model": "b"}]
    answer = client.post("/api/view", json={"text": "dost", "edits": edits})
    assert answer.status_code == 422
    assert "the lender has no attention at" in answer.json()["detail"]


def test_searches_are_counted(client):
    """Every forced token is a further search."""
    forces = [{"kind": "force", "step": 0, "token": "k"}] * 64
    small = client.post("/api/view", json={"text": "dost", "edits": forces})
    assert small.status_code == 200
    large = client.post("/api/view", json={"text": "b" * 500, "beam": 10, "edits": forces})
    assert large.status_code == 422
    assert "this would take too long (66 searches" in large.json()["detail"]


def test_an_attribution_without_end_is_refused(client):
    text, target = "b" * 1000, "k " * 900
    view = client.post("/api/view", json={"text": text, "target": target}).json()
    for kind in ("occlusion", "gradient"):
        began = time.perf_counter()
        answer = client.get(f"/api/summary/{view['id']}/{kind}")
        assert answer.status_code == 422
        assert "look at a part of the text" in answer.json()["detail"]
        assert time.perf_counter() - began < 1


def test_work_ends_with_those_who_wait_for_it(desk):
    view = desk.view(ViewRequest(text="b" * 400, target="k " * 400))
    gone, found = threading.Event(), []

    def work():
        try:
            desk.summary(view.id, "occlusion", gone)
        except Exception as error:
            found.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    time.sleep(0.3)
    gone.set()
    worker.join(2)
    assert not worker.is_alive()
    assert "nobody waits" in str(found[0])
    assert desk.view(ViewRequest(text="dost")).output  # the next one gets its turn


def test_maps_come_while_another_view_is_made(desk):
    view = desk.view(ViewRequest(text="dost"))
    with desk._turn:
        found = []
        reader = threading.Thread(
            target=lambda: found.append(desk.weights(view.id, "decoder.1.cross", "0")), daemon=True
        )
        reader.start()
        reader.join(2)
        assert found
    desk.close()
    with pytest.raises(Exception, match="nobody waits"):
        desk.view(ViewRequest(text="bam"))


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("1.2.3.4.evil.example", 400),
        ("mine.example", 200),
        ("MINE.example.", 200),
        ("localhost:8264", 200),
        ("192.168.0.7:8264", 200),
        ("[::1]:8264", 200),
        ("[::1", 200),
        ("", 400),
    ],
)
def test_only_addresses_and_own_names_are_answered(desk, host, code):
    """A page elsewhere may give this machine a name of its own, but no address."""
    client = TestClient(explorer(desk, ["mine.example"]))
    answer = client.get("/api/models", headers={"Host": host})
    assert answer.status_code == code
    assert code == 200 or "--allow-host" in answer.json()["detail"]
