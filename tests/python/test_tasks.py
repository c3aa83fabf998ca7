"""Graphs of tasks in Python: functions, pieces of loops, what waits and what must not meet."""

import os
import threading
import time

import numpy as np
import pytest

import op2jit
from op2jit import INC, READ, RW


def test_functions_in_their_order(running):
    graph, seen = op2jit.Graph("order"), []
    first = graph.task(seen.append, 1)
    second = graph.task(seen.append, 2, after=[first], cost=2)
    join = graph.task(None, after=[first, second])
    graph.task(seen.append, 3).after(join)
    for _ in range(3):
        graph.run()
    assert seen == [1, 2, 3] * 3
    facts = graph.facts
    assert facts["tasks"] == 4 and facts["runs"] == 3 and facts["executed"] == 4
    assert 0 <= graph.simulate(4) < 10
    graph.free()


SCALE = """
struct scaling { int count; double by; };
void scale(op_task_memory const struct scaling *s, op_task_memory double *x, op_task_memory const double *add) {
  for (int i = op_task_thread; i < s->count; i += op_task_threads) x[i] = x[i] * s->by + add[0];
}
"""


def test_kernels_run_on_devices(running):
    """And functions elsewhere; tasks of both sides wait for one another."""

    def scale(data, x, add):
        x[:] = x * data["by"] + add[0]

    values, add, seen = np.arange(6.0), np.ones(1), []
    graph = op2jit.Graph("scale")
    kernel = graph.kernel("scale", SCALE, scale)
    one, other = graph.resource("values", values), graph.resource("add", add)
    last = None
    for turn in range(3):
        data = np.array((6, 2.0), dtype=[("count", "i4"), ("by", "f8")])
        data = np.array(data.item(), dtype=np.dtype(data.dtype.descr, align=True))
        last = graph.task(kernel, data, after=[last] if last else [], locks=[one], uses=[other])
        last = graph.task(lambda: seen.append(values[5]), after=[last], uses=[one])
    graph.run()
    assert seen == [11.0, 23.0, 47.0] and (values == np.arange(6.0) * 8 + 7).all()
    on_device = os.environ.get("OP2_BACKEND") in ("cuda", "opencl", "hip")
    assert (graph.facts["groups"] > 0) == on_device and graph.facts["executed"] == 6
    with pytest.raises(op2jit.errors.ArgumentError, match="of one type and shape"):
        graph.task(kernel, np.zeros(3))
    with pytest.raises(op2jit.Error, match="before the first task"):
        graph.kernel("scale", SCALE)


@pytest.mark.parametrize(
    "data, memory, said",
    [
        (np.arange(2.0), np.arange(3), "parameter 2 of kernel add points to float64, and its task has memory of int64"),
        (np.arange(2), np.arange(3.0), "parameter 1 of kernel add points to float64, and its task has data of int64"),
        (None, np.arange(3.0), "and its task has no data"),
    ],
)
def test_kernels_get_what_their_texts_name(running, data, memory, said):
    graph = op2jit.Graph("types")
    text = "void add(op_task_memory const double *d, op_task_memory double *x) { if (op_task_thread == 0) x[0] += d[0]; }"
    graph.task(graph.kernel("add", text, lambda d, x: None), data, locks=[graph.resource("x", memory)])
    with pytest.raises(op2jit.errors.ArgumentError, match=said):
        graph.run()


def test_locks_keep_tasks_apart(running):
    graph, inside, most = op2jit.Graph("locks"), [0], [0]
    whole = graph.resource("whole")
    parts = [whole.part(f"part {k}") for k in range(2)]

    def enter(k):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.0005)  # Python's lock is free here: others would come
        inside[0] -= 1

    for k in range(12):
        graph.task(enter, k, locks=[whole] if k % 3 == 0 else [parts[0]], uses=[parts[1]])
    graph.run()
    assert most[0] == 1 and inside[0] == 0 and graph.facts["locks"] == 12


