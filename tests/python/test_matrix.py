"""Matrices in Python: what loops give, against a dense sum in NumPy, and what is wrong, on the program's own line."""

import gc
import sys

import numpy as np
import pytest

import op2jit
from op2jit import INC, READ, RW, WRITE, Dat, Mat, Map, Set, Sparsity, par_loop

pytestmark = pytest.mark.usefixtures("running")
TRIANGLES = np.array([[0, 1, 4], [4, 1, 2], [2, 3, 4], [3, 0, 4], [5, 3, 2]])
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [5, 3], [2, 5]])
WEIGHTS = np.array([1.0, 2.0, -3.0, 0.5, 7.0])


def row_of(row, i, w):
    for j in range(3):
        row[j] += w * (10 * i + j)


@op2jit.kernel
def give(w, k):
    for i in range(3):
        row_of(k[i], i, w[0])
    k[0, 0] += 100
    k[2][1 - 1] -= w[0]


def of_give(w):
    found = w * np.add.outer(10 * np.arange(3), np.arange(3))
    found[0, 0] += 100
    found[2, 0] -= w
    return found


@op2jit.kernel
def give_blocks(w, k):
    for i in range(len(k)):
        for j in range(6):
            k[i, j] = w[0] * (i + 1) + j * j


@op2jit.kernel
def minus(k):
    k[0, 0], k[0, 1], k[1, 0], k[1, 1] = 1, -1, -1, 1


class Mesh:
    def __init__(self):
        self.nodes, self.cells, self.edges = Set(6, "nodes"), Set(5, "cells"), Set(6, "edges")
        self.tri = Map(self.cells, self.nodes, TRIANGLES, "tri")
        self.ends = Map(self.edges, self.nodes, EDGES, "ends")
        self.w = Dat(self.cells, WEIGHTS, name="w")


@pytest.fixture
def mesh(running):
    return Mesh()


def dense(k):
    offsets, columns, values = k.fetch()
    found = np.zeros(k.shape)
    found[np.repeat(np.arange(k.shape[0]), np.diff(offsets)), columns] = values
    return found


def summed(size, parts):
    found = np.zeros(size)
    for rows, columns, part in parts:
        np.add.at(found, np.ix_(rows, columns), part)
    return found


def of_triangles(give=of_give):
    return summed((6, 6), [(tri, tri, give(w)) for tri, w in zip(TRIANGLES, WEIGHTS)])


def filled(mesh, **more):
    k = Mat((mesh.tri, mesh.tri), name="k", **more)
    par_loop(give, mesh.cells, mesh.w(READ), k(INC, (mesh.tri, mesh.tri)))
    return k


def test_a_matrix_is_the_sum_of_what_elements_give(mesh):
    k = filled(mesh)
    assert np.allclose(dense(k), of_triangles(), rtol=1e-14)
    par_loop(give, mesh.cells, mesh.w(READ), k)  # without an access it adds, by its only pair
    assert np.allclose(dense(k), 2 * of_triangles(), rtol=1e-14)
    k.zero()
    par_loop(give, mesh.cells, mesh.w(READ), k(INC))
    assert np.allclose(dense(k), of_triangles(), rtol=1e-14)
    offsets, columns, values = k.fetch()
    assert offsets[-1] == len(columns) == len(values) and all(np.diff(columns[offsets[4] : offsets[5]]) > 0)


