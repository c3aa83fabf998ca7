"""PyOP2's interface, by the examples of its documentation."""

import numpy as np
import pytest

import op2jit
from op2jit import pyop2 as op2


pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("running")]


def test_direct_loop():
    cells = op2.Set(100, "cells")
    a = op2.Dat(cells**1, np.arange(100.0), name="a")
    b = op2.Dat(cells, np.zeros(100), np.float64, "b")
    kernel = op2.Kernel("static void twice(double *y, double *x) { y[0] = 2 * x[0]; }", "twice")
    op2.par_loop(kernel, cells, b(op2.WRITE), a(op2.READ))
    assert np.array_equal(b.data, 2 * np.arange(100.0))


def test_arrays_stay_the_truth_between_loops():
    s = op2.Set(4)
    a = op2.Dat(s**2, np.ones((4, 2)))
    held = a.data
    held[1] = 5
    kernel = op2.Kernel("void more(double *x) { x[0] += 1; x[1] += 2; }", "more")
    op2.par_loop(kernel, s, a(op2.RW))
    assert held[1].tolist() == [6, 7] and held[0].tolist() == [2, 3]
    assert a.data_ro[1, 0] == 6
    with pytest.raises(ValueError):
        a.data_ro[0] = 1
    a.zero()
    assert a.data.sum() == 0


def test_midpoints_by_a_vector_map():
    """Through a map the rows come packed: x[2 * 2] for an edge with two vertices of two coordinates."""
    vertices, edges = op2.Set(4, "vertices"), op2.Set(3, "edges")
    ends = op2.Map(edges, vertices, 2, [[0, 1], [1, 2], [2, 3]], "ends")
    x = op2.Dat(vertices**2, np.array([[0, 0], [1, 0], [1, 2], [3, 2.0]]), name="x")
    middle = op2.Dat(edges**2, np.zeros((3, 2)), name="middle")
    kernel = op2.Kernel(
        """#include <math.h>
        void midpoint(double p[2], double *x) {
          for (int d = 0; d < 2; d++) p[d] = 0.5 * (x[2 * 0 + d] + x[2 * 1 + d]);
        }""",
        "midpoint",
    )
    op2.par_loop(kernel, edges, middle(op2.WRITE), x(op2.READ, ends))
    assert middle.data.tolist() == [[0.5, 0], [1, 1], [2, 2]]


def test_indirect_increments_of_a_vector_map():
    cells, points = op2.Set(2), op2.Set(4)
    corners = op2.Map(cells, points, 3, np.array([0, 1, 2, 1, 2, 3]))
    count = op2.Dat(points, np.zeros(4, np.int32))
    op2.par_loop(
        op2.Kernel("void add(int *c) { c[0] += 1; c[1] += 2; c[2] += 3; }", "add"), cells, count(op2.INC, corners)
    )
    assert count.data.tolist() == [1, 3, 5, 3]
    one = op2.Dat(points, np.zeros(4, np.int32))
    op2.par_loop(op2.Kernel("void one(int *c) { *c += 1; }", "one"), cells, one(op2.INC, corners[1]))
    assert one.data.tolist() == [0, 1, 1, 0]
    assert corners.values.tolist() == [[0, 1, 2], [1, 2, 3]]


def test_writing_and_changing_through_a_map():
    cells, points = op2.Set(2), op2.Set(4)
    pairs = op2.Map(cells, points, 2, [[0, 1], [2, 3]])
    x = op2.Dat(points**2, np.arange(8.0))
    op2.par_loop(
        op2.Kernel("void turn(double *x) { double t = x[0]; x[0] = x[3]; x[3] = t; }", "turn"), cells, x(op2.RW, pairs)
    )
    assert x.data.ravel().tolist() == [3, 1, 2, 0, 7, 5, 6, 4]
    op2.par_loop(
        op2.Kernel("void set(double *x) { for (int k = 0; k < 4; k++) x[k] = k; }", "set"), cells, x(op2.WRITE, pairs)
    )
    assert x.data.ravel().tolist() == [0, 1, 2, 3] * 2


def test_global_reductions():
    s = op2.Set(50)
    data = np.random.default_rng(5).random(50)
    x = op2.Dat(s, data)
    total, low, high = op2.Global(1, 0.0), op2.Global(1, 1e9), op2.Global(1, -1e9)
    kernel = op2.Kernel(
        "void look(double *sum, double *low, double *high, double *x) {"
        " *sum += *x; if (*x < *low) *low = *x; if (*x > *high) *high = *x; }",
        "look",
    )
    op2.par_loop(kernel, s, total(op2.INC), low(op2.MIN), high(op2.MAX), x(op2.READ))
    assert np.isclose(total.data[0], data.sum()) and low.data[0] == data.min() and high.data[0] == data.max()
    factor = op2.Global(2, [2.0, 1.0])
    op2.par_loop(
        op2.Kernel("void axpy(double *x, double *f) { *x = f[0] * *x + f[1]; }", "axpy"), s, x(op2.RW), factor(op2.READ)
    )
    assert np.allclose(x.data, 2 * data + 1)


def test_matrices():
    nodes, cells = op2.Set(4, "nodes"), op2.Set(2, "cells")
    corners = op2.Map(cells, nodes, 3, [[0, 1, 2], [1, 2, 3]], "corners")
    pattern = op2.Sparsity((nodes**1, nodes**1), [(corners, corners)], "pattern")
    mat = op2.Mat(pattern, np.float64, "mat")
    kernel = op2.Kernel("void mass(double A[9]) { for (int i = 0; i < 9; i++) A[i] += i; }", "mass")
    expected = np.zeros((4, 4))
    for tri in corners.values:
        expected[np.ix_(tri, tri)] += np.arange(9).reshape(3, 3)
    for _ in range(2):
        mat.zero()
        op2.par_loop(kernel, cells, mat(op2.INC, (corners, corners)))
        mat.assemble()
        assert np.array_equal(mat.values, expected) and mat.nnz == 14
    mat.zero()
    mat.fix([1, 0, 0, 0], op2.Dat(nodes, [1, 0, 0, 0], np.int32), 5)
    op2.par_loop(kernel, cells, mat(op2.INC, (corners, corners)))
    assert mat.values[0].tolist() == [5, 0, 0, 0] and np.array_equal(mat.values[1:, 1:], expected[1:, 1:])
    blocks = op2.Mat(op2.Sparsity(nodes**2, corners))
    assert blocks.dims == (2, 2)
    with pytest.raises(op2jit.Error, match="call its fix before the loop"):
        mat(op2.INC, (corners, corners), lgmaps=())
    with pytest.raises(op2jit.Error, match="leads to nodes; expected cells"):
        op2.Sparsity((cells, nodes), (corners, corners))
    with pytest.raises(op2jit.Error, match="numbers of type float64"):
        op2.Mat(pattern, np.float32)


def test_mistakes():
    s = op2.Set(3)
    with pytest.raises(op2jit.Error, match="dat\\(op2.READ"):
        op2.par_loop(op2.Kernel("void f(double *x) {}", "f"), s, op2.Dat(s, np.zeros(3)))
    with pytest.raises(op2jit.Error):
        op2.Map(s, s, 1, [[0], [1], [3]])
