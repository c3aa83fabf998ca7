"""Matrices and dats as petsc4py's, without a copy; solving; what is wrong; the sample on ranks."""

import math
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import petsc4py
import pytest

petsc4py.init([])
from petsc4py import PETSc  # noqa: E402

import op2jit  # noqa: E402
from op2jit import INC, READ, RW, WRITE, Dat, Mat, Map, Set, par_loop  # noqa: E402

ROOT, BUILD = os.environ["OP2JIT_ROOT"], os.environ["OP2JIT_BUILD"]
N = 12


@op2jit.kernel
def spring(w, k):
    for i in range(2):
        for j in range(2):
            k[i, j] = w[0] if i == j else -w[0]


@op2jit.kernel
def pull(w, free, x, y):
    d = w[0] * (free[0][0] * x[0][0] - free[1][0] * x[1][0])
    y[0][0] += free[0][0] * d
    y[1][0] -= free[1][0] * d


@op2jit.kernel
def hold(free, x, y):
    if free[0] == 0:
        y[0] = x[0]


@op2jit.kernel
def clear(y):
    y[0] = 0


class Chain:
    """Springs in a row, both ends fixed. With several ranks the first one declares all of it."""

    def __init__(self):
        here = slice(None if op2jit.is_root() else 0)
        self.weights, self.fixed = 1 + np.arange(N - 1) % 3.0, np.zeros(N, bool)
        self.fixed[[0, N - 1]] = True
        ends = np.array([[i, i + 1] for i in range(N - 1)])[here]
        self.nodes, self.springs = Set(len(self.fixed[here]), "nodes"), Set(len(ends), "springs")
        self.ends = Map(self.springs, self.nodes, ends, "ends", 2)
        self.w = Dat(self.springs, self.weights[here], name="w")
        self.free = Dat(self.nodes, 1.0 - self.fixed[here], name="free")
        self.b, self.x = Dat(self.nodes, np.sin(np.arange(N))[here], name="b"), Dat(self.nodes, name="x")
        op2jit.partition("block", self.nodes)
        self.k = Mat((self.ends, self.ends), name="k")
        self.k.fix(self.fixed[here], self.fixed[here])

    def assemble(self):
        par_loop(spring, self.springs, self.w(READ), self.k(INC, (self.ends, self.ends)))

    def dense(self):
        found = np.zeros((N, N))
        for e, w in enumerate(self.weights):
            found[e : e + 2, e : e + 2] += [[w, -w], [-w, w]]
        found[self.fixed] = found[:, self.fixed] = 0
        return found + np.diag(self.fixed.astype(float))


@pytest.fixture
def chain(running):
    made = Chain()
    made.assemble()
    return made


def test_a_matrix_is_petscs(chain):
    mat = chain.k.petsc
    assert np.allclose(mat[:, :], chain.dense(), rtol=1e-14) and mat.getBlockSizes() == (1, 1)
    chain.k.zero()
    chain.weights *= 2
    chain.w.put(chain.weights)
    chain.assemble()
    assert chain.k.petsc.handle == mat.handle  # the same, with its new values
    assert np.allclose(mat[:, :], chain.dense(), rtol=1e-14)


def test_vectors_lie_in_the_memory_of_dats(running):
    memory = np.arange(6.0)
    x = Dat(Set(6, "nodes"), memory, name="x", view=True)
    with x.vec as v:
        assert np.array_equal(v.array_r, np.arange(6.0))
        v.scale(2)
        assert v.array_r.ctypes.data == memory.ctypes.data  # no copy
    assert np.array_equal(x.fetch(), 2 * np.arange(6.0))
    with x.vec_ro as v:
        assert v.sum() == 30 and v.array_r.ctypes.data == memory.ctypes.data
    for write in (lambda v: v.scale(3), lambda v: v.array.fill(1)):
        with pytest.raises((op2jit.Error, PETSc.Error), match="vec_ro of dat x is only to read|error code 73"):
            with x.vec_ro as v:
                write(v)
    with x.vec_wo as v:
        v.set(7)
    assert x.fetch().tolist() == [7] * 6


