"""Ragged maps and records in Python: kernels read and write rows of any number, and values with names."""

import numpy as np
import pytest

import op2jit
from op2jit import INC, MIN, READ, RW, WRITE

ROWS = [[0, 2], [], [0, 1, 2], [1]]


@op2jit.kernel
def multiply(a, x, y, count):
    y[0] = 0
    for k in range(len(x)):
        y[0] += a[k][0] * x[k][1]
    count[0] = len(a)


def largest_of(rows):
    found = -1.0
    for k in range(len(rows)):
        found = max(found, rows[k][0])
    return found


def first(row):
    return row[0]


@op2jit.kernel
def spread(a, number, to, low, most):
    for k in range(len(to)):
        to[k][0] += a[k, 0] + number[k][0]
        low[k][0] = min(low[k][0], first(a[k]))
    most[0] = largest_of(a)


@op2jit.kernel
def fill(a):
    for k in range(len(a)):
        a[k][0] = 10 * len(a) + k


class Matrix:
    """Four rows of three columns; the second one has no entry."""

    def __init__(self):
        self.rows, self.columns = op2jit.Set(4, "rows"), op2jit.Set(3, "columns")
        self.map = op2jit.Map.ragged(self.rows, self.columns, ROWS, name="matrix")
        self.a = op2jit.Dat(self.map.entries, np.arange(1.0, 7.0), name="a")
        self.x = op2jit.Dat(self.columns, np.arange(6.0).reshape(3, 2), name="x")
        self.y = op2jit.Dat(self.rows, name="y")


def test_rows_of_any_number(running):
    m = Matrix()
    count = op2jit.Dat(m.rows, dtype=np.int32, name="count")
    op2jit.par_loop(multiply, m.rows, m.a(READ, m.map), m.x(READ, m.map), m.y(WRITE), count(WRITE))
    assert m.y.fetch().tolist() == [1 * 1 + 2 * 5, 0, 3 * 1 + 4 * 3 + 5 * 5, 6 * 3]
    assert count.fetch().tolist() == [2, 0, 3, 1]
    assert m.map.entries.size == 6 and m.map.table.tolist() == [0, 2, 0, 1, 2, 1] and m.map.offsets.tolist()[-1] == 6
    to, low = op2jit.Dat(m.columns, name="to"), op2jit.Dat(m.columns, np.full(3, 9.0), name="low")
    arguments = [m.a(READ, m.map), op2jit.index(m.map), to(INC, m.map), low(MIN, m.map), m.y(WRITE)]
    op2jit.par_loop(spread, m.rows, *arguments)
    assert to.fetch().tolist() == [4, 12, 11] and low.fetch().tolist() == [1, 4, 2]
    assert m.y.fetch().tolist() == [2, -1, 5, 6]
    op2jit.par_loop(fill, m.rows, m.a(WRITE, m.map))
    assert m.a.fetch().tolist() == [20, 21, 30, 31, 32, 10]


def test_two_ragged_maps_and_arrays_of_scipy(running):
    m = Matrix()
    back = op2jit.Map.ragged(m.rows, m.rows, np.array([3, 2, 1, 0, 0]), np.array([0, 1, 2, 4, 5]), "back")

    @op2jit.kernel
    def both(x, other, y):
        y[0] = 100 * len(x) + len(other)
        for k in range(len(other)):
            y[0] += other[k][0]

    z = op2jit.Dat(m.rows, [1000.0, 2000, 3000, 4000], name="z")
    op2jit.par_loop(both, m.rows, m.x(READ, m.map), z(READ, back), m.y(WRITE))
    assert m.y.fetch().tolist() == [201 + 4000, 1 + 3000, 302 + 2000 + 1000, 101 + 1000]


RECORD = np.dtype([("rho", "f8"), ("kind", "i4"), ("u", "f4", 2), ("small", "i1")])


@op2jit.kernel
def step(w, out):
    w[0].rho += w[0]["u"][1]
    w[0].kind *= 3
    w[0].u[0] = w[0].rho / 3
    for k in range(2):
        out[k] = w[0].u[k]
    w[0].small = w[0].kind


