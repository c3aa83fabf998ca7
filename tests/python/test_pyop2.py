"""PyOP2's interface, by the examples of its documentation."""

import os
import subprocess
import sys

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
    with pytest.raises(op2jit.Error, match="is 4294967296; expected 0 .. 2"):  # not cut off to another number
        op2.Map(s, s, 1, [0, 1, 2**32])
    with pytest.raises(op2.SizeTypeError):
        op2.Set((1, 2, 3, 4))
    with pytest.raises(NotImplementedError, match="complex"):
        op2.Global(1, 1.0) + 1j


def strip():
    vertices, edges = op2.Set(4, "vertices"), op2.Set(3, "edges")
    return vertices, edges, op2.Map(edges, vertices, 2, [[0.0, 1.0], [1, 2], [2, 3]], "ends")


def test_an_array_stays_that_of_its_dat():
    s = op2.Set(4)
    d = op2.Dat(s, np.arange(4.0))
    held = d.data
    d.zero()
    assert held.tolist() == [0, 0, 0, 0]
    held[:] = 5
    more = op2.Kernel("void more(double *x) { x[0] += 1; }", "more")
    op2.par_loop(more, s, d(op2.RW))
    assert d.data_ro.tolist() == [6] * 4 and held[0] == 6
    loop = op2.ParLoop(more, s, d(op2.RW))
    loop.compute()
    loop()
    assert held.tolist() == [8] * 4


def test_kernels_may_have_names_macros_and_headers_of_their_own(tmp_path):
    vertices, edges, ends = strip()
    x = op2.Dat(vertices**2, np.zeros((4, 2)))
    text = '#include <math.h>\n#include "mine.h"\n#define i 3\n#define row 1\nstatic const double t0 = MINE;\n'
    (tmp_path / "mine.h").write_text("#define MINE 2.0\n")
    kernel = op2.Kernel(text + "void k(double *x) { x[0] += i + t0; x[3] += row; }", "k", include_dirs=[tmp_path])
    op2.par_loop(kernel, edges, x(op2.INC, ends))
    assert x.data_ro.tolist() == [[5, 0], [5, 1], [5, 1], [0, 1]]
    with pytest.raises(op2.NameTypeError, match="header mine.h is in none"):
        op2.par_loop(op2.Kernel('#include "math.h"\n#include "mine.h"\nvoid k(double *x) {}', "k"), edges, x(op2.INC, ends))


def test_subsets():
    s = op2.Set(6, "s")
    even, low = s(0, 2, 4), op2.Subset(s, [3, 0, 1, 1])
    assert even.size == 3 and low.indices.tolist() == [0, 1, 3] and even.superset is s
    assert even.union(low).indices.tolist() == [0, 1, 2, 3, 4] and even.intersection(low).indices.tolist() == [0]
    assert even.difference(low).indices.tolist() == [2, 4]
    assert even.symmetric_difference(low).indices.tolist() == [1, 2, 3, 4]
    d = op2.Dat(s, np.zeros(6))
    op2.par_loop(op2.Kernel("void one(double *x) { *x += 1; }", "one"), even, d(op2.RW))
    assert d.data_ro.tolist() == [1, 0, 1, 0, 1, 0]
    d.zero(low)
    assert d.data_ro.tolist() == [0, 0, 1, 0, 1, 0]
    e = op2.Dat(s, np.full(6, 7.0))
    e.copy(d, even)
    assert d.data_ro.tolist() == [7, 0, 7, 0, 7, 0]
    with pytest.raises(op2.SubsetIndexOutOfBounds):
        s(6)
    assert s.union(even) is s and s.intersection(even) is even and s.difference(even).indices.tolist() == [1, 3, 5]
    assert s.symmetric_difference(s).size == 0 and even.difference(s).size == 0 and even.union(s).size == 6
    assert s(np.arange(6) > 3).indices.tolist() == [4, 5] and even([2]).indices.tolist() == even(2).indices.tolist() == [4]
    with pytest.raises(op2.SubsetIndexOutOfBounds, match="a mask of 2 elements for 3"):
        even([True, False])
    with pytest.raises(TypeError):
        s.union(op2.Set(6))


