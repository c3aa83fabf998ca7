"""Sets, maps, dats, globals, constants, loops: the interface."""

import gc
import os
import re
import threading
import weakref

import numpy as np
import pytest

import op2jit
from op2jit import INC, MAX, MIN, READ, RW, WRITE, life


@op2jit.kernel
def add_ends(value, sum_a, sum_b):
    sum_a[0] += value[0]
    sum_b[0] += value[0]


@op2jit.kernel
def scale(x, factor):
    for k in range(2):
        x[k] = x[k] * factor[0]


def ring(n, kind=np.int32):
    nodes, edges = op2jit.Set(n, "nodes"), op2jit.Set(n, "edges")
    table = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1).astype(kind)
    return nodes, edges, op2jit.Map(edges, nodes, table, "ends"), table


def test_a_loop_adds_through_a_map(running):
    for kind in (np.int32, np.int64, np.uint8):
        nodes, edges, ends, table = ring(50, kind)
        values = np.random.default_rng(1).random(50)
        weight = op2jit.Dat(edges, values, name="weight")
        total = op2jit.Dat(nodes, name="total")
        op2jit.par_loop(add_ends, edges, weight(READ), total(INC, ends[0]), total(INC, ends[1]))
        expected = np.zeros(50)
        np.add.at(expected, table[:, 0], values)
        np.add.at(expected, table[:, 1], values)
        assert np.allclose(total.fetch(), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", ["float64", "float32", "int32", "uint32", "int64", "uint64", "int16", "int8"])
def test_all_types_go_in_and_out(running, kind):
    s = op2jit.Set(4)
    data = np.array([[1, 2], [3, 4], [5, 6], [7, 100]], kind)
    for soa in (False, True):
        d = op2jit.Dat(s, data, soa=soa)
        assert d.dtype == data.dtype and d.dim == 2
        assert np.array_equal(d.fetch(), data)
        d.put(data[::-1])
        assert np.array_equal(np.asarray(d), data[::-1])


def test_arrays_that_are_not_contiguous_go_in_and_none_comes_out(running):
    s = op2jit.Set(3)
    wide = np.arange(12.0).reshape(3, 4)
    d = op2jit.Dat(s, wide[:, ::2])
    assert np.array_equal(d.fetch(), wide[:, ::2])
    with pytest.raises(op2jit.Error, match="not contiguous") as caught:
        d.fetch(np.empty((3, 4))[:, ::2])
    assert caught.value.name == "OP_ERR_ARGUMENT"
    with pytest.raises(op2jit.Error, match="float32"):
        d.fetch(np.empty((3, 2), np.float32))


def test_access_gives_an_array(running):
    s = op2jit.Set(3)
    d = op2jit.Dat(s, [1.0, 2, 3])
    with d.access("r+") as a:
        a[1] = 7
    with d.access() as a:
        assert list(a) == [1, 7, 3]
        with pytest.raises(ValueError):
            a[0] = 1
    with d.access("w") as a:
        a[:] = 5
    assert list(d.fetch()) == [5, 5, 5]
    with pytest.raises(op2jit.Error, match='"r\\+"'):
        with d.access("rw"):
            pass


def test_mistakes_are_exceptions_with_code_and_place(running):
    nodes, edges, ends, _ = ring(4)
    d = op2jit.Dat(nodes, np.zeros((4, 2)))
    cases = {
        "OP_ERR_MAP_RANGE": lambda: op2jit.Map(edges, nodes, [[0, 1], [1, 2], [2, 3], [3, 4]]),
        "OP_ERR_SIZE": lambda: op2jit.Dat(nodes, [1.0, 2.0]),
        "OP_ERR_TYPE": lambda: op2jit.Dat(nodes, np.zeros(4, complex)),
        "OP_ERR_INDEX": lambda: ends[2],
        "OP_ERR_MAP_SET": lambda: op2jit.par_loop(scale, nodes, d(RW, ends[0]), op2jit.Global(1.0)(READ)),
        "OP_ERR_ARGUMENT": lambda: d("read"),
    }
    for name, wrong in cases.items():
        with pytest.raises(op2jit.Error) as caught:
            wrong()
        assert caught.value.name == name
        assert caught.value.place[0] == __file__ and caught.value.place[1] > 0
    assert d.fetch().sum() == 0  # and the library goes on


def test_before_and_after_the_runtime():
    with pytest.raises(op2jit.Error) as caught:
        op2jit.Set(3)
    assert caught.value.name == "OP_ERR_STATE"
    for _ in range(3):
        with op2jit.runtime(diags=0):
            d = op2jit.Dat(op2jit.Set(2), [1.0, 2.0])
            factor = op2jit.Global(3.0)
    with pytest.raises(op2jit.Error):
        d.fetch()
    with op2jit.runtime(diags=0):
        with pytest.raises(op2jit.Error) as caught:
            d.fetch()
        assert caught.value.name == "OP_ERR_HANDLE"
    assert factor.value == 3
    with pytest.raises(op2jit.Error, match="nowhere"):
        op2jit.init(backend="nowhere")


@op2jit.kernel
def measure(x, e, low, high, where, sum_x):
    sum_x[0] += x[0]
    if x[0] < low[0]:
        low[0] = x[0]
    if x[0] > high[0]:
        high[0] = x[0]
        where[0] = e[0]


def test_reductions_and_the_place_of_the_largest(running):
    s = op2jit.Set(1000)
    data = np.random.default_rng(2).random(1000)
    x = op2jit.Dat(s, data)
    low, high, total = op2jit.Global(np.inf), op2jit.Global(-np.inf), op2jit.Global(1.0)
    where = op2jit.Global(-1)
    op2jit.par_loop(measure, s, x(READ), op2jit.index(), low(MIN), high(MAX), op2jit.info(where, high), total(INC))
    assert low.value == data.min() and high.value == data.max() and where.value == data.argmax()
    assert np.isclose(total.value, 1 + data.sum(), rtol=1e-13)
    total.value = 0
    op2jit.par_loop(measure, s, x(READ), op2jit.index(), low(MIN), high(MAX), op2jit.info(where, high), total(INC))
    assert np.isclose(float(total), data.sum(), rtol=1e-13)
    with pytest.raises(op2jit.Error, match="whose place"):
        op2jit.par_loop(measure, s, x(READ), op2jit.index(), low(MIN), high(MAX), op2jit.info(where, where), total(INC))


@op2jit.kernel
def shift(x, by, count):
    x[0] += by[0]
    count[0] += 1


def test_globals_that_the_library_keeps(running):
    s = op2jit.Set(5)
    x, count = op2jit.Dat(s), op2jit.Global(0, kept=True)
    by = op2jit.Global([2.0], kept=True)
    for _ in range(3):
        op2jit.par_loop(shift, s, x(RW), by(READ), count(INC))
    assert count.value == 15 and list(x.fetch()) == [6] * 5
    by.value = [-1.0]
    op2jit.par_loop(shift, s, x(RW), by(READ), count(INC))
    assert list(x.fetch()) == [5] * 5


rate = None


@op2jit.kernel
def decay(x):
    x[0] *= 1 - rate[0] / rate[1]


def test_constants_of_the_library_change(running):
    global rate
    rate = op2jit.Const("rate", [1.0, 4.0])
    s = op2jit.Set(2)
    x = op2jit.Dat(s, [1.0, 2.0])
    op2jit.par_loop(decay, s, x(RW))
    assert np.allclose(x.fetch(), [0.75, 1.5])
    rate.update([1.0, 2.0])
    x.put([1.0, 2.0])
    op2jit.par_loop(decay, s, x(RW))
    assert np.allclose(x.fetch(), [0.5, 1.0])


@op2jit.kernel
def maybe(x, y):
    x[0] += 1


def test_an_argument_may_be_absent(running):
    s = op2jit.Set(2)
    x, y = op2jit.Dat(s), op2jit.Dat(s)
    op2jit.par_loop(maybe, s, x(INC), y(INC, present=False))
    assert list(x.fetch()) == [1, 1]


@op2jit.kernel
def grow(x):
    x[0] += 1


@op2jit.kernel
def shrink(x):
    x[0] -= 1


def test_elements_that_meet_are_told_once(running, capfd):
    nodes, pairs = op2jit.Set(2), op2jit.Set(6)
    node = op2jit.Map(pairs, nodes, [[0], [0], [1], [1], [1], [0]], name="node")
    x = op2jit.Dat(nodes, name="x")
    for _ in range(2):
        op2jit.par_loop(grow, pairs, x(RW, node[0]))
    assert capfd.readouterr().err.count("elements 0 and 1 of set") == 1
    assert x(RW, node[0]).may_meet() is x(RW, node[0]).may_meet()
    op2jit.par_loop(shrink, pairs, x(RW, node[0]).may_meet())
    assert capfd.readouterr().err == ""
    assert list(x.fetch()) == [3, 3]


def test_garbage_in_any_order(running):
    nodes, edges, ends, _ = ring(30)
    dats = [op2jit.Dat(nodes, np.full((30, 2), float(k)), name=f"d{k}") for k in range(40)]
    factor = op2jit.Global(2.0)
    loops = [op2jit.Loop(scale, nodes, dat(RW), factor(READ)) for dat in dats[:20]]
    for dat in dats[10:]:
        op2jit.par_loop(scale, nodes, dat(RW), factor(READ))
    del dat
    kept = weakref.ref(dats[0])
    store = weakref.ref(dats[39]._store)
    order = np.random.default_rng(3).permutation(40)
    for k in order:
        dats[k] = None
    assert kept() is None and store() is None  # without a run of the collector
    before = op2jit.counters()["records"]
    loops[5]()  # the loop keeps what it needs
    assert loops[5].args[0].owner.name == "d5"
    loops[::2] = [None] * len(loops[::2])
    del nodes, edges, ends, _
    for _ in range(20):
        dat = op2jit.Dat(op2jit.Set(3), np.ones((3, 2)))
        op2jit.par_loop(scale, dat.set, dat(RW), op2jit.Global(5.0)(READ))
        assert dat.fetch()[0, 0] == 5
    loops.clear()
    gc.collect()
    assert op2jit.counters()["records"] > before
    with pytest.raises(op2jit.Error):
        dat.free()
        dat.fetch()


def test_freed_dats_leave_no_loops(running):
    """A new dat at the place of an old one is another dat."""
    s = op2jit.Set(4)
    factor = op2jit.Global(3.0)
    for value in range(1, 60):
        x = op2jit.Dat(s, np.full((4, 2), float(value)))
        op2jit.par_loop(scale, s, x(RW), factor(READ))
        assert np.all(x.fetch() == 3 * value)


def test_a_second_thread_gets_an_exception(running):
    """The kernel runs in Python on the native backend, and asks the library from another thread meanwhile."""
    if running.report().data["backend"] != "native":
        assert in_threads(lambda: op2jit.Set(3)) == [None]  # one after the other is allowed
        return
    found = []

    @op2jit.kernel
    def ask(x):
        found.append(in_threads(lambda: op2jit.Set(3))[0])

    s = op2jit.Set(1)
    form = ask.form
    # The function that the kernel calls cannot become C: it is given the text of another one.
    ask.form = lambda parameters: op2jit.kernels.Form(
        "ask", "static void ask(double *x) { *x = 0; }", "", ask.function, parameters
    )
    op2jit.par_loop(ask, s, op2jit.Dat(s)(RW))
    assert form and found[0].name == "OP_ERR_BUSY"


def in_threads(action):
    found = []

    def run():
        try:
            action()
            found.append(None)
        except op2jit.Error as problem:
            found.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found


def test_views_stay_the_programs_arrays(running):
    s = op2jit.Set(3, "cells")
    mine = np.arange(6.0).reshape(3, 2)
    x = op2jit.Dat(s, mine, name="mine", view=True)
    before = op2jit.counters()["bytes_of_views"]
    op2jit.par_loop(scale, s, x(RW), op2jit.Global(2.0, name="f")(READ))
    with x.access("r+") as a:
        assert np.shares_memory(a, mine) and list(a.flat) == [0, 2, 4, 6, 8, 10]
        a[0, 0] = 5
        with pytest.raises(op2jit.Error, match="acquired"):
            x.fetch()
    with x.access() as a, pytest.raises(ValueError):
        a[0, 0] = 1
    assert list(x.fetch().flat) == [5, 2, 4, 6, 8, 10]
    assert op2jit.counters()["bytes_of_views"] == before
    fixed = np.zeros((3, 2))
    fixed.flags.writeable = False
    for wrong in ([[1.0, 2]] * 3, np.zeros((3, 4))[:, ::2], fixed):
        with pytest.raises(op2jit.Error, match="view"):
            op2jit.Dat(s, wrong, view=True)
    x.free()
    assert mine[0, 0] == 5


def test_loops_show_their_accesses(running):
    s = op2jit.Set(4, "cells")
    x = op2jit.Dat(s, np.ones((4, 2)), name="x")
    loop = op2jit.Loop(scale, s, x(RW), op2jit.Global(2.0, name="f")(READ))
    loop()
    loop()
    assert x.fetch()[0, 0] == 4
    assert loop.accesses == ["RW", "READ"] and repr(loop) == "<Loop scale over cells: RW, READ>"
    assert "x" in loop.describe() and "<table>" in loop._repr_html_()


def test_subsets(running):
    nodes, edges, ends, table = ring(30)
    values = np.random.default_rng(4).random(30)
    weight, total = op2jit.Dat(edges, values), op2jit.Dat(nodes)
    numbers = np.random.default_rng(5).permutation(30)[:11]
    mask = values > 0.5
    for some, expected in ((slice(3, 9), range(3, 9)), (slice(0, 30, 7), range(0, 30, 7)), (numbers, numbers),
                           (mask, np.flatnonzero(mask)), ([], [])):  # fmt: skip
        part = edges.subset(some, "part")
        assert part.size == len(expected)
        total.put(0)
        op2jit.par_loop(add_ends, part, weight(READ), total(INC, ends[0]), total(INC, ends[1]))
        sums = np.zeros(30)
        for column in (0, 1):
            np.add.at(sums, table[list(expected), column], values[list(expected)])
        assert np.allclose(total.fetch(), sums, rtol=1e-14)
        part.free()
    for wrong, name in ((mask[:5], "OP_ERR_SIZE"), ([0.5], "OP_ERR_TYPE"), ([30], "OP_ERR_RANGE"), ([-1], "OP_ERR_RANGE"),
                        ([1, 1], "OP_ERR_ARGUMENT")):  # fmt: skip
        with pytest.raises(op2jit.Error) as caught:
            edges.subset(wrong)
        assert caught.value.name == name


def test_sets_and_maps_can_be_freed(running):
    kept = op2jit.Set(4, "kept")
    for _ in range(5):
        s = op2jit.Set(4, "s")
        m = op2jit.Map(s, kept, [0, 1, 2, 3], "m")
        with pytest.raises(op2jit.Error):
            s.free()
        x, y = op2jit.Dat(s, np.ones(4)), op2jit.Dat(kept)
        op2jit.par_loop(copy_one, s, x(READ), y(WRITE, m[0]))
        assert y.fetch().sum() == 4
        del x
        m.free()
        s.free()
    with pytest.raises(op2jit.Error) as caught:
        op2jit.Dat(s)
    assert caught.value.name == "OP_ERR_HANDLE"


@op2jit.kernel
def copy_one(x, y):
    y[0] = x[0]


def test_order_and_files(running, tmp_path):
    nodes, edges, ends, table = ring(40)
    values = np.arange(40.0)
    x = op2jit.Dat(nodes, values, name="x")
    weight = op2jit.Dat(edges, np.ones(40), name="w")
    op2jit.renumber(ends)
    op2jit.partition("block", edges)
    op2jit.par_loop(add_ends, edges, weight(READ), x(INC, ends[0]), x(INC, ends[1]))
    assert np.array_equal(x.fetch(), values + 2)
    if not plugin("hdf5"):
        pytest.skip("the library was built without HDF5")
    op2jit.dump(tmp_path / "mesh.h5", x)
    op2jit.files.save_const(tmp_path / "mesh.h5", "time", [1.5])
    again = op2jit.files.load_set(tmp_path / "mesh.h5", "nodes")
    assert again.size == 40
    loaded = op2jit.files.load_dat(again, 1, float, tmp_path / "mesh.h5", "x")
    assert np.array_equal(loaded.fetch(), values + 2)
    other = op2jit.files.load_set(tmp_path / "mesh.h5", "edges")
    assert op2jit.files.load_map(other, again, 2, tmp_path / "mesh.h5", "ends").arity == 2
    assert op2jit.files.load_const(tmp_path / "mesh.h5", "time")[0] == 1.5


def plugin(word):
    try:
        op2jit._library.check(op2jit._library.lib.op2jit_open_hdf5())
    except op2jit.Error:
        return False
    return word == "hdf5"


def test_progress_is_a_line_on_a_terminal(running):
    class Terminal(list):
        def isatty(self):
            return True

        def write(self, text):
            self.append(text)

        def flush(self):
            pass

    out = Terminal()
    assert list(op2jit.progress(range(5), "steps", file=out)) == list(range(5))
    assert "steps 5 of 5" in out[-1] and out[-1].endswith("\n")
    out.isatty = lambda: False
    quiet = Terminal()
    quiet.isatty = lambda: False
    list(op2jit.progress(range(5), file=quiet))
    assert not quiet


def test_a_constant_that_is_updated_counts_in_the_next_call(running):
    s = op2jit.Set(3)
    o = op2jit.Dat(s)
    step = op2jit.Const("step_of_time", 2.0)
    globals()["factor_of_module"] = op2jit.Const("factor_of_module", 20.0)

    @op2jit.kernel
    def from_cell(o):
        o[0] = step + factor_of_module  # noqa: F821

    for value in (2.0, 5.0, [5.5]):
        step.update(value)
        factor_of_module.update(np.sum(value) * 10)
        op2jit.par_loop(from_cell, s, o(WRITE))
        assert (o.fetch() == np.sum(value) * 11).all()


def test_bytes_in_another_order_are_turned_round(running):
    s = op2jit.Set(3)
    for kind in (">f8", ">i4", ">i2"):
        data = np.array([1, 2, 3], kind)
        assert op2jit.Dat(s, data).fetch().tolist() == [1, 2, 3]
        assert op2jit.Global(data).value.tolist() == [1, 2, 3]
        with pytest.raises(op2jit.Error, match="view"):
            op2jit.Dat(s, data, view=True)


def test_numbers_that_do_not_fit_are_refused(running):
    for size, code in ((2**40, "OP_ERR_SIZE"), (2.7, "OP_ERR_TYPE"), ("3", "OP_ERR_TYPE")):
        with pytest.raises(op2jit.Error) as problem:
            op2jit.Set(size)
        assert problem.value.name == code
    s = op2jit.Set(np.int64(2))
    for dim in (2**32 + 1, 2.5):
        with pytest.raises(op2jit.Error, match="dim"):
            op2jit.Dat(s, dim=dim)
    for values in ([2**40, 1], [1.5, 2], np.array([1.0, np.nan]), [1j, 2]):
        with pytest.raises(op2jit.Error, match="what|has"):
            op2jit.Dat(s, values, dtype="int32")
    x = op2jit.Dat(s, [1.0, 2.0], dtype="int32")
    for values in ([1.7, 2], [2**33, 1], 1j):
        with pytest.raises(op2jit.Error, match="put into"):
            x.put(values)
    x.put(np.array([3, 4], np.int64))
    assert x.fetch().tolist() == [3, 4]
    g, c = op2jit.Global(1), op2jit.Const("whole", 1)
    with pytest.raises(op2jit.Error, match="hold"):
        g.value = 2.5
    with pytest.raises(op2jit.Error, match="hold"):
        c.update(2**31)
    with pytest.raises(op2jit.Error, match="hold"):
        op2jit.Global(2**40)


def test_handles_are_not_copied_and_show_themselves_when_they_are_freed():
    import copy
    import pickle

    op2jit.init(diags=0)
    s = op2jit.Set(3, "<s>")
    of = [s, op2jit.Map(s, s, [0, 1, 2]), op2jit.Dat(s), op2jit.Global(1.0, kept=True), op2jit.Const("c", 1)]
    for one in of:
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="fetch"):
                make(one)
    op2jit.exit()
    for one in of:
        repr(one), one._repr_html_()
    assert repr(s) == "<op2jit.Set <s>: freed>" and "&lt;s&gt;: freed" in s._repr_html_()
    with op2jit.runtime(diags=0):
        t, x = op2jit.Set(3, "t"), None
        x = op2jit.Dat(t, name="x")
        x.free()
        assert "freed" in x._repr_html_()
        t.free()
        assert "freed" in repr(t)


