"""The explorer opens no strange files, answers to no strange names, and ends when it is told to."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seq2see.cli.explore import _example
from seq2see.goals import load

Command = Any


@pytest.fixture
def explorer(trained: Path, request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """An explorer that anyone can reach, and its port."""
    command = [sys.executable, "-m", "seq2see", "explore", str(trained), "--no-browser", "--port", "0"]
    with subprocess.Popen([*command, "--host", "0.0.0.0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        yield process, int(line.split()[4].rsplit(":", 1)[1].strip("/"))
        process.kill()


def ask(port: int, method: str, place: str, body: object = None, host: str = "127.0.0.1") -> tuple[int, Any]:
    """The status and the answer of a request."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as asked:
        headers = {"Host": host, "Content-Type": "application/json"}
        asked.request(method, place, json.dumps(body) if body is not None else None, headers)
        answer = asked.getresponse()
        return answer.status, answer.read()


def test_a_slow_body_does_not_keep_it_alive(explorer: tuple[subprocess.Popen[str], int]) -> None:
    process, port = explorer
    assert ask(port, "GET", "/api/models", host="evil.example")[0] == 400
    assert ask(port, "GET", "/api/models", host=socket.gethostname())[0] == 200
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"POST /api/view HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(8) == 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_work_ends_with_its_client_and_with_the_explorer(explorer: tuple[subprocess.Popen[str], int]) -> None:
    process, port = explorer
    _, answer = ask(port, "POST", "/api/view", {"text": "bam" * 133, "target": "m a b " * 133})
    place = f"/api/summary/{json.loads(answer)['id']}/gradient"
    with _asking(port, place):
        time.sleep(0.5)
    began = time.monotonic()
    assert ask(port, "POST", "/api/view", {"text": "dost"})[0] == 200
    assert time.monotonic() - began < 3
    with _asking(port, place):
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    assert time.monotonic() - began < 6
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def _asking(port: int, place: str) -> socket.socket:
    """A client that has asked and does not wait."""
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(f"GET {place} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return client


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "regular"])
def test_an_example_comes_from_a_regular_file(trained: Path, tmp_path: Path, kind: str) -> None:
    run = shutil.copytree(trained, tmp_path / "run")
    os.mkfifo(tmp_path / "pipe")
    recipe = (run / "recipe.yaml").read_text()
    data = str(trained.parent / "pairs.tsv")
    other = {"pipe": str(tmp_path / "pipe"), "regular": data}.get(kind, kind)
    (run / "recipe.yaml").write_text(recipe.replace(data, other))
    (run / "digests.json").unlink()
    model, found = load(run, "cpu"), []
    reader = threading.Thread(target=lambda: found.append(_example(model)), daemon=True)
    reader.start()
    reader.join(3)
    assert found == ["bam" if kind == "regular" else ""]


def test_no_port_lies_beyond_the_last(seq2see: Command, trained: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 65535))
        taken.listen()
        said = seq2see("explore", trained, "--port", 65535, "--no-browser")
    assert said.code == 2
    assert "no server can listen at 127.0.0.1, port 65535" in said.err