def test_a_dat_is_lent_in_the_block_only(chain):
    with pytest.raises(op2jit.Error, match='dat "w" is lent') as caught:
        with chain.w.vec:
            chain.k.zero()
            chain.assemble()
    assert caught.value.name == "OP_ERR_STATE"
    chain.assemble()
    with pytest.raises(ZeroDivisionError):
        with chain.x.vec:
            1 // 0
    chain.x.fetch()
    with chain.x.vec as v:
        with pytest.raises(op2jit.Error, match='dat "x" is lent'):
            chain.x.free()
        v.set(3)
    assert chain.x.norm() == 3 * N**0.5  # it is there still
    with pytest.raises(PETSc.Error):
        v.set(4)  # behind the block
    with pytest.raises(op2jit.Error, match="PETSc.Vec"):
        with chain.x.placed(None, RW):
            pass
    chain.x.free()


def test_what_is_written_before_an_exception_is_in_arrays_of_pyop2(running):
    from op2jit import pyop2

    x = pyop2.Dat(pyop2.Set(3), [1.0, 2.0, 3.0], name="x")
    values = x.data
    with pytest.raises(ZeroDivisionError):
        with x.vec as v:
            v.scale(2)
            1 // 0
    assert values.tolist() == x.data_ro.tolist() == [2, 4, 6]


def test_who_keeps_a_matrix_keeps_its_values():
    many = 500
    with op2jit.runtime(diags=0, variant="csr"):
        nodes = Set(many, "nodes")
        next_one = Map(nodes, nodes, np.column_stack([np.arange(many), (np.arange(many) + 1) % many]), "next")
        k, w = Mat((next_one, next_one), name="k"), Dat(nodes, np.ones(many), name="w")
        par_loop(spring, nodes, w(READ), k(INC))
        mat = k.petsc
        norm = mat.norm()
        k.free()
        assert mat.norm() == norm  # meson fills memory that is freed: MALLOC_PERTURB_
    assert mat.norm() == norm


def answer(chain):
    return np.linalg.solve(chain.dense(), chain.b.fetch())


def test_solving(chain):
    chain.k.solve(chain.b, chain.x, "tight_")
    assert np.allclose(chain.x.fetch(), answer(chain), rtol=1e-3)
    assert op2jit.counters()["iterations"] > 0
    chain.x.put(np.zeros(N))
    solver = PETSc.KSP().create(chain.k.petsc.comm)
    solver.setOperators(chain.k.petsc)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-12)
    with chain.b.vec_ro as right, chain.x.vec as left:
        solver.solve(right, left)
    assert solver.converged and np.allclose(chain.x.fetch(), answer(chain), rtol=1e-10)


class Product:
    """The same matrix without entries: loops of the program in the memory of PETSc's vectors."""

    def __init__(self, chain):
        self.chain, self.x, self.y = chain, Dat(chain.nodes, name="in"), Dat(chain.nodes, name="out")
        self.calls = 0

    def mult(self, mat, to_multiply, product):
        c, self.calls = self.chain, self.calls + 1
        with self.x.placed(to_multiply, READ), self.y.placed(product, WRITE):
            par_loop(clear, c.nodes, self.y(WRITE))
            par_loop(pull, c.springs, c.w(READ), c.free(READ, c.ends), self.x(READ, c.ends), self.y(INC, c.ends))
            par_loop(hold, c.nodes, c.free(READ), self.x(READ), self.y(RW))


def solve_by(product, chain):
    shell = PETSc.Mat().createPython(chain.k.petsc.getSizes(), product, chain.k.petsc.comm)
    solver = PETSc.KSP().create(chain.k.petsc.comm)
    solver.setOperators(shell)
    solver.setType("cg")
    solver.getPC().setType("none")
    solver.setTolerances(rtol=1e-12)
    with chain.b.vec_ro as right, chain.x.vec as left:
        solver.solve(right, left)


def test_loops_in_the_memory_of_vectors(chain):
    product = Product(chain)
    solve_by(product, chain)
    assert product.calls > 3 and np.allclose(chain.x.fetch(), answer(chain), rtol=1e-9)


def said(code, call):
    with pytest.raises(op2jit.Error) as caught:
        call()
    assert caught.value.name == "OP_ERR_" + code and caught.value.place[0] == __file__, caught.value
    return caught.value.message


