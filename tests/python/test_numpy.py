"""Loops against the same in NumPy, in double and in single precision."""

import numpy as np
import pytest

import op2jit
from op2jit import INC, MAX, MIN, READ, RW, WRITE, kernel

KINDS = {"float64": 1e-13, "float32": 2e-5}
N = 500


@pytest.fixture(params=KINDS)
def kind(request, running):
    return np.dtype(request.param)


def close(found, expected, kind):
    found = np.asarray(found)
    assert found.dtype == kind or found.dtype == np.float64 and found.ndim == 0
    assert np.allclose(found, expected, rtol=KINDS[kind.name], atol=KINDS[kind.name])


def numbers(kind, *shape, seed=7):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(kind)


def ring(arity=2):
    points, cells = op2jit.Set(N, "points"), op2jit.Set(2 * N, "cells")
    table = np.random.default_rng(3).permutation(np.arange(2 * N * arity) % N).reshape(2 * N, arity)
    return points, cells, op2jit.Map(cells, points, table, "corners"), table


@kernel
def axpy(x, y, a):
    for k in range(3):
        y[k] = a[0] * x[k] + y[k] / 3


def test_direct(kind):
    s = op2jit.Set(N)
    a, b = numbers(kind, N, 3), numbers(kind, N, 3, seed=8)
    x, y, factor = op2jit.Dat(s, a), op2jit.Dat(s, b), op2jit.Global(0.1, dtype=kind)
    op2jit.par_loop(axpy, s, x(READ), y(RW), factor(READ))
    close(y.fetch(), kind.type(0.1) * a + b / 3, kind)
    assert np.array_equal(x.fetch(), a)


@kernel
def spread(w, p, q, sum_p, sum_q):
    flow = w[0] * (p[0] - q[1]) * 0.5
    sum_p[0] += flow
    sum_q[1] -= flow


def test_increments_through_a_map(kind):
    points, cells, corners, table = ring()
    w, v = numbers(kind, 2 * N), numbers(kind, N, 2, seed=9)
    weight, value, total = op2jit.Dat(cells, w), op2jit.Dat(points, v), op2jit.Dat(points, dim=2, dtype=kind)
    for _ in range(3):
        op2jit.par_loop(
            spread, cells, weight(READ), value(READ, corners[0]), value(READ, corners[1]), total(INC, corners[0]),
            total(INC, corners[1]),
        )  # fmt: skip
    expected = np.zeros((N, 2), kind)
    flow = w * (v[table[:, 0], 0] - v[table[:, 1], 1]) * kind.type(0.5)
    for _ in range(3):
        np.add.at(expected[:, 0], table[:, 0], flow)
        np.add.at(expected[:, 1], table[:, 1], -flow)
    close(total.fetch(), expected, kind)


@kernel
def gather(x, mean, length):
    for k in range(2):
        mean[k] = 0
        for i in range(4):
            mean[k] += x[i][k] / 4
    length[0] = np.sqrt(mean[0] ** 2 + mean[1] ** 2)


def test_vectors_through_a_map(kind):
    points, cells, corners, table = ring(4)
    v = numbers(kind, N, 2)
    x, mean = op2jit.Dat(points, v), op2jit.Dat(cells, dim=2, dtype=kind)
    length = op2jit.Dat(cells, dtype=kind)
    op2jit.par_loop(gather, cells, x(READ, corners), mean(WRITE), length(WRITE))
    expected = v[table].mean(axis=1)
    close(mean.fetch(), expected, kind)
    close(length.fetch(), np.linalg.norm(expected, axis=1), kind)


@kernel
def look(x, total, least, largest):
    for k in range(2):
        total[k] += x[k]
        least[k] = min(least[k], x[k])
        largest[k] = max(largest[k], x[k])


def test_reductions(kind):
    s = op2jit.Set(N)
    v = numbers(kind, N, 2)
    x = op2jit.Dat(s, v)
    total, least, largest = (op2jit.Global([start, start], dtype=kind) for start in (0, 9, -9))
    op2jit.par_loop(look, s, x(READ), total(INC), least(MIN), largest(MAX))
    assert total.value.dtype == kind
    assert np.allclose(total.value, v.sum(0, dtype=np.float64), rtol=1e-3 if kind == np.float32 else 1e-12)
    assert np.array_equal(least.value, v.min(0)) and np.array_equal(largest.value, v.max(0))


@kernel
def largest_of_points(x, best):
    best[0] = max(best[0], x[0])


def test_the_largest_through_a_map(kind):
    points, cells, corners, table = ring()
    v = numbers(kind, 2 * N)
    x, best = op2jit.Dat(cells, v), op2jit.Dat(points, np.full(N, -9, kind))
    op2jit.par_loop(largest_of_points, cells, x(READ), best(MAX, corners[1]))
    expected = np.full(N, -9, kind)
    np.maximum.at(expected, table[:, 1], v)
    assert np.array_equal(best.fetch(), expected)


@kernel
def compare(x, y, n):
    n[0] = (x[0] < y[0]) + 2 * (x[0] == y[0]) + 4 * (x[0] >= 0.1) + 8 * (-1 < x[0] <= y[0])


def test_comparisons(kind):
    """A number of Python stays as narrow as what it meets, as in NumPy."""
    s = op2jit.Set(N)
    a, b = numbers(kind, N), numbers(kind, N, seed=8)
    b[::3] = a[::3]
    a[::5] = 0.1
    n = op2jit.Dat(s, np.zeros(N, np.int32))
    op2jit.par_loop(compare, s, op2jit.Dat(s, a)(READ), op2jit.Dat(s, b)(READ), n(WRITE))
    expected = (a < b) + 2 * (a == b) + 4 * (a >= kind.type(0.1)) + 8 * ((-1 < a) & (a <= b))
    assert np.array_equal(n.fetch(), expected)


def test_both_precisions_in_one_loop(running):
    s = op2jit.Set(N)
    a, b = numbers(np.float32, N, 3), numbers(np.float64, N, 3, seed=8)
    x, y = op2jit.Dat(s, a), op2jit.Dat(s, b)
    op2jit.par_loop(axpy, s, x(READ), y(RW), op2jit.Global(0.25)(READ))
    assert np.allclose(y.fetch(), 0.25 * a.astype(np.float64) + b / 3, rtol=1e-13)
