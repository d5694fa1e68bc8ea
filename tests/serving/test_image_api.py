"""What the explorer's server says about images: bounded, by names of its own, in memory alone."""

import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from seq2see.data import Pair
from seq2see.data.shapes import draw
from seq2see.errors import DataError
from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk
from seq2see.serving.gallery import MOST_UPLOADED, Gallery

RAW = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def folder(image_runs) -> Path:
    """The images that the runs were trained on."""
    return image_runs["vit"].parent / "kinds"


@pytest.fixture
def client(image_runs, image_models, folder) -> TestClient:
    """A server of a model that tells classes, and of the images of a folder."""
    gallery = Gallery(
        [Pair(1, f"{folder}//circle/00.png", "", ""), Pair(2, f"{folder}//cross/01.png", "", "")]
    )
    desk = Desk({"a": (image_runs["vit"], image_models["vit"])}, "circle/00.png", gallery)
    return TestClient(explorer(desk, ["127.0.0.1"]), base_url="http://127.0.0.1")


def _png(size: tuple[int, int] = (20, 20)) -> bytes:
    file = BytesIO()
    Image.new("RGB", size, "red").save(file, "PNG")
    return file.getvalue()


def _says_it_is_huge() -> bytes:
    """A small file whose header speaks of 30,000 x 30,000 pixels."""
    png = _png()
    header = b"IHDR" + struct.pack(">II", 30_000, 30_000) + png[24:29]
    return png[:12] + header + struct.pack(">I", zlib.crc32(header)) + png[33:]


def test_images_of_the_set_are_named_and_looked_at(client, folder, image_models):
    told = client.get("/api/models").json()
    assert told["models"][0]["images"] and told["models"][0]["names"] == ["circle/00.png", "cross/01.png"]
    found = client.post("/api/view", json={"text": "cross/01.png"}).json()
    assert found["output"] == image_models["vit"](str(folder / "cross" / "01.png"))
    assert found["picture"]["image"].startswith("data:image/png;base64,")
    assert f"model.attention('{folder}//cross/01.png')" in found["code"]
    summary = client.get(f"/api/summary/{found['id']}/occlusion")
    assert summary.headers["X-Shape"] == f"1,{len(found['source'])}"


@pytest.mark.parametrize(
    "name", ["../vit/weights.safetensors", "/etc/passwd", "circle/01.png", "task:shapes//red circle 8 8 4"]
)
def test_no_other_file_can_be_named(client, folder, name):
    for text in (name, str(folder / name)):
        said = client.post("/api/view", json={"text": text})
        assert said.status_code == 422 and "there is no image" in said.json()["detail"]
    said = client.post(
        "/api/view", json={"text": "cross/01.png", "edits": [{"kind": "source", "text": name}]}
    )
    assert said.status_code == 422


def test_an_uploaded_image_goes_by_a_name_of_its_own(client):
    sent = client.post("/api/image", params={"name": "../../x.png"}, content=_png(), headers=RAW)
    name = sent.json()["name"]
    assert name.startswith("upload:") and name.endswith("/../../x.png")
    assert client.post("/api/view", json={"text": name}).status_code == 200
    again = client.post("/api/image", params={"name": "../../x.png"}, content=_png(), headers=RAW)
    assert again.json()["name"] == name
    for side in range(21, 30):  # only the latest are kept
        client.post("/api/image", params={"name": "y.png"}, content=_png((side, 4)), headers=RAW)
    said = client.post("/api/view", json={"text": name})
    assert said.status_code == 422 and "choose the file again" in said.json()["detail"]


def test_bad_uploads_are_refused_with_a_sentence(client):
    def refused(content: bytes, code: int, sentence: str, **options) -> None:
        said = client.post("/api/image", params={"name": "a.png"}, content=content, headers=RAW, **options)
        assert said.status_code == code and sentence in said.json()["detail"]

    refused(b"", 422, "is no image")
    refused(_png()[:60], 422, "is damaged or cut short")
    refused(_says_it_is_huge(), 422, "pixels")
    refused(b"<svg xmlns='http://www.w3.org/2000/svg'/>", 422, "is no image")
    refused(b"0" * (MOST_UPLOADED + 1), 413, f"{MOST_UPLOADED:,} bytes")
    said = client.post("/api/image", params={"name": "a.png"}, content=_png())
    assert said.status_code == 415
    assert client.post("/api/image", content=_png(), headers=RAW).status_code == 422
    assert client.post("/api/view", content=b"0" * (1 << 20 | 1)).status_code == 413


def test_a_model_of_texts_takes_no_images(reader_runs, readers):
    desk = Desk({"a": (reader_runs["classes"], readers["classes"])}, "")
    client = TestClient(explorer(desk, ["127.0.0.1"]), base_url="http://127.0.0.1")
    said = client.post("/api/image", params={"name": "a.png"}, content=_png(), headers=RAW)
    assert said.status_code == 422 and "reads texts" in said.json()["detail"]
    assert client.get("/api/models").json()["models"][0]["images"] is False


def test_scenes_can_be_written_where_they_are_drawn():
    gallery = Gallery([], draws=True)
    scene = "red circle 8 24 6"
    assert gallery.read(scene).tobytes() == draw(scene).tobytes()
    assert gallery.source(scene) == f"task:shapes//{scene}"
    with pytest.raises(DataError, match="is no scene"):
        gallery.read("/etc/passwd")
