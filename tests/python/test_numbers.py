"""Numbers of kernels: signs, 64 bits, powers, zeros and what wraps around are those of Python, on every backend."""

import math

import numpy as np
import pytest

import op2jit
from op2jit import READ, RW
from test_meaning import refused, values


def signs(i, u, w, o):
    o[0] = 1 if u[0] > -1 else 0
    o[1] = i[0] - u[0]
    o[2] = max(u[0], -1)
    o[3] = 1 if i[0] < u[0] else 0
    o[4] = i[0] // 2 + u[0] % 5 - 7
    o[5] = -u[0]
    o[6] = 1 if i[0] < w[0] else 0
    o[7] = 1 if w[0] > -1 else 0
    o[8] = (w[0] % 5) - 7


def test_numbers_with_a_sign_and_without(running):
    rows = ([-3], "int32"), ([2], "uint32"), ([2**63 + 1], "uint64")
    assert values(signs, 9, *rows) == [1, -5, 2, 1, -7, -2, 1, 1, (2**63 + 1) % 5 - 7]


def mixed_signs(i, w, o):
    o[0] = i[0] + w[0]


def test_a_uint64_with_a_number_that_may_be_negative_is_refused(running):
    refused(mixed_signs, "uint64 meets", ([1], "int32"), ([1], "uint64"))


BIG, BIG_TABLE = 3_000_000_000, [2**40, 1]


def big_numbers(n, o):
    x = 2**40
    o[0] = x
    o[1] = BIG
    o[2] = BIG_TABLE[0]
    o[3] = 1 if BIG_TABLE[0] > 0 else 0
    o[4] = n[0] * n[0]
    total = n[0]
    for turn in range(3):
        total += n[0]
    o[5] = total


def test_whole_numbers_have_64_bits(running):
    expected = [2**40, BIG, 2**40, 1, 2**62, 2**33]
    assert values(big_numbers, 6, ([2**31 - 1], "int32"), dtype="int64")[:4] == expected[:4]
    assert values(big_numbers, 6, ([2**31], "int64"), dtype="int64") == expected
    assert values(big_numbers, 6, ([2**31 - 1], "int32"), dtype="int64")[4:] == [(2**31 - 1) ** 2, 4 * (2**31 - 1)]


def powers(x, o):
    o[0] = x[0] ** 2.0
    o[1] = x[0] ** -1
    for j in range(5):
        o[2] += 3**j
    n = 7
    o[3] = n**3
    o[4] = 2.0 ** (n - 9)
    o[5] = (-8.0) ** (n / n)


def test_powers(running):
    assert values(powers, 6, ([3.0], "float64")) == [9, 1 / 3, 121, 343, 0.25, -8]


def power_of_unknown(n, o):
    o[0] = 2 ** n[0]


def test_a_power_that_may_be_negative_is_refused(running):
    refused(power_of_unknown, "float() around one of them", ([2], "int32"))


def booleans(x, b, o):
    o[0] = (x[0] > 0) + (x[1] > 0)
    o[1] = b[0] + b[1]
    o[2] = b[0] * b[1]
    o[3] = x[0] / 0.0
    o[4] = math.sqrt(-x[0])
    o[5] = math.log(x[0] - x[0])
    o[6] = math.exp(1000.0 * x[0])


def test_every_backend_computes_with_numbers_of_python(running):
    found = values(booleans, 7, ([1.0, 2.0], "float64"), ([100, 100], "int8"))
    assert found[:4] == [2, 200, 10000, math.inf] and math.isnan(found[4]) and found[5:] == [-math.inf, math.inf]


def overflow(n, o):
    o[0] = n[0] + 100
    o[1] = n[0] * 100


def test_a_value_that_does_not_fit_wraps_around_where_it_is_stored(running):
    assert values(overflow, 2, ([100], "int32"), dtype="int8") == [200 - 256, 10000 % 256]
    assert values(overflow, 2, ([-101], "int32"), dtype="uint32") == [2**32 - 1, 2**32 - 10100]


