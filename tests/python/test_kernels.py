"""Kernels in Python: each gives what Python gives, and what cannot become C is an error with its line and a caret."""

import math
import os
from math import sqrt as root

import numpy as np
import pytest

import op2jit
from op2jit import INC, MAX, MIN, READ, RW, WRITE, kernel

N = 37
FOUR = 4
WEIGHTS = [0.5, 0.25, 0.125]
TABLE = np.array([[1, 2], [3, 4]], np.int32)


class Words:
    half = 0.5


def numbers(columns, kind=np.float64, seed=1):
    found = np.random.default_rng(seed).uniform(-3, 3, (N, columns))
    return (found * (5 if np.dtype(kind).kind in "iu" else 1)).astype(kind)


def same(function, *arrays, exact=False):
    """A direct loop over rows gives what the function gives on the rows one by one."""
    s = op2jit.Set(N)
    dats = [op2jit.Dat(s, array) for array in arrays]
    expected = [array.copy() for array in arrays]
    with np.errstate(all="ignore"):
        for row in range(N):
            function(*[array[row] for array in expected])
    op2jit.par_loop(function, s, *[dat(RW) for dat in dats])
    for dat, array in zip(dats, expected):
        found = dat.fetch().reshape(array.shape)
        if exact:
            assert np.array_equal(found, array), function.source
        else:
            assert np.allclose(
                found, array, rtol=1e-5 if array.dtype == np.float32 else 1e-13, atol=1e-300
            ), function.source


@kernel
def arithmetic(x, y):
    a, b = x[0], x[1]
    y[0] = a + b * 2 - (a - b) / (1 + b * b) - -a
    y[1] = a**2 + (a + b) ** 2 + b**3 + abs(a) ** 0.5 + 2**3
    y[2] = a // b + a % b
    y[3] = +a if a > b else -b
    y[2] += a * 1
    y[3] -= 1
    y[0] /= 3
    y[1] *= b
    y[0] **= 2


def test_arithmetic(running):
    same(arithmetic, numbers(2), np.zeros((N, 4)))


@kernel
def whole(x, y):
    a, b = int(x[0]), int(x[1])
    if b == 0:
        b = 3
    y[0] = a // b
    y[1] = a % b
    y[2] = (a & 7) | (b << 2) ^ (a >> 1)
    y[3] = ~a + abs(b) + min(a, b, 2) + max(a, b)
    y[4] = a * a % 7 + (a + 100) // 7
    y[5] = a**3 - 1 if a >= b else b**2
    y[0] //= 2
    y[1] %= 3


def test_whole_numbers(running):
    for kind in (np.int32, np.int64):
        same(whole, numbers(2, kind), np.zeros((N, 6), kind), exact=True)


@kernel
def division(x, y):
    y[0] = x[0] / 4
    y[1] = 1 / 3
    y[2] = x[0] / (x[1] + 100)


def test_division_of_whole_numbers_is_real(running):
    same(division, numbers(2, np.int32), np.zeros((N, 3)))


@kernel
def choices(x, y):
    if x[0] > 1 and not x[1] > 0:
        y[0] = 1
    elif x[0] < -1 or x[1] < -1 or (x[0] > 0 and x[1] > 0):
        y[0] = 2
    else:
        y[0] = 3
    y[1] = -1 < x[0] <= x[1] < 2
    small = x[0] < 0 and x[1] < 0
    y[2] = 5.0 if small else 6
    if small:
        pass
    if x[2] != x[2] or x[2] == 0:
        return
    y[3] = 9


def test_choices(running):
    same(choices, numbers(3), np.zeros((N, 4)), exact=True)


@kernel
def turns(x, y):
    total = 0
    for i in range(3):
        for j in range(i, 4):
            total += x[j] * i
    for k in range(3, -1, -1):
        if k == 1:
            continue
        y[k] = x[k] + total
    n = 0
    while n < 10:
        n += 1
        if n * x[0] > 4:
            break
    y[4] = n
    last = FOUR - 1
    for k in range(0, last + 1, 2):
        y[5] += y[k]
    for k in range(n):
        last = k
    y[6] = last


def test_loops(running):
    same(turns, numbers(4), np.zeros((N, 7)))