@op2jit.kernel
def through(a, b, w):
    w[0].rho = a[0].rho + 10 * b[0].rho
    w[0].u[0] = a[0].kind
    w[0].u[1] = b[0].u[1]


@op2jit.kernel
def take(w, v):
    v[0] = w[0]


def test_records_are_structs(running):
    s, e = op2jit.Set(3, "s"), op2jit.Set(2, "e")
    rows = np.zeros(3, RECORD)
    rows["rho"], rows["kind"], rows["u"] = [1, 2, 3], [4, 5, 600], [[0, 0.5]] * 3
    w, out = op2jit.Dat(s, rows, name="w"), op2jit.Dat(s, dim=2, name="out")
    op2jit.par_loop(step, s, w(RW), out(WRITE))
    found = w.fetch()
    assert found["rho"].tolist() == [1.5, 2.5, 3.5] and found["kind"].tolist() == [12, 15, 1800]
    assert found["small"].tolist() == [12, 15, 8]  # 1800 in eight bits
    assert np.array_equal(found["u"][:, 0], (found["rho"] / 3).astype("f4"))
    assert np.array_equal(out.fetch(), found["u"])
    ends, far = op2jit.Map(e, s, [[0, 1], [1, 2]], "ends"), op2jit.Dat(e, dtype=RECORD, name="far")
    op2jit.par_loop(through, e, w(READ, ends[0]), w(READ, ends[1]), far(RW))
    assert far.fetch()["rho"].tolist() == [26.5, 37.5] and far.fetch()["u"].tolist() == [[12, 0.5], [15, 0.5]]
    v = op2jit.Dat(s, dtype=RECORD, name="v")
    op2jit.par_loop(take, s, w(READ), v(WRITE))
    assert (v.fetch() == found).all()
    v.put(rows)
    with v.access("r+") as inside:
        inside["rho"] = 7
    assert v.fetch()["rho"].tolist() == [7, 7, 7] and v.fetch()["kind"].tolist() == [4, 5, 600]


WIDE = op2jit.record("wide", [("rho", float), ("u", float, (2, 2)), ("on", bool), ("time", np.int16)])


@op2jit.kernel
def of_a_global(g, o, w):
    o[0] = g[0].rho + g[0].u[1][0] + w[1].u[0, 1]
    if g[0].on:
        o[0] += w[1].time
    w[0].time += 70000
    w[0].u[1, 1] = -g[0].rho


def test_records_of_globals_and_fields_of_two_dimensions(running):
    value, rows = np.zeros((), WIDE), np.zeros((2, 2), WIDE)
    value["rho"], value["u"], value["on"] = 3, [[1, 2], [4, 5]], True
    rows["time"], rows["u"][:, 1, 0, 1] = [[1, 2], [3, 4]], 9
    s = op2jit.Set(2, "s")
    g, o, w = op2jit.Global(value, name="g"), op2jit.Dat(s), op2jit.Dat(s, rows, name="w")
    op2jit.par_loop(of_a_global, s, g(READ), o(WRITE), w(RW))
    assert o.fetch().tolist() == [18, 20] and repr(w) == "<Dat w: 2 of struct wide on each of s>"
    assert w.fetch()["time"].tolist() == [[4465, 2], [4467, 4]] and w.fetch()["u"][0, 0].tolist() == [[0, 0], [0, -3]]


@pytest.mark.compiled
def test_a_kernel_in_c_has_the_struct_by_its_name(running):
    state = op2jit.record("state", [("rho", float), ("flags", np.int8), ("u", float, (2,))])
    s = op2jit.Set(2)
    w = op2jit.Dat(s, np.zeros(2, state), name="w")
    op2jit.par_loop(op2jit.Kernel("void put(struct state *w) { w->rho = 2; w->u[1] = 3; }"), s, w(RW))
    assert w.fetch()["rho"].tolist() == [2, 2] and w.fetch()["u"].tolist() == [[0, 3], [0, 3]]


