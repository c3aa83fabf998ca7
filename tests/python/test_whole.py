"""Arithmetic on whole dats; it and other loops wait for one another, and run as one."""

import numpy as np
import pytest

import op2jit
from op2jit import READ, RW, life


def test_arithmetic_on_whole_dats(running):
    s, t = op2jit.Set(5, "s"), op2jit.Set(2, "t")
    one, other = np.arange(10.0).reshape(5, 2), np.linspace(1, 2, 5)
    a, b, c = op2jit.Dat(s, one, name="a"), op2jit.Dat(s, other, name="b"), op2jit.Dat(s, dim=2, name="c")
    with np.errstate(all="ignore"):
        before = op2jit.counters()["loops"]
        a += 2 * b
        assert op2jit.counters()["loops"] == before + 1
        one = one + 2 * other[:, None]
        c.assign((a - b) / 4 + -a * a)
        expected = (one - other[:, None]) / 4 - one * one
        c -= c * 0.5 + np.float64(1)
        expected = expected - (expected * 0.5 + 1)
        c *= 3
        c /= b
        expected = expected * 3 / other[:, None]
    assert np.allclose(a.fetch(), one) and np.allclose(c.fetch(), expected)
    assert np.isclose(a @ c, np.sum(one * expected)) and np.isclose(op2jit.dot(a, a), a.norm() ** 2)
    assert np.isclose(c.norm(), np.linalg.norm(expected)) and np.isclose(c.sum(), expected.sum())
    assert c.min() == c.fetch().min() and a.max() == one.max()
    holes = op2jit.Dat(s, [1.0, np.nan, -2.0, 3.0, 4.0], name="holes")
    assert np.isnan(holes.min()) and np.isnan(holes.max()) and np.isnan(holes.sum())  # as NumPy has it
    holes.put(3.5)
    assert holes.min() == holes.max() == 3.5
    n = op2jit.Dat(s, [3, 1, 2, 5, 4], name="n")
    n += 2
    assert n.sum() == 25 and n.max() == 7 and n.min() == 3
    b.assign(0)
    assert b.norm() == 0
    for wrong, words in (
        (lambda: a.assign(op2jit.Dat(t)), "on set s and dat on t"),
        (lambda: b.assign(a), "has 2 values on an element; expected 1$"),
        (lambda: a + np.ones(3), "dats and numbers"),
        (lambda: a @ b, "have 2 and 1 values"),
        (lambda: np.dot(a, a), "write a @ b"),
    ):
        with pytest.raises(op2jit.Error, match=words):
            wrong()
    assert np.allclose(a, one)


@pytest.mark.compiled
def test_arithmetic_on_whole_dats_fuses():
    """Loops that follow one another wait, and run as one."""
    one, other = np.linspace(1, 2, 300), np.linspace(0, 1, 300)
    with op2jit.runtime(diags=0, lazy="on", fuse="on"):
        s = op2jit.Set(300, "s")
        a, b, c = op2jit.Dat(s, one, name="a"), op2jit.Dat(s, other, name="b"), op2jit.Dat(s, name="c")
        for turn in range(2):
            before = op2jit.counters()
            a += 2 * b
            c.assign(a - turn)
            c += 3 * b  # another number for the same kernel as that of a
            found = op2jit.counters()
            assert found["loops"] == before["loops"] + 3 and found["waiting"] == before["waiting"] + 3, found
            one = one + 2 * other
            assert np.allclose(c.fetch(), one - turn + 3 * other) and np.allclose(a.fetch(), one)
            assert op2jit.counters()["fused"] == before["fused"] + 3, op2jit.counters()
        a += b
        assert np.isclose(a @ c, (one + other) @ (one - 1 + 3 * other))