@kernel
def arrays(x, y):
    f = [0.0] * 4
    g = np.zeros((2, 3))
    h = [x[0], 1, 2]
    e = np.empty(2, dtype=np.int32)
    w = [[1, 2], [3, 4.5]]
    n = [0] * 2
    for k in range(4):
        f[k] = x[k] * 2
        g[k % 2, k // 2] += f[k - 1]  # of the last one for k = 0
    e[0] = 3
    e[1] = e[0] + 1
    n[1] += x[1]
    y[0] = f[0] + f[3] + g[1, 1] + g[0][0]
    y[1] = h[0] + h[2] + e[1] + n[1]
    y[2] = w[1][1] + w[0][1]
    y[3] = WEIGHTS[0] + WEIGHTS[2] * TABLE[1][0] + len(x) + Words.half


def test_arrays_of_its_own(running):
    same(arrays, numbers(4), np.zeros((N, 4)))


@kernel
def functions(x, y):
    a = abs(x[0]) + 0.1
    y[0] = math.sin(a) + math.cos(a) * math.tan(a) + math.exp(-a) + math.log(a) + root(a) + math.hypot(a, x[1])
    y[1] = (
        np.sqrt(a) + np.maximum(a, x[1]) + np.minimum(a, x[1]) + np.power(a, 1.5) + np.arctan2(x[1], a) + np.cbrt(x[1])
    )
    y[2] = min(a, x[1]) + max(x[0], 0) + float(3) + int(x[1]) + math.floor(x[1]) + np.floor(x[1]) + math.ceil(x[0])
    y[3] = math.pi + np.pi + math.copysign(1, x[1]) + math.fabs(x[1]) + pow_of(a) + bool(x[0] > 0)
    y[4] = (
        math.isnan(x[0]) + np.isfinite(x[1]) + np.fmin(x[0], x[1]) + math.erf(a) + math.atan2(a, 2) + math.fmod(x[0], a)
    )


def pow_of(v):
    """A function of the user, with a choice inside."""
    if v > 1:
        return v**0.5
    return v


def test_functions(running):
    same(functions, numbers(2), np.zeros((N, 5)))


@kernel
def nan_and_infinity(x, y):
    y[0] = math.inf if x[0] > 0 else -math.inf
    y[1] = np.minimum(math.nan, x[0])
    y[2] = min(x[0], math.nan)


def test_nan_and_infinity(running):
    s = op2jit.Set(1)
    x, y = op2jit.Dat(s, [2.0]), op2jit.Dat(s, dim=3)
    op2jit.par_loop(nan_and_infinity, s, x(READ), y(WRITE))
    found = y.fetch().ravel()
    assert found[0] == np.inf and np.isnan(found[1]) and found[2] == 2


def outer(x, y):
    fill(y, mean(x))


def mean(row):
    return total(row, 4) / 4


def total(row, count):
    found = 0.0
    for k in range(count):
        found += row[k]
    return found


def fill(row, value):
    for k in range(4):
        row[k] = value


@kernel
def helped(x, y):
    outer(x, y)
    swap(x)


def total_of_numbers(x, y):
    pair = [x[0], x[1], 1.0, 2.0]
    whole = [1, 2, 3, 4]
    y[0] = total(x, 4) + total(pair, 4)
    y[1] = total(whole, 4)


def test_one_function_for_several_types(running):
    text = kernel(total_of_numbers)
    same(text, numbers(4), np.zeros((N, 2)))
    assert text.source.count("static double total") == 2, text.source


def swap(x):
    x[0], x[1] = x[1], x[0]
    a = 1.0
    b = 2.0
    a, b = b, a + b
    x[2] = a * 10 + b


def test_functions_of_the_user(running):
    same(helped, numbers(4), np.zeros((N, 4)))
    assert "static double total(" in helped.source


def single(x):
    y = np.float32(0)
    y = x[0] * 0.1
    x[0] = y + x[0] * 3


def test_float_stays_float(running):
    text = kernel(single)
    s = op2jit.Set(N)
    x = op2jit.Dat(s, numbers(1, np.float32))
    op2jit.par_loop(text, s, x(RW))
    assert "x[0] * 0.1f" in text.source, text.source
    assert np.allclose(x.fetch(), numbers(1, np.float32)[:, 0] * np.float32(3.1), rtol=1e-6)
    assert "float y" in text.source
    doubled = op2jit.Dat(s, numbers(1))
    op2jit.par_loop(text, s, doubled(RW))  # the same function for other types
    assert "double y" in text.source


def renamed(int, default):
    short = int[0]
    default[0] = short + 1


def test_names_that_c_has_to_itself(running):
    same(kernel(renamed), numbers(1), np.zeros((N, 1)))


def corners(x, area):
    for k in range(4):
        area[0] += x[k][0] * x[(k + 1) % 4, 1] - x[(k + 1) % 4][0] * x[k, 1]


def ends(e, x, low, high, count):
    d = x[1][0] - x[0][0]
    count[0] += e[0] + e[1]
    if d < low[0]:
        low[0] = d
    if abs(d) > high[0]:
        high[0] = abs(d)


def test_vectors_numbers_and_globals(running):
    nodes, edges = op2jit.Set(N), op2jit.Set(N - 1)
    table = np.stack([np.arange(N - 1), np.arange(1, N)], axis=1)
    path = op2jit.Map(edges, nodes, table)
    data = numbers(1)
    x, count = op2jit.Dat(nodes, data), op2jit.Dat(edges, np.zeros(N - 1, np.int32))
    low, high = op2jit.Global(np.inf), op2jit.Global(0.0)
    op2jit.par_loop(kernel(ends), edges, op2jit.index(path), x(READ, path), low(MIN), high(MAX), count(INC))
    d = np.diff(data[:, 0])
    assert low.value == d.min() and high.value == abs(d).max() and np.array_equal(count.fetch(), table.sum(1))
    cells = op2jit.Set(1)
    square = op2jit.Map(cells, op2jit.Set(4, "p"), [[0, 1, 2, 3]])
    p = op2jit.Dat(square.target, [[0, 0], [1, 0], [1, 1], [0, 1.0]])
    area = op2jit.Dat(cells)
    op2jit.par_loop(kernel(corners), cells, p(READ, square), area(INC))
    assert area.fetch()[0] == 2


@pytest.mark.compiled
def test_accesses_that_are_left_out_are_found(running):
    nodes, edges = op2jit.Set(N), op2jit.Set(N - 1)
    path = op2jit.Map(edges, nodes, np.stack([np.arange(N - 1), np.arange(1, N)], axis=1), "path")
    x, count = op2jit.Dat(nodes, numbers(1)), op2jit.Dat(edges, np.zeros(N - 1, np.int32))
    low, high, f = op2jit.Global(np.inf), op2jit.Global(0.0), op2jit.Global(1.0)
    loop = op2jit.Loop(kernel(ends), edges, op2jit.index(path), x(path), low, high, count)
    assert loop.accesses == ["", "READ", "MIN", "MAX", "INC"] and loop.found == [False, True, True, True, True]
    assert "MIN (found)" in loop.describe() and "path" in loop.describe()
    y, z = op2jit.Dat(nodes), op2jit.Dat(nodes)
    text = op2jit.Kernel("void k(const double *x, double *y, double *z, double *f) { *y = *x; *z = *z * 2; *f += *x; }")
    loop = op2jit.Loop(text, nodes, x, y, z, f)
    assert loop.accesses == ["READ", "WRITE", "RW", "INC"]
    loop()
    assert np.array_equal(y.fetch(), x.fetch())

    @kernel
    def through(y):
        y[0] = 1

    with pytest.raises(op2jit.Error, match="say WRITE or RW") as caught:
        op2jit.Loop(through, edges, y(path[0]))
    assert caught.value.name == "OP_ERR_ACCESS" and caught.value.place[0] == __file__

    @kernel
    def odd(f):
        f[0] = f[0] * 2

    with pytest.raises(op2jit.Error, match="argument 1: the access of the global was left out"):
        op2jit.Loop(odd, nodes, f)


@pytest.mark.compiled
def test_text_and_files_of_c(running, tmp_path):
    s = op2jit.Set(3)
    x = op2jit.Dat(s, [1.0, 2, 3])
    op2jit.par_loop(
        op2jit.Kernel("static double two(void) { return 2; }\nvoid twice(double *x) { *x *= two(); }", "twice"),
        s,
        x(RW),
    )
    file = tmp_path / "kernels.c"
    file.write_text("/* a file */\nvoid broken(double *x) {\n  *x = unheard_of;\n}\n")
    with pytest.raises(op2jit.Error) as caught:
        op2jit.par_loop(op2jit.Kernel.file(file), s, x(RW))
    assert f"{file}:3" in str(caught.value) and caught.value.name == "OP_ERR_COMPILE"
    assert list(x.fetch()) == [2, 4, 6]
    with pytest.raises(op2jit.Error, match="cannot be read"):
        op2jit.Kernel.file(tmp_path / "nothing.c")
    with pytest.raises(op2jit.Error, match="no function of type void"):
        op2jit.Kernel("int x;")


@pytest.mark.compiled
def test_messages_of_the_library_name_the_line_of_python(running):
    s = op2jit.Set(3)
    x, y = op2jit.Dat(s), op2jit.Dat(s)

    @kernel
    def liar(x, y):
        t = x[0]

        # what is said of y is wrong
        y[0] = y[0] * t

    with pytest.raises(op2jit.Error) as caught:
        op2jit.par_loop(liar, s, x(READ), y(INC))
    line = liar.function.__code__.co_firstlineno + 5
    assert caught.value.name == "OP_ERR_VIOLATION" and f"{os.path.basename(__file__)}:{line}" in str(caught.value)


@pytest.mark.native
def test_what_a_kernel_raises_comes_out_of_the_loop(running):
    """On the native backend kernels run as Python: indices are checked, and what is only read is not written."""

    @kernel
    def beyond(x, k):
        x[k[0]] = 1

    @kernel
    def forbidden(x, y):
        write_first(x)

    s = op2jit.Set(3)
    x = op2jit.Dat(s)
    with pytest.raises(IndexError):
        op2jit.par_loop(beyond, s, x(RW), op2jit.index())
    with pytest.raises(op2jit.KernelError, match="only read"):
        op2jit.par_loop(forbidden, s, x(READ), op2jit.Dat(s)(RW))


def write_first(x):
    x[0] = 1


# ---- what is outside of the subset ----


def refused(function, *accesses, dim=2, words=""):
    """The error of a kernel, which names its line and has a caret below it."""
    s = op2jit.Set(2)
    dats = [op2jit.Dat(s, np.zeros((2, dim))) for _ in accesses or (RW,)]
    with pytest.raises(op2jit.KernelError) as caught:
        op2jit.par_loop(kernel(function), s, *[dat(access) for dat, access in zip(dats, accesses or (RW,))])
    message = str(caught.value).split("\n")
    file, line = caught.value.place
    assert file == __file__ and f"{file}:{line}:" in message[0] and words in message[0], message[0]
    with open(__file__) as source:
        text = source.readlines()[line - 1].rstrip("\n")
    assert message[1].strip() == text.strip()
    column = message[2].index("^") - 4
    return text[column:]


def no_list(x):
    x[0] = [1, 2]


def no_text(x):
    x[0] = 1
    y = "text"


def no_unknown(x):
    x[0] = unheard_of + 1


def no_slice(x):
    x[0:3] = 0


def no_row(x):
    x[0] = 2 * x


def no_index(x):
    x[0] = x[2]


def no_write(x):
    x[0] = 1


def no_recursion(x):
    x[0] = again(x[0])


def again(v):
    return again(v - 1)


def no_value(x):
    return x[0]


def no_else(x):
    for k in range(2):
        x[k] = 1
    else:
        x[0] = 2


def no_call(x):
    x[0] = sum(x[0], 2)


def no_counter(x):
    for x in range(2):
        k = 1


def no_iteration(x):
    for value in x:
        x[0] += value


def no_parameter(x):
    x = 1


def no_with(x):
    with open("f"):
        x[0] = 1


def no_step(x):
    for k in range(0, 2, 0):
        x[0] = 1


def no_attribute(x):
    x[0] = math.nothing


def no_object(x):
    x[0] = Words + 1


def no_real_index(x):
    x[0] = x[0.5 * 2]


def no_keywords(x):
    x[0] = max(1, 2, key=None)


def no_number(x):
    x[0] = x[0] + None


def no_lambda_inside(x):
    f = lambda v: v
    x[0] = f(1)


CASES = {
    no_list: ("[1, 2]", "a list cannot"),
    no_text: ('"text"', "is no number"),
    no_unknown: ("unheard_of", "not known here"),
    no_slice: ("0:3", "the slice is outside"),
    no_row: ("x", "x is a row of 2"),
    no_index: ("2]", "outside of x"),
    no_recursion: ("again(v - 1)", "called from within itself"),
    no_value: ("return", "gives no value"),
    no_else: ("x[0] = 2", "else of a loop"),
    no_call: ("sum", "cannot be called"),
    no_counter: ("x in range", "something else already"),
    no_iteration: ("x:", "over range"),
    no_parameter: ("x = 1", "is a parameter"),
    no_with: ("with", "with cannot"),
    no_step: ("0):", "not 0"),
    no_attribute: ("math.nothing", "no math.nothing"),
    no_object: ("Words", "cannot use"),
    no_real_index: ("0.5", "not a whole number"),
    no_keywords: ("max", "named arguments"),
    no_number: ("None", "is no number"),
    no_lambda_inside: ("lambda", "lambda"),
}


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_outside_of_the_subset(running, function):
    start, words = CASES[function]
    at = refused(function, words=words)
    assert at.startswith(start), at


def test_what_is_read_is_not_written(running):
    assert refused(no_write, READ, words="only read").startswith("x[0]")


def test_numbers_of_parameters(running):
    s = op2jit.Set(1)
    with pytest.raises(op2jit.KernelError, match="has 1 parameter .x., but the loop passes 2"):
        op2jit.par_loop(kernel(no_write), s, op2jit.Dat(s)(RW), op2jit.Dat(s)(RW))
    assert "becomes C at its first loop" in kernel(no_write).source
    assert kernel(mean)([1.0, 2, 3, 4]) == 2.5


def test_text_that_is_not_to_be_had(running):
    space = {}
    exec("def made(x):\n    x[0] = 1\n", space)
    s = op2jit.Set(1)
    with pytest.raises(op2jit.KernelError, match="not to be had"):
        op2jit.par_loop(kernel(space["made"]), s, op2jit.Dat(s)(RW))