def test_what_is_wrong(chain):
    single = Dat(chain.nodes, dtype=np.float32, name="single")
    assert "vec of dat single: its values are of type float32" in said("TYPE", lambda: single.vec.__enter__())
    assert ': dat "single", the solution, is of type "float"' in said("TYPE", lambda: chain.k.solve(chain.b, single))
    chain.k.zero()
    assert ': matrix "k" is used before a loop filled it' in said("STATE", lambda: chain.k.petsc)
    chain.assemble()
    assert "are one dat" in said("ALIAS", lambda: chain.k.solve(chain.b, chain.b))
    assert "the right-hand side, has dim 2" in said("DIM", lambda: chain.k.solve(Dat(chain.nodes, dim=2), chain.x))
    PETSc.Options()["few_ksp_max_it"], PETSc.Options()["few_pc_type"] = 1, "none"
    assert "DIVERGED_ITS after 1 iterations" in said("SOLVER", lambda: chain.k.solve(chain.b, chain.x, "few_"))
    short = PETSc.Vec().createSeq(N - 2)
    assert f"the vector has {N - 2} numbers" in said("SOLVER", lambda: chain.x.placed(short, READ).__enter__())
    check, lib = op2jit._library.check, op2jit._library.lib
    assert "another PETSc than the plugin" in said("SOLVER", lambda: check(lib.op2jit_solver_open(4096)))


PROGRAM = """
import sys
if sys.argv[1] == "alone":
    sys.modules["petsc4py"] = None
import op2jit
from op2jit import Dat, Map, Mat, Set, par_loop
@op2jit.kernel
def two(k):
    k[0, 0] = 2
kept = []
for turn in range(2):
    with op2jit.runtime(diags=0):
        s = Set(3)
        itself = Map(s, s, [[0], [1], [2]])
        k, b, x = Mat((itself, itself)), Dat(s, [2.0, 4.0, 6.0]), Dat(s)
        par_loop(two, s, k)
        k.solve(b, x, "mine_")
        print(x.fetch().tolist())
        if sys.argv[1] != "alone":
            kept.append(k.petsc)
"""


@pytest.mark.parametrize("way", ["alone", pytest.param("petsc4py", marks=pytest.mark.long)])
def test_options_are_words_of_the_command_line(tmp_path, way):
    """Without petsc4py, and with it; twice in a process, in which PETSc's objects may stay."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    text = runs(0, str(program), way, "-mine_ksp_type", "preonly", "-mine_pc_type", "jacobi", "-mine_ksp_view")
    assert text.count("[1.0, 2.0, 3.0]") == 2 and text.count("type: preonly") == 2, text


SAMPLE = os.path.join(ROOT, "samples", "poisson", "poisson.py")


def runs(ranks, *words):
    command, more = [sys.executable, *words], {}
    if ranks:
        if not shutil.which("mpirun.openmpi"):
            pytest.skip("there is no mpirun.openmpi (Debian's openmpi-bin)")
        command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command]
        more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    found = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **more}, timeout=200
    )
    assert found.returncode == 0, found.stdout
    return found.stdout


def poisson(ranks):
    text = runs(ranks, SAMPLE, "--n", "8")
    assert text.count("poisson: PASSED") == 1, text
    return [float(word) for word in re.findall(r"largest error (\S+),", text)]


@pytest.mark.long
def test_the_sample_has_the_answers_of_its_twin():
    errors = poisson(0)
    assert 3.4 < errors[0] / errors[1] < 4.6
    twin = os.path.join(BUILD, "samples", "poisson")
    if os.path.exists(twin):
        text = subprocess.run([twin, "--n", "8"], stdout=subprocess.PIPE, text=True).stdout
        others = [float(word) for word in re.findall(r"largest error (\S+),", text)]
        assert np.allclose(errors, others, rtol=1e-4), (errors, others)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_the_sample_on_ranks(ranks):
    assert math.isclose(poisson(ranks)[1], poisson(0)[1], rel_tol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [2, 4])
def test_vectors_on_ranks(ranks):
    assert runs(ranks, os.path.join(os.path.dirname(__file__), "petsc_program.py")).count("done") == ranks


def test_the_sample_without_petsc4py_says_so(tmp_path):
    (tmp_path / "petsc4py.py").write_text("raise ImportError")
    more = {"PYTHONPATH": f"{tmp_path}:{os.environ['PYTHONPATH']}"}
    found = subprocess.run([sys.executable, SAMPLE], env={**os.environ, **more}, stdout=subprocess.PIPE, text=True)
    assert found.returncode == 77 and "python3-petsc4py" in found.stdout, found.stdout