def test_arithmetic_on_whole_numbers_is_exact(running):
    s = op2jit.Set(3, "s")
    wide = op2jit.Dat(s, [2**60 + 1, 4 * 10**9, -5], name="wide")
    wide += 1
    wide.assign(-wide * 3 + 2**53)
    assert wide.fetch().tolist() == [3 * -(2**60 + 2) + 2**53, 3 * -(4 * 10**9 + 1) + 2**53, 12 + 2**53]
    wide.assign(2**53 + 1)
    assert wide.fetch().tolist() == [2**53 + 1] * 3
    wide.put([4 * 10**9, 4 * 10**9, -5])
    assert wide @ wide == 32e18 + 25 and wide.norm() == (32e18 + 25) ** 0.5
    unsigned = op2jit.Dat(s, np.array([2**63 + 1, 0, 7], np.uint64), name="unsigned")
    unsigned += 1
    assert unsigned.fetch().tolist() == [2**63 + 2, 1, 8] and unsigned.sum() == 2**63 + 11
    small = op2jit.Dat(s, np.array([0, 1, 2**32 - 1], np.uint32), name="small")
    small -= 1
    assert small.fetch().tolist() == [2**32 - 1, 0, 2**32 - 2]  # what is stored in a narrower type wraps around
    assert op2jit.Dat(s, np.array([1e30, 0, 0], np.float32), name="large").norm() == float(np.float32(1e30))
    for wrong in (lambda: wide.assign(2**64), lambda: wide.assign(np.complex128(1))):
        with pytest.raises(op2jit.Error, match="and this is"):
            wrong()
    for number in (2.5, np.nan, -1):  # as put
        with pytest.raises(op2jit.Error, match="assigned to small has the value .*, which uint32 cannot hold"):
            small.assign(number)
    small.assign(3.0)
    assert small.fetch().tolist() == [3] * 3


@op2jit.kernel
def scale(x, factor):
    for k in range(2):
        x[k] = x[k] * factor[0]


@pytest.mark.compiled
@pytest.mark.parametrize("ways", [{}, {"fuse": "on"}], ids=str)
def test_loops_that_come_again_wait(ways):
    """By default; the last-level cache is said to be small, so that it pays."""
    n, turns = 30000, 12
    one, other = np.linspace(1, 2, n), np.linspace(0, 1, n)
    with op2jit.runtime(diags=0, l3="64K", **ways):
        s = op2jit.Set(n, "s")
        a, b, c = op2jit.Dat(s, one, name="a"), op2jit.Dat(s, other, name="b"), op2jit.Dat(s, name="c")
        for turn in range(turns):
            a += 2 * b
            c.assign(a - turn)
            assert np.isclose(c @ b, (one + 2 * (turn + 1) * other - turn) @ other)
        found = op2jit.counters()
        assert found["fused"] + (0 if ways else found["tiled"]) > 0 and found["loops"] == 3 * turns, found
        assert np.allclose(c.fetch(), one + 2 * turns * other - turns + 1)


@pytest.mark.compiled
def test_what_can_be_seen_at_the_call_is_an_error_of_the_call():
    """Also where loops wait: what was called before has run, with the numbers of its call."""
    with op2jit.runtime(diags=0, tiles="1000"):  # whatever comes again waits
        s = op2jit.Set(1000, "cells")
        x, f = op2jit.Dat(s, np.ones((1000, 2)), name="x"), op2jit.Global(3.0, name="f")
        while op2jit.counters()["waiting"] == 0:
            assert op2jit.counters()["loops"] < 40
            op2jit.par_loop(scale, s, x(RW), f(READ))
        called = op2jit.counters()["loops"]
        f.value = 5.0  # what waits has the old one
        with pytest.raises(op2jit.KernelError, match="scale"):
            op2jit.par_loop(scale, s, x(RW))
        assert x.fetch()[0, 0] == 3.0**called and op2jit.counters()["waiting"] == 0


def test_an_error_of_what_waits_at_the_end_is_told(monkeypatch):
    """The report runs what waits: the library ends, and the error comes out."""

    def fails():
        raise op2jit.errors.make("MEMORY", "op_report_json runs what waits: no memory")

    op2jit.init(diags=0)
    with monkeypatch.context() as patched:
        patched.setattr(life, "_report_text", fails)
        with pytest.raises(op2jit.errors.FailedError, match="no memory"):
            op2jit.exit()
    with op2jit.runtime(diags=0):
        op2jit.Set(1)


@pytest.mark.compiled
def test_all_wait_that_are_told_to():
    with op2jit.runtime(diags=0, lazy="on"):
        s = op2jit.Set(1000, "cells")
        x = op2jit.Dat(s, np.ones((1000, 2)), name="x")
        for called in (1, 2):
            op2jit.par_loop(scale, s, x(RW), op2jit.Global(3.0, name="f")(READ))
            assert op2jit.counters()["waiting"] == called
        assert x.fetch()[0, 0] == 9
        assert op2jit.counters()["waiting"] == 0
