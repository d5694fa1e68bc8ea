"""The explorer's page under random hands, in short; `benchmarks/explorer_fuzz.py` does it at length."""

import subprocess
import sys
from pathlib import Path

from browser import needs_chromium

pytestmark = needs_chromium


def test_whatever_is_done_header_picture_status_and_server_agree(runs):
    command = [sys.executable, "-m", "benchmarks.explorer_fuzz", runs["transformer"], runs["recurrent"]]
    options = ["--seeds", "1", "--actions", "30"]
    ran = subprocess.run(
        [*command, *options], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