@pytest.mark.compiled
def test_a_row_that_is_not_there_is_said_in_python(running):
    m = Matrix()

    def beyond(x, y):
        y[0] = 0
        for k in range(len(x)):
            y[0] += x[k + 1][0]

    words = "and the kernel uses row 4; let k in x[k] go from 0 to len(x) - 1"
    refused(words, lambda: op2jit.par_loop(beyond, m.rows, m.x(READ, m.map), m.y(WRITE)), shown="OP_ROW(x, k + 1)")


def refused(words, act, shown=""):
    with pytest.raises(op2jit.Error) as caught:
        act()
    said = str(caught.value)
    assert words in said and shown in said and "op_" not in said, said


def test_what_is_wrong_with_ragged_maps(running):
    m = Matrix()
    one = op2jit.Dat(m.rows)

    def kernel(body):
        space = {}
        text = f"def f(x, y):\n    {body}\n"
        import linecache

        name = f"<{body}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), space)
        return lambda: op2jit.par_loop(op2jit.kernel(space["f"]), m.rows, m.x(READ, m.map), one(WRITE))

    refused("x has the rows of a ragged map: write a loop, for k in range(len(x)), over x[k]", kernel("y[0] = x"))
    refused("write a loop, for k in range(len(x))", kernel("y[0] = sum(x[0] + x)"))
    refused("x has the rows of a ragged map, and is no number; the first value is x[0][0]", kernel("y[0] = abs(x)"))
    refused("have no slices", kernel("y[0] = x[0:2][0][0]"))
    refused("the index 2 is outside of x", kernel("y[0] = x[0][2]"))
    refused("is ragged, so that not each element has a target 0: pass dat(READ, matrix)", lambda: m.map[0])
    refused("the offsets of map m are 5 numbers from 0 up to the 2 targets", lambda: op2jit.Map.ragged(m.rows, m.columns, [0, 1], [0, 1, 2], "m"))
    refused("target 0 of element 1 of set \"columns\" is 3", lambda: op2jit.Map.ragged(m.columns, m.columns, [[0], [3], []], name="m"))
    for words, targets, offsets, name in (
        ("targets of element 0 of map m are no row of whole numbers", [[0.5], [1], []], None, "m"),
        ("targets of element 1 of the map are no row of whole numbers", [[0], [[1], [1, 0]], []], None, None),
        ("map m has 2 rows; expected one for each of the 3 elements of set columns", [[0], [1]], None, "m"),
        ("map m has numbers in place of rows: give a list of rows, or offsets as well", [0, 1, 2], None, "m"),
        ("map m has no rows but 5", 5, None, "m"),
        ("map m: target 1 of element 2 of set columns is -1; elements of set columns count from 0", [[0], [], [1, -1]], None, "m"),
        ("the map: target 0 of element 1 of set columns is 1099511627776", [[0], [2**40], []], None, None),
        ("map m: target 1 of element 2 of set columns is -3", [0, 1, -3], [0, 1, 1, 3], "m"),
        ("the targets of map m are no row of whole numbers", [[0], [1, 0], []], [0, 1, 3, 3], "m"),
        ("the offsets of map m are no row of whole numbers", [0, 1], [[0], [1, 2]], "m"),
        ("the offsets of the map go back: offset 2 is 1, and the one before is 2", [0, 1], np.array([0, 2, 1, 2], "u8"), None),
    ):
        refused(words, lambda: op2jit.Map.ragged(m.columns, m.columns, targets, offsets, name))
    refused("Map.entries", lambda: op2jit.Map(m.rows, m.rows, [0, 1, 2, 3]).entries)