def test_arithmetic_and_norms():
    s = op2.Set(3)
    one, other = np.arange(6.0).reshape(3, 2), np.full((3, 2), 0.5)
    a, b, g = op2.Dat(s**2, one), op2.Dat(s**2, other), op2.Global(1, 3.0)
    held = a.data
    a += b
    assert held.tolist() == (one + 0.5).tolist()
    for found, expected in (
        (a + b, one + 1),
        (a - 2, one - 1.5),
        (2 - a, 1.5 - one),
        (3 * a, 3 * (one + 0.5)),
        (a / g, (one + 0.5) / 3),
        (g + a, one + 3.5),
        (g - a, 2.5 - one),
        (g * a, 3 * (one + 0.5)),
        (-a, -one - 0.5),
    ):
        assert np.allclose(found.data_ro, expected) and found is not a
    assert np.isclose(a.norm, np.linalg.norm(one + 0.5)) and np.isclose(a.inner(b), 0.5 * (one + 0.5).sum())
    a.axpy(2.0, b)
    assert np.allclose(held, one + 1.5)
    twin = a.duplicate()
    twin.zero()
    assert np.allclose(a.data_ro, one + 1.5) and twin.norm == 0
    g *= 2
    assert g.data[0] == 6 and float(g + 1) == 7 and (g / 4).data[0] == 1.5 and g.norm == 6
    pair = op2.Global(2, [3, 4.0])
    assert pair.norm == 5 and pair.duplicate().data.tolist() == [3, 4]


def test_views_of_components():
    vertices, edges, ends = strip()
    x = op2.Dat(vertices**2, np.zeros((4, 2)))
    second = op2.DatView(x, 1)
    op2.par_loop(op2.Kernel("void set(double *y) { *y = 4; }", "set"), vertices, second(op2.WRITE))
    assert x.data_ro.tolist() == [[0, 4]] * 4
    op2.par_loop(op2.Kernel("void add(double *y) { y[0] += 1; y[1] += 2; }", "add"), edges, second(op2.INC, ends))
    assert x.data_ro[:, 1].tolist() == [5, 7, 7, 6] and not x.data_ro[:, 0].any()
    second += 1
    op2.DatView(x, 0).data[:] = 3
    assert x.data_ro.tolist() == [[3, 6], [3, 8], [3, 8], [3, 7]] and second.data_ro.tolist() == [6, 8, 8, 7]


def test_what_is_one_and_what_is_of_several():
    vertices, edges, ends = strip()
    x, g = op2.Dat(vertices ** (2, 2)), op2.Global(1, 0.0)
    for thing in (vertices, ends, x, g, x.dataset):
        assert list(thing) == [thing] and len(thing) == 1
    assert x.shape == (4, 2, 2) and x.cdim == 4 and x.dim == (2, 2) and x.nbytes == 128 and x[0] is x
    assert x.dataset == vertices ** (2, 2) and x in x.dataset and vertices.sizes == (4, 4, 4)