def test_an_option_that_is_not_there_is_named():
    with pytest.raises(TypeError, match="did you mean backend"):
        op2jit.init(bakend="seq")
    words = open(os.path.join(os.environ["OP2JIT_ROOT"], "docs/environment.md")).read()
    documented = set(re.findall(r"`OP2_([A-Z0-9_]+)`", words))
    assert documented == {name.upper() for name in life.OPTIONS}


def test_no_loop_runs_on_a_dat_that_is_written_to(running):
    s = op2jit.Set(2)
    x, y, g = op2jit.Dat(s, np.ones((2, 2))), op2jit.Dat(s, np.ones((2, 2))), op2jit.Global(3.0)
    loop = op2jit.Loop(scale, s, x(RW), g(READ))
    op2jit.par_loop(scale, s, x(RW), g(READ))
    for mode in ("r+", "w"):
        with x.access(mode) as a:
            a[:] = 1
            for call in (loop, lambda: op2jit.par_loop(scale, s, x(RW), g(READ))):
                with pytest.raises(op2jit.Error, match="written to") as problem:
                    call()
                assert problem.value.name == "OP_ERR_STATE"
            op2jit.par_loop(scale, s, y(RW), g(READ))
        loop()
        assert (x.fetch() == 3).all()
    with x.access("r") as a:
        loop()
        assert (a == 3).all()
    with pytest.raises(ZeroDivisionError):
        with x.access("r+"):
            raise ZeroDivisionError
    loop()
    assert (x.fetch() == 27).all()
