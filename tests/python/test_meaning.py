"""A kernel computes what Python computes, or it is refused with its line and a caret: cases that once went wrong."""

import functools
import importlib
import sys

import numpy as np
import pytest

import op2jit
from op2jit import READ, RW


def values(function, outputs, *inputs, dtype="float64", access=RW):
    """What a kernel leaves in a row of so many values, from rows that it reads."""
    s = op2jit.Set(1)
    out = op2jit.Dat(s, dim=outputs, dtype=dtype)
    dats = [op2jit.Dat(s, [row], dtype=kind) for row, kind in inputs]
    op2jit.par_loop(function, s, *[dat(READ) for dat in dats], out(access))
    return out.fetch().reshape(-1).tolist()


def refused(function, words, *inputs, outputs=1):
    """The message of a kernel that cannot be: its line is shown, and a caret below it."""
    with pytest.raises(op2jit.KernelError) as caught:
        values(function, outputs, *inputs)
    message = str(caught.value).split("\n")
    assert words in message[0] and "/test_" in message[0] and message[2].strip() == "^", message
    return message


def test_the_text_is_that_of_the_time_when_the_kernel_was_made(running, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "import op2jit\n@op2jit.kernel\ndef f(o):\n    o[0] = 1.0\n@op2jit.kernel\ndef g(o):\n    o[0] = two()\n"
    text += "def two():\n    return 2.0\n"
    (tmp_path / "edited_kernels.py").write_text(text)
    edited = importlib.import_module("edited_kernels")
    (tmp_path / "edited_kernels.py").write_text(text.replace("import op2jit\n", "import op2jit\n\n\n\n"))
    assert values(edited.g, 1) == [2]
    del sys.modules["edited_kernels"]


k = 100


def counter_after_loop(n, o):
    for k in range(4):
        if k == 2:
            break
    o[0] = k
    for k in range(3):
        pass
    o[1] = k
    k = 7
    for k in range(n[0]):
        o[2] += k
        k = 50
    o[2] += k


def test_a_counter_lives_after_its_loop(running):
    assert values(counter_after_loop, 3, ([0], "int32")) == [2, 2, 7]
    assert values(counter_after_loop, 3, ([3], "int32")) == [2, 2, 53]


def hidden_names(n, o):
    k_end = 10.0
    end0_ = 1.0
    m = n[0]
    for k in range(m):
        o[0] += k_end + end0_
    t0_ = 5.0
    o[0], o[1] = t0_, o[0]


def test_no_variable_is_that_of_the_translation(running):
    assert values(hidden_names, 2, ([3], "int32")) == [5, 33]


def scaled(f):
    @functools.wraps(f)
    def g(*p):
        return 10 * f(*p)

    return g


def tenfold(f):
    @functools.wraps(f)
    def g(value):
        return 10 * f(value)

    return g


@scaled
def hidden_helper(v):
    return v * 2


@tenfold
def helper(v):
    return v * 2


def decorated_badly(o):
    o[0] = hidden_helper(3.0)


def decorated(o):
    o[0] = helper(3.0)


def test_a_decorated_function_is_the_one_that_python_calls(running):
    assert values(decorated, 1) == [60]
    assert "*p" in refused(decorated_badly, "has parameters with *")[1]


def test_a_variable_may_have_the_name_of_a_constant(running):
    gravity = op2jit.Const("g", 9.81)

    def f(o):
        g = 2.0
        o[0] = g * gravity

    assert values(f, 1) == [2 * 9.81]


def test_there_is_one_constant_of_a_name(running):
    one = op2jit.Const("c", 1.0)
    with pytest.raises(op2jit.Error, match="a constant c is there already") as caught:
        op2jit.Const("c", 2.0)
    assert caught.value.name == "OP_ERR_STATE" and one.value == 1
    again = op2jit.Const("c", 1.0)

    def f(o):
        o[0] = one + again

    assert values(f, 1) == [2]


def bump(t):
    t[0] += 1
    return t[0]


def evaluated_once(o):
    t = [0.0]
    o[0] = 1 if -1 < bump(t) < 5 else 0
    o[1] = t[0]
    t[0] = 1.0
    t[0] += bump(t)
    o[2] = t[0]
    o[3] = t[0] + 10 * bump(t) + 100 * t[0] + 1000 * bump(t)
    a, b = bump(t), t[0]
    o[4] = a + b


def test_everything_is_computed_once_and_from_left_to_right(running):
    assert values(evaluated_once, 5) == [1, 1, 3, 3 + 40 + 400 + 5000, 12]


def bumped_at_times(x, o):
    t = [0.0]
    o[0] = 1 if x[0] > 0 and bump(t) > 0 else 0


def test_what_is_computed_at_times_cannot_change_something(running):
    assert "bump" in refused(bumped_at_times, "give its value a name first", ([1.0], "float64"))[1]


def mixed_targets(x, o):
    p, o[0] = x[0], 2.0
    o[1] = p


def big_in_min(x, o):
    o[0] = min(x[0], 10**12)
    o[1] = x[0] * 2.0**70


def huge(x, o):
    o[0] = x[0] * 2**70


def test_nothing_of_python_is_an_error_of_c(running):
    three = ([3.0], "float64")
    assert values(mixed_targets, 2, three) == [2, 3] and values(big_in_min, 2, three) == [3, 3 * 2.0**70]
    assert "2**70" in refused(huge, "more than 64 bits", three)[1]


@pytest.mark.parametrize("what", [print, 5, lambda x, o: None, [1], None], ids=str)
def test_what_is_no_kernel(running, what):
    with pytest.raises(op2jit.Error, match="def"):
        values(what, 1, ([3.0], "float64"))


@pytest.mark.native
def test_print_and_breakpoint_on_the_native_backend(running, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: seen.append(sys._getframe(1).f_locals["x"][0]))

    def look(x):
        x[0] += 1
        print("x is", x[0])
        breakpoint()

    values(look, 1, access=RW)
    assert capsys.readouterr().out == "x is 1.0\n" and seen == [1.0]

    def lines(x):
        x[0] += 1
        print(x[0])

    s = op2jit.Set(2)
    op2jit.par_loop(lines, s, op2jit.Dat(s, [1.0, 2.0])(RW))
    assert capsys.readouterr().out == "2.0\n3.0\n"

    def stop(x):
        x[0] += 1
        raise_in_debugger()

    def raise_in_debugger():
        breakpoint()

    monkeypatch.setattr(sys, "breakpointhook", lambda: 1 // 0)  # as who leaves the debugger by quit
    with pytest.raises(ZeroDivisionError):
        op2jit.par_loop(stop, s, op2jit.Dat(s)(RW))
    op2jit.par_loop(lines, s, op2jit.Dat(s)(RW))  # and the program goes on
    assert capsys.readouterr().out == "1.0\n1.0\n"


@pytest.mark.compiled
def test_print_and_breakpoint_where_kernels_are_compiled(running, capfd):
    def look(x):
        x[0] += 1
        print("100% of", x[0], x[0] > 0, 3, f"({x[0] / 4})")

    def stop(o):
        breakpoint()

    s = op2jit.Set(1)
    op2jit.par_loop(look, s, op2jit.Dat(s)(RW))
    assert capfd.readouterr().out in ("100% of 1 True 3 (0.25)\n", "")  # the library's output may wait in its buffer
    refused(stop, "native backend")


def test_no_return(running):
    def no_return(v):
        if v > 0:
            return 1.0

    def f(x, o):
        o[0] = no_return(x[0]) + 0.0

    refused(f, "may end without one", ([3.0], "float64"))


def carried(a, o):
    for j in range(3):
        if j > 0:
            o[0] += before
        before = a[0] * j


def test_a_variable_of_the_turn_before(running):
    assert values(carried, 1, ([1.0], "float64"), access=RW) == [1]


def test_an_index_from_the_end_is_refused(running):
    def last(x, o):
        o[0] = x[-1]

    def around(x, o):
        for k in range(2):
            o[0] += 10**k * x[k - 1]

    rows = ([1.0, 2.0], "float64")
    assert "x[1]" in refused(last, "counts from 0", rows)[0]
    assert values(around, 1, rows) == [12]


def put(z, s):
    z[0] = s


def put_further(z, s):
    put(z, s)


def real_into_a_list_by_a_helper(x, o):
    z = [3, 5]
    put_further(z, x[0])
    o[0] = z[0]


def real_into_an_array(x, o):
    z = np.array([1, 2])
    z[0] = x[0]
    o[0] = z[0]


def reals_into_a_slice(x, o):
    z = np.array([1, 2])
    z[:] = [x[0], 2.5]
    o[0] = z[0]


def whole_array_times_a_real(x, o):
    z = np.array([4, 5])
    z *= x[0]
    o[0] = z[0]


def whole_array_divided(x, o):
    z = np.array([4, 5])
    z /= 2
    o[0] = z[0]


def whole_element_divided(x, o):
    z = np.array([5, 5])
    z[0] /= 2
    o[0] = z[0] + x[0]


def zeros_that_are_whole(x, o):
    z = np.zeros(2, dtype=int)
    z += x[0]
    o[0] = z[0]


WHOLE_ARRAYS = (
    real_into_a_list_by_a_helper,
    real_into_an_array,
    reals_into_a_slice,
    whole_array_times_a_real,
    whole_array_divided,
    whole_element_divided,
    zeros_that_are_whole,
)


@pytest.mark.parametrize("function", WHOLE_ARRAYS, ids=lambda function: function.__name__)
def test_a_real_number_does_not_go_into_an_array_of_whole_ones(running, function):
    words = "z is made of whole numbers and gets a real one here: make it of real numbers, as in [1.0, 2.0]"
    refused(function, words, ([1.75], "float64"))


def lists_that_become_real(x, o):
    z = [3, 5]
    z[0] /= 2
    z[1] = x[0]
    put(z, z[0] + x[0])
    o[0] = z[0]
    o[1] = z[1]
    w = np.array([x[0], 2])
    w[1] = x[0]
    w *= 2
    o[2] = w[0] + w[1]
    n = np.array([4, 5])
    n *= 2
    n[1] //= 3
    put(n, 7)
    o[3] = n[0] + n[1]


def test_a_list_takes_its_type_from_all_that_goes_into_it(running):
    assert values(lists_that_become_real, 4, ([1.75], "float64")) == [3.25, 1.75, 7.0, 10.0]


def set_by_an_if(x, o):
    if x[0] > 0:
        y = 1.0
    o[0] = y


def set_by_a_loop(n, o):
    for _ in range(int(n[0])):
        y = 1.0
    o[0] = y


def read_in_the_first_turn(x, o):
    for _ in range(3):
        o[0] += y  # noqa: F821
        y = x[0]


def set_before_a_break(x, o):
    for _ in range(3):
        if x[0] > 0:
            break
        y = 2.0
    o[0] = y


def read_under_a_condition(x, o):
    for _ in range(3):
        if x[0] < 0:
            o[0] += y  # noqa: F821
        y = x[0]


def read_in_the_first_turn_by_its_counter(x, o):
    for j in range(3):
        if j < 1:
            o[0] += y  # noqa: F821
        y = x[0]


def read_behind_another_first_value(x, o):
    for j in range(1, 3):
        o[0] += y if j > 0 else 0  # noqa: F821
        y = x[0]


def set_in_some_turns(x, o):
    for j in range(3):
        if j > 0 and x[0] < y:  # noqa: F821
            o[0] += 1
        if x[0] > 0:
            continue
        y = x[0]
        if x[0] > -1:
            continue
    while o[0] > 5:
        o[0] -= z if x[0] > 0 else 1  # noqa: F821
        z = 3.0


def set_in_the_turns_that_do_not_continue(x, o):
    for j in range(3):
        if j > 0:
            o[0] += y  # noqa: F821
        if x[0] > j:
            continue
        y = x[0]


def changed_under_a_condition(x, o):
    for _ in range(3):
        if x[0] < 0:
            y += 1.0  # noqa: F821
        else:
            y = 2.0
    o[0] = 0


NO_VALUE = (set_by_an_if, set_by_a_loop, read_in_the_first_turn, set_before_a_break)
NO_VALUE += (read_under_a_condition, read_in_the_first_turn_by_its_counter, read_behind_another_first_value)
NO_VALUE += (set_in_some_turns, set_in_the_turns_that_do_not_continue, changed_under_a_condition)


@pytest.mark.parametrize("function", NO_VALUE)
def test_a_variable_that_may_have_no_value_is_refused(running, function):
    words = "y may have no value here, as not every way to this line gives it one: give y a value before the if"
    refused(function, words, ([-1.0], "float64"))


TURNS = 3


def set_on_every_way(x, o):
    if x[0] > 0:
        y = 1.0
    elif x[0] < -5:
        return
    else:
        y = 2.0
    for k in range(TURNS):
        z = x[0] + k
        if z > 100:
            continue
        break
    else_ = 0
    while True:
        v = y
        if v > 0:
            break
    o[0] = y + z + v + else_
    o[1] = k
    for j in range(TURNS):
        o[2] += before if j > 0 else 0  # noqa: F821
        before = x[0]


def test_a_variable_that_is_set_on_every_way(running):
    assert values(set_on_every_way, 3, ([-1.0], "float64"), access=RW) == [3, 0, -2]


def turns_before(x, o):
    for j in range(1, TURNS + 1):
        if not (j == 1) and (x[0] > 9 or before > 0):  # noqa: F821
            for k in range(2):
                o[0] += before * (k + 1)  # noqa: F821
        if j <= 1:
            o[1] = 7
        else:
            o[1] += before  # noqa: F821
        before = x[0] + j
    for k in range(2, -1, -1):
        o[2] += last if k != 2 and k < 2 else 1  # noqa: F821
        if x[0] > 100:
            last = 1.0
        else:
            last = 2.0 * k


def test_what_every_turn_sets_has_a_value_in_the_next(running):
    """A condition on the counter says that there was one before."""
    wanted = np.zeros(3)
    turns_before([1.0], wanted)
    assert values(turns_before, 3, ([1.0], "float64"), access=RW) == wanted.tolist()