def test_blocks_several_pairs_and_rectangles(mesh):
    blocks = Mat((mesh.tri, mesh.tri), dims=(2, 2), name="blocks")
    par_loop(give_blocks, mesh.cells, mesh.w(READ), blocks(INC))
    rows = [np.add.outer(2 * tri, [0, 1]).ravel() for tri in TRIANGLES]
    part = [w * np.arange(1, 7)[:, None] + np.arange(6) ** 2 for w in WEIGHTS]
    assert np.allclose(dense(blocks), summed((12, 12), zip(rows, rows, part)), rtol=1e-14)

    both = Mat(Sparsity((mesh.tri, mesh.tri), (mesh.ends, mesh.ends)), name="both")
    par_loop(give, mesh.cells, mesh.w(READ), both(INC, (mesh.tri, mesh.tri)))
    par_loop(minus, mesh.edges, both(INC, (mesh.ends, mesh.ends)))
    of_edges = summed((6, 6), [(edge, edge, [[1, -1], [-1, 1]]) for edge in EDGES])
    assert np.allclose(dense(both), of_triangles() + of_edges, rtol=1e-14)

    @op2jit.kernel
    def along(w, d):
        for j in range(3):
            d[0, j] = w[0] + j

    wide = Mat((None, mesh.tri), name="wide")  # rows are the cells themselves
    par_loop(along, mesh.cells, mesh.w(READ), wide(INC, (None, mesh.tri)))
    expected = np.zeros((5, 6))
    for cell, tri in enumerate(TRIANGLES):
        expected[cell, tri] = WEIGHTS[cell] + np.arange(3)
    assert wide.shape == (5, 6) and np.array_equal(dense(wide), expected)


def test_what_is_written_takes_the_place(mesh):
    ones = Set(1, "ones")
    to = Map(ones, mesh.nodes, [[1, 2]], "to")
    k = Mat((to, to), name="k")

    @op2jit.kernel
    def put(k):
        k[0, 1] = 5
        k[1, 1] += 2

    for _ in range(2):
        par_loop(put, ones, k(WRITE))
    assert dense(k)[1:3, 1:3].tolist() == [[0, 5], [0, 2]]


def test_fixed_rows_and_columns(mesh):
    fixed = np.array([1, 0, 0, 1, 0, 0])
    expected = of_triangles()
    expected[[0, 3]] = expected[:, [0, 3]] = 0
    expected[[0, 3], [0, 3]] = 4
    for flags in (Dat(mesh.nodes, fixed.astype(np.int32), name="fixed"), fixed, fixed.astype(bool)):
        k = Mat((mesh.tri, mesh.tri), name="k")
        k.fix(flags, flags, 4)
        par_loop(give, mesh.cells, mesh.w(READ), k)
        assert np.allclose(dense(k), expected, rtol=1e-14)
    k.zero()
    k.fix(None)
    par_loop(give, mesh.cells, mesh.w(READ), k)
    assert np.allclose(dense(k), of_triangles(), rtol=1e-14)


def test_a_csr_of_scipy(mesh):
    pytest.importorskip("scipy", reason="SciPy is missing; ./dev test --with python installs it")
    found = filled(mesh).csr()
    assert found.shape == (6, 6) and np.allclose(found.toarray(), of_triangles(), rtol=1e-14)
    assert np.allclose(found @ np.arange(6.0), of_triangles() @ np.arange(6.0))


@pytest.mark.compiled
def test_the_text_in_c(mesh):
    loop = op2jit.Loop(give, mesh.cells, mesh.w(READ), Mat((mesh.tri, mesh.tri), name="k"))
    assert "double *k_matrix) {" in loop.source and "double (*k)[3] = (double (*)[3])k_matrix;" in loop.source
    assert "row_of(k[i], i, w[0])" in loop.source and "k[2][0] -= w[0]" in loop.source
    assert loop.accesses == ["READ", "INC"] and "tri x tri" in loop.describe()


@pytest.mark.compiled
def test_accesses_of_others_are_found_beside_a_matrix(mesh):
    assert op2jit.Loop(give, mesh.cells, mesh.w, Mat((mesh.tri, mesh.tri))).accesses == ["READ", "INC"]


def test_garbage_is_freed_before_its_maps(mesh):
    k = filled(mesh)
    del k
    gc.collect()
    mesh.tri.free()  # which a matrix would hold


def said(code, call):
    """What is wrong is told with the code, and with the line of this file that did it."""
    with pytest.raises(op2jit.Error) as caught:
        call()
    error = caught.value
    assert error.name == "OP_ERR_" + code, error
    assert error.place == (__file__, call.__code__.co_firstlineno), error.place
    return error.message


