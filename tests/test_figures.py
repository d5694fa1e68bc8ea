"""Figures for files."""

import re
import struct

import pytest

from seq2see.figures import line_figure

SERIES = {
    "rnn": [("1-5", [90.0, 80.0]), ("6-10", [40.0, 20.0])],
    "transformer": [("1-5", [95.0]), ("6-10", [94.0]), ("11-15", [93.0])],
}


def drawn(**changes):
    """The figure as text, with some of it changed."""
    given = {"series": SERIES, "title": "copying", "across": "source length", "up": "exact (%)"} | changes
    return line_figure(**given, kind="svg").decode()


def test_the_same_figure_is_the_same_file():
    """A5: drawn twice, a figure has the same bytes; with other numbers it has others."""
    assert drawn() == drawn()
    assert "<dc:date>" not in drawn()
    assert drawn(series={"rnn": [("1-5", [91.0])]}) != drawn(series={"rnn": [("1-5", [90.0])]})


@pytest.mark.parametrize("count", [1, 2, 9])
def test_one_line_and_one_band_for_each_series(count):
    """A5: each series has a line of its own, with its name, and a band over the seeds."""
    series = {f"model {number}": [("1", [number, number + 1]), ("2", [3.0])] for number in range(count)}
    text = drawn(series=series)
    assert len(re.findall(r'id="FillBetweenPolyCollection_\d+"|id="PolyCollection_\d+"', text)) == count
    legend = text[text.index('id="legend_1"') :]
    assert [f"model {number}" in legend for number in range(count)] == [True] * count


def test_the_line_goes_through_the_means(monkeypatch):
    """A5: a point is the mean of its repetitions, at the place of its label; the band spans them."""
    from matplotlib.axes import Axes

    lines, bands = [], []
    plot, fill = Axes.plot, Axes.fill_between

    def watched_plot(axes, *values, **options):
        lines.append((*values, options["label"]))
        return plot(axes, *values, **options)

    def watched_fill(axes, *values, **options):
        bands.append(values)
        return fill(axes, *values, **options)

    monkeypatch.setattr(Axes, "plot", watched_plot)
    monkeypatch.setattr(Axes, "fill_between", watched_fill)
    drawn()
    assert lines == [([0, 1], [85, 30], "rnn"), ([0, 1, 2], [95, 94, 93], "transformer")]
    assert bands == [([0, 1], [80, 20], [90, 40]), ([0, 1, 2], [95, 94, 93], [95, 94, 93])]


def test_a_png_has_a_size_and_some_ink():
    """A5: the picture is a PNG of a thousand pixels and more across, and it is not blank."""
    import io

    from matplotlib.image import imread

    picture = line_figure(SERIES, "copying", "source length", "exact (%)")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == (1050, 630)
    colours = {
        tuple(pixel) for row in imread(io.BytesIO(picture))[::7, ::7] for pixel in row.round(2).tolist()
    }
    assert len(colours) > 5