def test_tasks_add_tasks(running):
    graph, total, lock = op2jit.Graph("tree"), [], threading.Lock()
    counter = graph.resource("counter")

    def halve(low, high):
        if high - low < 10:
            with lock:
                total.append(high - low)
            return
        middle = (low + high) // 2
        graph.add(halve, low, middle, locks=[counter])
        graph.add(halve, middle, high, locks=[counter], cost=1)

    last = []
    graph.task(lambda: last.append(sum(total))).after(graph.task(halve, 0, 1000))
    for turn in range(1, 3):
        graph.run()
        assert last[-1] == 1000 * turn
    with pytest.raises(op2jit.errors.StateError, match="for tasks, while they run"):
        graph.add(halve, 0, 1)


@op2jit.kernel
def add(w, a, b, total):
    a[0] += w[0]
    b[0] += w[0]
    total[0] += w[0]


@op2jit.kernel
def double(x):
    x[0] *= 2


def test_pieces_of_loops(running):
    n = 40
    nodes, edges = op2jit.Set(n, "nodes"), op2jit.Set(n, "edges")
    ends = op2jit.Map(edges, nodes, np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1), "ends")
    w, x, total = op2jit.Dat(edges, np.arange(float(n))), op2jit.Dat(nodes), op2jit.Global(0.0)
    graph = op2jit.Graph("loops")
    same = graph.resource("nodes")
    pieces = graph.loop(4, add, edges, w(READ), x(INC, ends[0]), x(INC, ends[1]), total(INC))
    assert len(pieces) == 4
    for piece in pieces:
        piece.lock(same)
    seen = []
    told = graph.task(lambda: seen.append(len(seen)), after=pieces)
    for piece in graph.loop([0, 10, n], double, nodes, x(RW)):
        piece.after(told)
    graph.run()
    expected = np.zeros(n)
    np.add.at(expected, np.arange(n), np.arange(n))
    np.add.at(expected, (np.arange(n) + 1) % n, np.arange(n))
    assert np.array_equal(x.fetch(), 2 * expected) and total.value == n * (n - 1) / 2 and seen == [0]


def test_what_goes_wrong_in_tasks(running):
    graph, done = op2jit.Graph("wrong"), []
    bad = graph.task(lambda: 1 // 0)
    graph.task(done.append, 1, after=[bad])
    with pytest.raises(ZeroDivisionError):
        graph.run()
    assert done == []
    circle = op2jit.Graph("circle")
    a = circle.task(print)
    b = circle.task(print, after=[a])
    a.after(b)
    with pytest.raises(op2jit.errors.CheckError, match="wait for one another"):
        circle.run()
    busy = op2jit.Graph("busy")
    busy.task(lambda: op2jit.Set(3))
    with pytest.raises(op2jit.errors.StateError, match="not from inside a kernel or a task") as caught:
        busy.run()
    assert caught.value.name == "OP_ERR_BUSY"
    for act, words in (
        (lambda: graph.task(5), "a task is a function and its arguments, and this is 5"),
        (lambda: graph.resource(memory=np.ones((4, 4))[:, 0]), "an array without gaps"),
        (lambda: bad.after(bad), "cannot wait for itself"),
    ):
        with pytest.raises(op2jit.Error, match=words) as caught:
            act()
        assert "op_" not in str(caught.value)


def test_checked_runs_find_memory_that_is_not_locked():
    with op2jit.runtime(diags=0, check="on", backend="native"):
        graph, memory = op2jit.Graph("checked"), np.zeros(4)
        right, other = graph.resource("right", memory[:2]), graph.resource("other", memory[2:])

        def put(k):
            memory[k] = 1

        graph.task(put, 0, locks=[right])
        graph.run()
        graph.task(put, 3, locks=[right])
        with pytest.raises(op2jit.errors.CheckError, match="other"):
            graph.run()
        del other