def test_arrays_with_halos():
    """A set that says how many of its elements are core, own, and copies of other ranks': arrays have rows for all of them."""
    cells, points = op2.Set((2, 3, 5), "cells"), op2.Set(4, "points")
    assert cells.size == 3 and cells.sizes == (2, 3, 5) and (cells.core_size, cells.total_size) == (2, 5)
    assert list(range(5))[cells.core_part] == [0, 1] and list(range(5))[cells.owned_part] == [2]
    x = op2.Dat(cells**2, np.arange(10.0))
    next_ = op2.Map(cells, points, 1, [0, 1, 2, 3, 3])
    assert x.shape == (3, 2) and x.data.shape == (3, 2) and x.data_with_halos.shape == (5, 2)
    y = op2.Dat(points)
    op2.par_loop(op2.Kernel("void add(double *x, double *y) { y[0] += x[1]; x[0] = -1; }", "add"), cells,
                 x(op2.RW), y(op2.INC, next_))
    assert y.data_ro.tolist() == [1, 3, 5, 0] and x.data_ro.tolist() == [[-1, 1], [-1, 3], [-1, 5]]
    assert x.data_ro_with_halos[:, 0].tolist() == [-1, -1, -1, 6, 8]
    assert op2.DatView(x, 1).data_with_halos.tolist() == [1, 3, 5, 7, 9]
    assert op2.Dat(x).data_with_halos.tolist() == x.duplicate().data_ro_with_halos.tolist() == x.data_with_halos.tolist()
    x.zero()
    assert not x.data_with_halos.any() and (+y).data_ro.tolist() == [1, 3, 5, 0]
    for wrong in ((3, 2), (-1, 2)):
        with pytest.raises(op2.SetValueError):
            op2.Set(wrong)


def test_exceptions_have_the_names_of_pyop2():
    vertices, edges, ends = strip()
    x, w = op2.Dat(vertices), op2.Dat(edges)
    kernel = op2.Kernel("void k(double *x) { *x = 1; }", "k")
    for name, act in (
        ("SetTypeError", lambda: op2.Map(3, vertices, 2, [])),
        ("SizeTypeError", lambda: op2.Set("ten")),
        ("DimTypeError", lambda: op2.DataSet(vertices, "two")),
        ("ArityTypeError", lambda: op2.Map(edges, vertices, "two", [])),
        ("DataValueError", lambda: op2.Map(edges, vertices, 2, [1, 2])),
        ("DataValueError", lambda: op2.Dat(vertices, np.zeros(3))),
        ("DataTypeError", lambda: op2.Dat(vertices, ["a"] * 4, np.float64)),
        ("DataSetTypeError", lambda: op2.Dat([1, 2])),
        ("MapValueError", lambda: op2.Map(edges, vertices, 1)),
        ("MapValueError", lambda: w(op2.READ, ends)),
        ("MapValueError", lambda: op2.par_loop(kernel, vertices, x(op2.INC, ends))),
        ("MapTypeError", lambda: x(op2.READ, 3)),
        ("CompilationError", lambda: op2.par_loop(op2.Kernel("void k(double *x) { x = ; }", "k"), vertices, x(op2.RW))),
        ("KernelTypeError", lambda: op2.par_loop(vertices, kernel, x(op2.RW))),
        ("DatTypeError", lambda: op2.par_loop(kernel, vertices, x)),
        ("IndexValueError", lambda: op2.DatView(x, 1)),
        ("IndexValueError", lambda: x[1]),
        ("NameTypeError", lambda: op2.par_loop(op2.Kernel("void k(double *x) {}", "kk"), vertices, x(op2.RW))),
    ):
        with pytest.raises(getattr(op2, name)) as caught:
            act()
        assert isinstance(caught.value, op2jit.Error), name
    with pytest.raises(op2jit.Error, match="incompatible pointer types"):
        op2.par_loop(op2.Kernel("void k(float *x) { *x = 1; }", "k"), vertices, x(op2.RW))


@pytest.mark.parametrize("name", ["MixedSet", "MixedDat", "MixedMap", "ExtrudedSet", "ComposedMap", "PermutedMap"])
def test_what_is_not_here_says_what_to_do(name):
    with pytest.raises(NotImplementedError, match=f"{name} is not in op2jit.pyop2: "):
        getattr(op2, name)()
    s = op2.Set(3)
    for word, act in (
        ("complex", lambda: op2.Dat(s, dtype=np.complex128)),
        ("complex", lambda: op2.Global(1, 1j)),
        ("extruded", lambda: op2.Map(s, s, 1, [0, 1, 2], "m", offset=[1])),
    ):
        with pytest.raises(NotImplementedError, match=word):
            act()
    with pytest.raises(AttributeError):
        op2.Unheard


