"""What kernels may say beyond numbers and loops: vectors, slices, defaults, several targets."""

import math

import numpy as np
import pytest

import op2jit
from op2jit import READ, RW, WRITE
from test_meaning import refused, values

X = ([1.5, -2.0, 4.0], "float64")


def parameters_assigned(x, o):
    o[0] = scaled(x[0], 3)
    o[1] = scaled(2)
    o[2] = scaled(by=5, v=x[1])


def scaled(v, by=2):
    v = v + 1
    while by > 1:
        v *= 0.5
        by -= 1
    return v


def test_parameters_of_functions_can_be_assigned_and_have_defaults(running):
    assert values(parameters_assigned, 3, X) == [scaled(1.5, 3), scaled(2), scaled(-2.0, 5)]


def kernel_default(o, by=2.5):
    o[0] = by


def test_a_kernel_may_have_a_default(running):
    assert values(kernel_default, 1) == [2.5]


def reductions(x, o):
    o[0] = sum(x) + round(x[0]) + round(x[2] - 1.5)
    o[1] = min(x) + 10 * max(x)
    o[2] = np.dot(x, x) + x @ x + x.dot(x) + np.sum(x[0:2]) + x[1:3].max()
    o[3] = sum(x[1:]) - len(x[1:])
    o[4] = 1 if x[1] in (-2, 3) and x[0] not in (1, 2) else 0


def test_reductions_and_slices(running):
    assert values(reductions, 5, X) == [3.5 + 2 + 2, 38, 3 * 22.25 - 0.5 + 4, 0, 1]


def vectors(x, o):
    v = np.zeros(3)
    m = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [3.0, 0.0, 1.0]])
    v = 2 * x - v
    v += m @ x
    v[1] = -v[1]
    w = np.sqrt(abs(x[0]) + v * v)
    e = np.eye(3)
    e[0] = v
    m = m.T @ e
    o[0:3] = v
    o[3:6] = w
    o[6:9] = m[2]
    o[9:12] = 7
    o[9:11] += np.array([x[2], 1])
    a, b, c = v
    o[12] = a + 10 * b + 100 * c
    first = last = x[0]
    p = q = 0
    for q in range(4):
        p, q = q, p
    o[13] = first + last + p + 10 * q
    o[14] = math.sqrt(shorter(x[1:3]))


def shorter(row):
    half = row * 0.5
    return half @ half


def test_small_vectors_and_matrices(running):
    x = np.array(X[0])
    m = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [3.0, 0.0, 1.0]])
    v = 2 * x + m @ x
    v[1] = -v[1]
    e = np.eye(3)
    e[0] = v
    whole = [*v, *np.sqrt(abs(x[0]) + v * v), *(m.T @ e)[2], 11.0, 8.0, 7.0]
    p = q = 0
    for q in range(4):
        p, q = q, p
    whole += [v[0] + 10 * v[1] + 100 * v[2], 2 * x[0] + p + 10 * q, math.sqrt(x[1:] @ x[1:] / 4)]
    assert np.allclose(values(vectors, 15, X), whole, rtol=1e-14)


def test_rows_through_maps_are_matrices(running):
    cells, points = op2jit.Set(2), op2jit.Set(4)
    corners = op2jit.Map(cells, points, [[0, 1, 2], [1, 2, 3]])
    x = op2jit.Dat(points, np.arange(8.0).reshape(4, 2))
    o, to = op2jit.Dat(cells, dim=2), op2jit.Dat(points, dim=2)

    def middle(p, o):
        o[:] = (p[0] + p[1] + p[2]) / 3
        o += np.array([1.0, 0.0]) @ p[0:2]

    def give(p):
        p[0] += np.array([1.0, 2.0])
        p[2, 1] -= 1

    op2jit.par_loop(middle, cells, x(READ, corners), o(RW))
    assert np.allclose(o.fetch(), np.array([[2, 3], [4, 5]]) + np.array([[0, 1], [2, 3]]))
    op2jit.par_loop(give, cells, to(op2jit.INC, corners))
    assert to.fetch().tolist() == [[1, 2], [1, 2], [0, -1], [0, -1]]


def other_name(x, o):
    y = x


def list_arithmetic(x, o):
    y = [1.0, 2.0]
    y = y + y


def two_shapes(x, o):
    y = x + np.zeros(2)


def beyond(x, o):
    y = x[1:5]


def no_vector(x, o):
    o[0] = np.linalg.norm(x)


def digits(x, o):
    o[0] = round(x[0], 2)


def unknown_keyword(x, o):
    o[0] = scaled(x[0], to=3)


def in_row(x, o):
    o[0] = 1 if 2.0 in x else 0


CASES = {
    other_name: "np.array(x) is a copy",
    list_arithmetic: "make it by np.array",
    two_shapes: "shapes (2,) and (3,)",
    beyond: "the slice is outside",
    no_vector: "write math.sqrt(v @ v)",
    digits: "round to digits",
    unknown_keyword: "has no parameter to",
    in_row: "in is for a tuple",
}


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_what_is_refused_says_what_to_write(running, function):
    refused(function, CASES[function], X)


C_NAMES = (
    "trunc exp log abs main double struct_ printf INFINITY NULL M_PI int32_t free y0 op2_kernel min switch".split()
)


def test_names_of_c_are_names_in_kernels(running, tmp_path):
    import importlib.util

    words = "".join(
        f"def {name}(a, o):\n    {other} = a[0] * 2\n    o[0] = {other}\n\n"
        for name, other in zip(C_NAMES, C_NAMES[1:] + C_NAMES[:1])
    )
    (tmp_path / "names_of_c.py").write_text(words)
    spec = importlib.util.spec_from_file_location("names_of_c", tmp_path / "names_of_c.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    s = op2jit.Set(2)
    a = op2jit.Dat(s, [1.0, 2.0])
    for name in C_NAMES:
        o = op2jit.Dat(s)
        op2jit.par_loop(op2jit.kernel(getattr(module, name)), s, a(READ), o(WRITE))
        assert o.fetch().tolist() == [2, 4], name


@op2jit.kernel
def two_names(a, o):
    index = a[0]
    index_ = index + 1
    o[0] = index * 10 + index_


def test_names_that_differ_by_an_underscore_stay_two(running):
    s = op2jit.Set(2)
    o = op2jit.Dat(s)
    op2jit.par_loop(two_names, s, op2jit.Dat(s, [1.0, 2.0])(READ), o(WRITE))
    assert o.fetch().tolist() == [12, 23]
