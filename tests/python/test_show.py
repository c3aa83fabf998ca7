"""What notebooks show, and the tutorial notebook."""

import json
import linecache
import os

import numpy as np
import pytest

import op2jit
from op2jit import RW

ROOT = os.environ["OP2JIT_ROOT"]


def test_objects_are_tables(running):
    cells, points = op2jit.Set(2, "cells"), op2jit.Set(4, "points")
    corners = op2jit.Map(cells, points, [[0, 1, 2], [1, 2, 3]], "corners")
    x = op2jit.Dat(points, np.arange(8.0).reshape(4, 2), name="x<y")
    g, c = op2jit.Global(2.5, name="g"), op2jit.Const("c", 3)
    for thing, words in [(cells, "elements"), (corners, "arity"), (x, "x&lt;y"), (g, "2.5"), (c, "3")]:
        html = thing._repr_html_()
        assert html.startswith("<table>") and words in html and html.count("<tr>") == html.count("</tr>")
    assert [repr(thing) for thing in (cells, corners, g)] == [
        "<Set cells: 2 elements>", "<Map corners: 3 of points for each of cells>", "<Global g: 2.5>",
    ]  # fmt: skip
    assert "float64 on each of points" in repr(x) and "7" in x._repr_html_()


def test_report_is_of_the_last_run():
    with op2jit.runtime(diags=0):
        s = op2jit.Set(10)
        x = op2jit.Dat(s)

        @op2jit.kernel
        def counted(x):
            x[0] += 1

        for _ in range(4):
            op2jit.par_loop(counted, s, x(RW))
        assert op2jit.report().data["loops"][0]["calls"] == 4
        op2jit.par_loop(counted, s, x(RW))
    rows = op2jit.report().data["loops"]
    assert [(row["name"], row["calls"]) for row in rows] == [("counted", 5)]
    text = repr(op2jit.report())
    assert "counted  5" in text and "GB/s" in text and "counted" in op2jit.report()._repr_html_()


def test_plot(running):
    pytest.importorskip("matplotlib", reason="matplotlib is missing; ./dev test --with python installs it")
    import matplotlib.pyplot as pyplot

    points = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1.0]])
    nodes, cells = op2jit.Set(6), op2jit.Set(2)
    quads = op2jit.Map(cells, nodes, [[0, 1, 4, 3], [1, 2, 5, 4]])
    x = op2jit.Dat(nodes, points)
    of_cells, of_nodes = op2jit.Dat(cells, [1.0, 2.0], name="c"), op2jit.Dat(nodes, np.arange(6.0))
    axes = op2jit.plot(of_cells, x, quads)
    assert list(axes.collections[0].get_array()) == [1, 2] and len(axes.collections[0].get_paths()) == 2
    axes = op2jit.plot(of_nodes, x, quads, cmap="viridis")
    assert len(axes.collections[0]._triangulation.triangles) == 4
    axes = op2jit.plot([1.0, 2.0], points, [[0, 1, 4, 4], [1, 2, 5, 4]])  # a triangle as a quadrilateral
    assert op2jit.plot(x, x, quads, component=1, ax=axes) is axes
    with pytest.raises(op2jit.Error, match="one value for each"):
        op2jit.plot([1.0, 2.0, 3.0], points, quads)
    axes.figure.canvas.draw()
    pyplot.close("all")


def test_the_tutorial_notebook():
    pytest.importorskip("matplotlib", reason="matplotlib is missing; ./dev test --with python installs it")
    with open(os.path.join(ROOT, "samples", "tutorial.ipynb"), encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    space = {"__name__": "notebook"}
    ran = 0
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        text, name = "".join(cell["source"]), f"<cell {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), space)
        ran += 1
    assert ran >= 6
