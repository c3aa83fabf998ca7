"""Derivatives in Python: a gradient against differences, with a kernel in C and one in Python."""

import numpy as np
import pytest

import op2jit
from op2jit import INC, READ, RW, WRITE, Dat, Global, Kernel, Map, Set, par_loop

COUNT = 50
START = np.sin(np.arange(COUNT)) + 1.5
pytestmark = pytest.mark.compiled
zero = Kernel("void zero(double *d) { *d = 0; }")
gather = Kernel("void gather(const double *a, const double *u, double *d) { *d += *a * *u * *u; }")
total = Kernel("void total(const double *u, double *s) { *s += *u * *u; }")


@op2jit.kernel
def relax(d, u):
    u[0] = 0.5 * u[0] + 0.1 * d[0]


class Ring:
    def __init__(self):
        self.nodes, self.edges = Set(COUNT, "nodes"), Set(COUNT, "edges")
        self.ends = Map(self.edges, self.nodes, np.array([[i, (i + 1) % COUNT] for i in range(COUNT)]), "ends")
        self.a = Dat(self.edges, np.linspace(0.1, 0.5, COUNT), name="a")
        self.u = Dat(self.nodes, START, name="u")
        self.d = Dat(self.nodes, None, name="d")
        self.sum = Global(0.0, kept=True, name="sum")

    def step(self):
        par_loop(zero, self.nodes, self.d(WRITE))
        par_loop(gather, self.edges, self.a(READ), self.u(READ, self.ends[1]), self.d(INC, self.ends[0]))
        par_loop(relax, self.nodes, self.d(READ), self.u(RW))

    def finish(self):
        par_loop(total, self.nodes, self.u(READ), self.sum(INC))

    def run(self, a):
        self.a.put(a)
        self.u.put(START)
        self.sum.value = 0.0
        for _ in range(5):
            self.step()
        self.finish()
        return self.sum.value


def record(ring, memory=None):
    with op2jit.tape(inputs=[ring.a, ring.u], memory=memory) as tape:
        for _ in tape.steps(range(5)):
            ring.step()
        ring.finish()
    return tape


@pytest.fixture
def ring(running):
    return Ring()


def test_gradient_is_that_of_differences(ring):
    tape = record(ring, "1M")
    assert tape.facts["steps"] == 5
    assert tape.check() < 1e-13
    ring.sum.bar.value = 1.0
    tape.reverse(last=True)
    gradient = ring.a.bar.fetch()
    tape.free()
    a, line, h = np.linspace(0.1, 0.5, COUNT), np.cos(np.arange(COUNT)), 1e-6
    difference = (ring.run(a + h * line) - ring.run(a - h * line)) / (2 * h)
    assert abs(difference - gradient @ line) < 1e-7 * np.abs(gradient).sum()


def test_tangents_are_differences(ring):
    a, line, h = np.linspace(0.1, 0.5, COUNT), np.cos(np.arange(COUNT)), 1e-6
    with op2jit.tangents():
        ring.a.put(a)
        ring.a.dot.put(line)
        for _ in range(5):
            ring.step()
        ring.finish()
    moves = ring.sum.dot.value
    difference = (ring.run(a + h * line) - ring.run(a - h * line)) / (2 * h)
    assert abs(difference - moves) < 1e-7 * (1 + abs(moves))


def test_what_is_wrong_is_said(ring):
    with pytest.raises(op2jit.Error, match='expected bytes, or such as "500M"'):
        op2jit.tape([ring.a], memory="much")
    with pytest.raises(op2jit.Error, match="not kept"):
        with op2jit.tape([Global(1.0)]):
            pass
    with pytest.raises(op2jit.Error, match="needs"):
        tape = record(ring, 1)
    with op2jit.tape([ring.a]) as tape:
        with pytest.raises(op2jit.Error, match="records already"):
            with op2jit.tape([ring.a]):
                pass
    tape.free()


def test_a_step_has_no_steps_within(ring):
    with op2jit.tape([ring.a]) as tape:
        with pytest.raises(op2jit.Error, match="OP_ERR_STATE: tape.steps within tape.steps"):
            for _ in tape.steps(range(2)):
                for _ in tape.steps(range(3)):
                    ring.step()
        for i in tape.steps(range(4)):
            ring.step()
            if i == 1:
                break
        for _ in tape.steps(range(2)):
            ring.step()
    assert tape.facts["steps"] == 1 + 2 + 2
    tape.free()


def test_bars_have_the_size_of_their_dat(ring):
    with pytest.raises(ValueError, match="has the shape .*; expected"):
        ring.u.bar.put(np.ones(COUNT + 1))
    with pytest.raises(ValueError, match="gets values of the shape"):
        ring.sum.bar.value = np.ones(2)


def test_constants_are_inputs(running):
    nodes = Set(3, "nodes")
    shape = op2jit.Const("shape", [0.5, 2.0])
    x, s = Dat(nodes, np.array([1.0, 2.0, 4.0]), name="x"), Global(0.0, kept=True)
    with op2jit.tape(inputs=[x, shape]) as tape:
        par_loop(Kernel("void f(const double *x, double *s) { *s += shape[0] * *x * *x + shape[1]; }"), nodes, x(READ), s(INC))
    s.bar.value = 1.0
    tape.reverse(last=True)
    tape.free()
    assert shape.bar.value.tolist() == [21, 3]
    assert x.bar.fetch().tolist() == [1, 2, 4]


def test_fixed_points(running):
    """The square root of p by Newton's rounds: its derivative is 1 / (2 u)."""
    nodes = Set(2, "nodes")
    p, u = Dat(nodes, np.array([4.0, 9.0]), name="p"), Dat(nodes, np.ones(2), name="u")
    newton = Kernel("void newton(const double *p, double *u) { *u = 0.5 * (*u + *p / *u); }")
    with op2jit.tape(inputs=[p]) as tape:
        with tape.fixed_point(1e-12):
            for _ in range(12):
                tape.round()
                par_loop(newton, nodes, p(READ), u(RW))
    u.bar.put(1.0)
    tape.reverse(last=True)
    assert 1 < tape.facts["rounds"] < 5
    tape.free()
    assert np.allclose(p.bar.fetch(), [1 / 4, 1 / 6], rtol=1e-14)


def test_second_derivatives(running):
    nodes = Set(2, "nodes")
    x, s = Dat(nodes, np.array([1.0, 2.0]), name="x"), Global(0.0, kept=True)
    with op2jit.tangents():
        x.dot.put(np.array([1.0, 0.5]))
        with op2jit.tape(inputs=[x]) as tape:
            par_loop(Kernel("void cube(const double *x, double *s) { *s += *x * *x * *x; }"), nodes, x(READ), s(INC))
    s.dot.bar.value = 1.0
    tape.reverse(last=True)
    tape.free()
    assert x.bar.fetch().tolist() == [6, 6]