def test_what_is_wrong_with_records(running):
    s = op2jit.Set(2)
    w, o = op2jit.Dat(s, dtype=RECORD, name="w"), op2jit.Dat(s, name="o")

    def number(w, o):
        o[0] = w[0] + 1.0

    def another_name(w, o):
        r = w[0]
        o[0] = r.rho

    def given(w, o):
        o[0] = max(w[0], 1.0)

    def passed(w, o):
        o[0] = first(w[0])

    def no_field(w, o):
        o[0] = w[0].rhoo

    def into(w, o):
        w[0] = 1.0

    for function, words in (
        (number, "w[0] is a record, not a number; its values are w[0].rho, w[0].kind, w[0].u, w[0].small"),
        (another_name, "r would be another name of a record"),
        (no_field, "there is no field rhoo of this record; it has rho, kind, u, small"),
        (given, "w[0] is a record, not a number"),
        (passed, "w[0] is a record, not a number"),
        (into, "w[0] is a record, and gets a record"),
    ):
        refused(words, lambda: op2jit.par_loop(function, s, w(RW), o(WRITE)))
    def of_rows(w, o):
        for k in range(len(w)):
            o[0] += w[k].rho

    def by_name(w, o):
        o[0] = w[1]["rho"]

    back = op2jit.Map.ragged(s, s, [[1], [0, 1]], name="back")
    pair = op2jit.Map(s, s, [[0, 1], [1, 0]], "pair")
    refused("w[k] is a row of records: write w[k][0].rho", lambda: op2jit.par_loop(of_rows, s, w(READ, back), o(RW)))
    refused("w[1] is a row of records: write w[1][0].rho", lambda: op2jit.par_loop(by_name, s, w(READ, pair), o(RW)))
    refused("w has records, and no numbers to compute with", lambda: w + 1)
    refused("w has records", lambda: w.sum())
    refused("fields with names", lambda: op2jit.record("r", float))
    refused("field a of a record is", lambda: op2jit.Dat(s, dtype=[("a", [("b", float)])]))
    words = "what is put into dat w has the fields other; expected the fields rho, kind, u, small"
    refused(words, lambda: w.put(np.zeros(2, [("other", float)])))
    refused("has values of type float64; expected the fields rho", lambda: w.put(np.zeros(2)))


def test_whole_numbers_of_records_stay_what_they_are(running):
    s = op2jit.Set(2)
    w = op2jit.Dat(s, dtype=RECORD, name="w")
    for name, kind, value, words in (
        ("kind", "i8", 2**40 + 7, "the value 1099511627783, which int32 cannot hold"),
        ("kind", "f8", 2.5, "the value 2.5, which int32 cannot hold"),
        ("small", "i4", 200, "the value 200, which int8 cannot hold"),
    ):
        other = [(field, kind if field == name else RECORD[field]) for field in RECORD.names]
        fits, rows = np.zeros(2, other), np.zeros(2, other)
        fits[name][1], fits["u"] = 7, 0.5
        rows[name][1] = value
        for what, call in (
            ("what is put into dat w", lambda: w.put(rows)),
            ("the data of dat v", lambda: op2jit.Dat(s, rows, dtype=RECORD, name="v")),
            ("global g", lambda: op2jit.Global(rows[1], dtype=RECORD, name="g")),
        ):
            refused(f"field {name} of {what} has {words}", call)
        w.put(fits)
        assert w.fetch()[name].tolist() == [0, 7] and w.fetch()["u"].tolist() == [[0.5, 0.5]] * 2
        assert op2jit.Global(fits[1], dtype=RECORD).data[name] == 7
    wider = np.zeros(2, [(field, ("f4", (3,)) if field == "u" else RECORD[field]) for field in RECORD.names])
    refused("field u of what is put into dat w has the shape (3,); expected (2,)", lambda: w.put(wider))


def test_accesses_of_records_are_found(running):
    s = op2jit.Set(3, "s")
    w, v, next_ = op2jit.Dat(s, dtype=RECORD, name="w"), op2jit.Dat(s, dtype=RECORD), op2jit.Map(s, s, [1, 2, 0], "next")

    @op2jit.kernel
    def push(w, v):
        w[0].rho += v[0].rho + 1

    loop = op2jit.Loop(push, s, w, v)
    assert loop.accesses == ["RW", "READ"]
    loop()
    assert w.fetch()["rho"].tolist() == [1, 1, 1]
    refused("say WRITE or RW if no two elements", lambda: op2jit.Loop(push, s, w(next_[0]), v))