def shifts_and_zeros(n, x, o):
    o[0] = 1 << n[0]
    o[1] = math.copysign(1.0, -0.0)
    o[2] = math.copysign(1.0, x[0] % 3.0)
    o[3] = math.copysign(1.0, x[1] % -3.0)
    o[4] = math.copysign(1.0, x[1] // 7.0)
    o[5] = (n[0] - 50) >> 70
    o[6] = math.copysign(1.0, -x[1])
    o[7] = 1.0 % x[1]


def test_shifts_and_signs_of_zeros(running):
    found = values(shifts_and_zeros, 8, ([40], "int64"), ([-6.0, 0.0], "float64"))
    assert found[:7] == [2**40, -1, 1, -1, 1, -1, -1] and math.isnan(found[7])


def bounded(v, low, high):
    if v < low:
        return low
    v = min(v, high)
    return v


def test_a_value_that_is_bounded_on_both_sides(running):
    """LLVM 19 made of it what is bounded above alone."""

    def clip(n, o):
        o[0] = bounded(-n[0], -4, 9)

    numbers = np.arange(-20, 21, dtype=np.int32)
    s = op2jit.Set(len(numbers))
    n, o = op2jit.Dat(s, numbers), op2jit.Dat(s, dtype="int64")
    op2jit.par_loop(clip, s, n(READ), o(RW))
    assert o.fetch().tolist() == np.clip(-numbers, -4, 9).tolist()


@pytest.mark.compiled
def test_a_shadow_in_python_rounds_as_python_does():
    """A difference of nearly equal numbers: a fused multiplication would show in all of its digits."""

    def change(x, y, largest):
        new = 0.15 + 0.85 * x[0]
        largest[0] = max(largest[0], abs(new - y[0]))

    x = np.random.default_rng(1).uniform(0, 3, 50)
    with op2jit.runtime(diags=0, shadow="native"):
        s = op2jit.Set(50)
        largest = op2jit.Global(0.0)
        y = 0.15 + 0.85 * x
        y[1:] += 1e-15
        op2jit.par_loop(change, s, op2jit.Dat(s, x)(READ), op2jit.Dat(s, y)(READ), largest(op2jit.MAX))
        assert largest.value == np.abs(0.15 + 0.85 * x - y).max()


def past_the_end(i, n, c, l):
    n[0] += (l[1] not in (1, 2)) * True
    k = ~n[0]
    n[1] *= i[0]
    n[2] -= i[1]
    c[0] += i[0]
    l[0] = (2**40 ^ n[0]) + k


def count_on(i, total, steps):
    total[0] += i[0]
    steps[0] += 1


def test_whole_numbers_wrap_in_their_own_type(running):
    """A sum at the end of int32 is what NumPy has there, for what comes behind it as well."""
    top, s = 2**31 - 1, op2jit.Set(2)
    i = op2jit.Dat(s, [[top, top]] * 2, dtype="int32")
    n = op2jit.Dat(s, [[top, top, -2]] * 2, dtype="int32")
    c, l = op2jit.Dat(s, [3, 3], dtype="int8"), op2jit.Dat(s, [[0, 5]] * 2, dtype="int64")
    op2jit.par_loop(past_the_end, s, i(READ), n(RW), c(RW), l(RW))
    assert n.fetch().tolist() == [[-top - 1, 1, top]] * 2 and c.fetch().tolist() == [2, 2]
    assert l.fetch()[:, 0].tolist() == [(2**40 ^ (-top - 1)) + top] * 2
    total = op2jit.Global(0, dtype="int32")
    to = op2jit.Dat(op2jit.Set(1), [top], dtype="int32")
    op2jit.par_loop(count_on, s, i(READ), total(op2jit.INC), to(op2jit.Map(s, to.set, [[0], [0]])[0], op2jit.INC))
    assert int(total.value) == -2 and to.fetch().tolist() == [-top]


def beyond(x, n, w, u):
    n[0] *= 1.5
    n[1] = x[0] * 3
    n[2] += x[0]
    n[3] //= -0.5
    w[0] -= x[0] * 1e6
    u[0] = -x[0]
    u[1] = 1.5e19


def test_a_real_number_that_leaves_its_whole_type(running):
    """Stored in a narrower type it wraps around, on every backend."""
    s = op2jit.Set(1)
    n = op2jit.Dat(s, [[2**31 - 2, 0, 2**31 - 1, 2**31 - 1]], dtype="int32")
    w, u = op2jit.Dat(s, [5], dtype="int64"), op2jit.Dat(s, [[0, 0]], dtype="uint64")
    op2jit.par_loop(beyond, s, op2jit.Dat(s, [2e9])(READ), n(RW), w(RW), u(RW))

    def narrow(value):
        return (value + 2**31) % 2**32 - 2**31

    expected = [int((2**31 - 2) * 1.5), 6 * 10**9, 2**31 - 1 + 2 * 10**9, -(2**32) + 2]
    assert n.fetch().ravel().tolist() == [narrow(value) for value in expected]
    assert w.fetch().tolist() == [5 - 2 * 10**15] and u.fetch().ravel().tolist() == [2**64 - 2 * 10**9, 15 * 10**18]