def test_the_table_of_names_is_that_of_this_package():
    root = os.environ["OP2JIT_ROOT"]
    command = [sys.executable, os.path.join(root, "docs", "pyop2.py"), "table", root]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    with open(os.path.join(root, "docs", "pyop2.md"), encoding="utf-8") as page:
        assert page.read() == made, "docs/pyop2.md is old: python3 docs/pyop2.py table . > docs/pyop2.md"
    rows = [row.split(" | ") for row in made.splitlines() if row.startswith("| `")]
    assert len(rows) == 10
    for row in rows:
        kind = getattr(op2, row[0].strip("| `"))
        for name in row[1].replace("`", "").split(", "):
            assert hasattr(kind, name) or name in made_of(kind), (kind, name)


def made_of(kind):
    """What an object has that its class does not say."""
    s = op2.Set(2, "s")
    dat = op2.Dat(s**2, np.zeros((2, 2)))
    ends = op2.Map(s, s, 1, [0, 1])
    made = [s, s(0), s**2, ends, dat, op2.DatView(dat, 0), op2.Global(1, 0.0), op2.Sparsity(s**1, ends)]
    made.append(op2.Mat(made[-1]))
    return dir(next(one for one in made if type(one) is kind)) if kind is not op2.Parloop else ["accesses", "arguments", "iterset"]


def test_what_stands_beside(tmp_path):
    """Accesses of other kinds, parts that a kernel leaves, names that meet those of the wrapper."""
    vertices, edges, ends = strip()
    x, w = op2.Dat(vertices, np.full(4, 9.0)), op2.Dat(edges, [3.0, 1.0, 2.0])
    least = "void least(double *w, double *x) { for (int i = 0; i < 2; i++) if (w[0] < x[i]) x[i] = w[0]; }"
    op2.par_loop(op2.Kernel(least, "least"), edges, w(op2.READ), x(op2.MIN, ends))
    assert x.data_ro.tolist() == [3, 1, 1, 2]
    pairs = op2.Dat(vertices**2, np.ones((4, 2)))
    part = op2.Kernel("void part(double *x) { x[0] = 7; }", "part")
    with pytest.raises(op2jit.Error, match="never writes component 1"):
        op2.par_loop(part, vertices, pairs(op2.WRITE))
    op2.par_loop(part, vertices, pairs(op2.RW))
    assert pairs.data_ro.tolist() == [[7, 1]] * 4
    add = op2.Kernel("void add(double *x) { x[0] += 1; x[3] += 2; }", "add")
    op2.par_loop(add, edges, pairs(op2.INC, ends))
    assert pairs.data_ro.tolist() == [[8, 1], [8, 3], [8, 3], [7, 3]]
    text = "#include <math.h>\n#include <complex.h>\nstatic double h(double x) { return sqrt(x); }\n"
    math_ = op2.Kernel(text + "void k(double x[2]) { x[0] = h(4.0); x[1] = M_PI; }", "k")
    op2.par_loop(math_, vertices, pairs(op2.WRITE))
    assert pairs.data_ro[0].tolist() == [2, np.pi] and repr(pairs).startswith("Dat(")
    with pytest.raises(op2jit.Error, match="ACCESS"):
        op2.par_loop(op2.Kernel("void k(double *g, double *x) { g[0] = x[0]; }", "k"), vertices,
                     op2.Global(1, 0.0)(op2.WRITE), x(op2.READ))
    view = op2.DatView(pairs, 0)
    assert view.norm == 4 and view.shape == (4,) and view.nbytes == 32 and view.ctype == "double"
    view.copy(x)
    view.zero()
    assert x.data_ro.tolist() == [2] * 4 and pairs.data_ro[:, 0].tolist() == [0] * 4 and op2.initialised()
    with pytest.raises(op2.SparsityTypeError):
        op2.Mat(3)
