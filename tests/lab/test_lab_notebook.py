"""The notebook of the lab runs from its first cell to its last."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs" / "lab.ipynb"


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    assert cells and not any(cell.outputs or cell.execution_count for cell in cells)


@pytest.mark.filterwarnings("default")  # those of Jupyter are not ours
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQ2SEE_LAB_SIZE", "tiny")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ())]
    verdicts = [data["text/plain"] for data in shown if "The claim" in data.get("text/plain", "")]
    assert len(verdicts) == 5 and all("holds here" in verdict for verdict in verdicts)
    assert sum("image/png" in data for data in shown) == 4
    assert "does not hold" in str([data.get("text/plain") for data in shown])
    assert (tmp_path / "runs" / "lab" / "worked" / "worked.html").exists()