def test_what_is_wrong_is_told_with_the_line(mesh):
    tri, ends, w = mesh.tri, mesh.ends, mesh.w
    k = Mat((tri, tri), name="k")
    assert 'map "tri" of the rows starts at set "cells", but map "ends"' in said("MAP_SET", lambda: Mat((tri, ends), name="k"))
    assert "expected (rows, columns)" in said("ARGUMENT", lambda: Mat((tri, "tri")))
    assert "one of them is a map" in said("ARGUMENT", lambda: Mat((None, None)))
    assert "no pairs of maps" in said("ARGUMENT", lambda: Sparsity())
    assert "expected those of rows and columns" in said("DIM", lambda: Mat((tri, tri), dims=2))
    said("DIM", lambda: Mat((tri, tri), dims=(0, 1)))
    assert ': matrix "k" is used before a loop filled it' in said("STATE", lambda: k.fetch())
    assert ': matrix "k" is used before a loop filled it' in said("STATE", lambda: k.solve(w, w))
    assert 'was not declared with rows by "ends"' in said(
        "MAP_SET", lambda: par_loop(minus, mesh.edges, k(INC, (ends, ends)))
    )
    assert "has several pairs" in said("ARGUMENT", lambda: Mat(Sparsity((tri, tri), (ends, ends)))(INC))
    assert "is no access and no pair" in said("ARGUMENT", lambda: k(INC, tri))
    assert "is passed with READ; expected INC or WRITE" in said("ACCESS", lambda: par_loop(give, mesh.cells, w(READ), k(READ)))
    assert "has 2 in component 0 of element 1" in said("RANGE", lambda: k.fix(np.array([0, 2, 0, 0, 0, 0])))
    assert "expected (6,) on set nodes" in said("SIZE", lambda: k.fix(np.zeros(7)))
    assert "are on set" in said("MAP_SET", lambda: k.fix(Dat(mesh.cells, dtype=np.int32)))
    assert "has dim 2" in said("DIM", lambda: k.fix(Dat(mesh.nodes, dim=2, dtype=np.int32)))
    assert 'expected "int"' in said("TYPE", lambda: k.fix(Dat(mesh.nodes)))


def test_an_index_outside_is_seen_in_the_text(mesh):
    @op2jit.kernel
    def wide(w, k):
        k[0, 3] = w[0]

    k = Mat((mesh.tri, mesh.tri), name="k")
    with pytest.raises(op2jit.KernelError if op2jit.life.state.native is False else Exception) as caught:
        par_loop(wide, mesh.cells, mesh.w(READ), k)
    if not op2jit.life.state.native:
        assert "the index 3 is outside of k, which has 3" in str(caught.value)
        assert caught.value.place[0] == __file__


@op2jit.kernel
def pick(which, k):
    k[2, which[0]] = 1


@pytest.mark.compiled
def test_an_index_beyond_the_matrix_is_found_by_checks():
    op2jit.exit()
    op2jit.init(check="on", diags=0)
    mesh = Mesh()
    k, which = Mat((mesh.tri, mesh.tri), name="k"), Dat(mesh.cells, np.array([0, 2, 1, 3, -1], np.int32))
    message = said("VIOLATION", lambda: par_loop(pick, mesh.cells, which(READ), k))
    assert 'element 3 of set "cells"' in message and 'matrix "k"' in message, message


@pytest.mark.compiled
def test_fewer_rows_than_the_kernel_has_are_seen_in_the_text(mesh):
    k = Mat((mesh.ends, mesh.ends), name="k")
    with pytest.raises(op2jit.KernelError, match="the index 2 is outside of k, which has 2"):
        par_loop(shifted, mesh.edges, k)


@op2jit.kernel
def shifted(k):
    k[2, 0] = 1


def test_what_is_not_installed_is_named(mesh, monkeypatch):
    k = filled(mesh)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    message = said("NOT_BUILT", lambda: k.csr())
    assert "needs SciPy" in message and "python3-scipy" in message
    for name in ("petsc4py", "petsc4py.PETSc"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (lambda: k.petsc, lambda: mesh.w.vec.__enter__(), lambda: mesh.w.placed(None, RW).__enter__()):
        assert "python3-petsc4py" in said("NOT_BUILT", call)
