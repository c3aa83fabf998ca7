"""What goes wrong for beginners: each message says what to write in Python."""

import glob
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import op2jit
from op2jit import INC, READ, kernel


@kernel
def add(x, y):
    y[0] += x[0]


@kernel
def change(x, y):
    x[0] = y[0]


@kernel
def assign(x, y):
    y[0] = x[0]


@kernel
def row(x, y):
    y[0] += 2 * x


class Mesh:
    """Three nodes and two edges."""

    def __init__(self):
        self.nodes, self.edges = op2jit.Set(3, "nodes"), op2jit.Set(2, "edges")
        self.ends = op2jit.Map(self.edges, self.nodes, [[0, 1], [1, 2]], "ends")
        self.x, self.y = op2jit.Dat(self.nodes, [1.0, 2, 3], name="x"), op2jit.Dat(self.nodes, name="y")


MISTAKES = {
    "a forgotten map": (
        lambda m: op2jit.par_loop(add, m.edges, m.x(READ), m.y(INC)),
        ["OP_ERR_MAP_SET", 'dat "x" is on set "nodes", but the loop runs over set "edges"', "dat(READ, map[0])"],
    ),
    "a column beyond the arity": (lambda m: m.x(READ, m.ends[2]), ["there is no 2: write ends[0] to ends[1]"]),
    "a column without its map": (lambda m: m.x(READ, 1), ["1 is no access and no map", "dat(READ, map[0])"]),
    "the number of arguments": (
        lambda m: op2jit.par_loop(add, m.nodes, m.x(READ)),
        ["has 2 parameters (x, y), but the loop passes 1 argument", "in the same order"],
    ),
    "READ is written": (
        lambda m: op2jit.par_loop(change, m.nodes, m.x(READ), m.y(READ)),
        ["x is only read here: it is passed with READ", "needs RW, WRITE or INC in the loop", "^"],
    ),
    "a row used as a number": (
        lambda m: op2jit.par_loop(row, m.nodes, m.x(READ), m.y(INC)),
        ["x is a row of 1, not a number; its first value is x[0]", "^"],
    ),
    "NumPy's norm of a dat": (lambda m: np.linalg.norm(m.x), ["write x.norm()"]),
    "a map that counts from 1": (
        lambda m: op2jit.Map(m.edges, m.nodes, [[1, 2], [2, 3]], "ends"),
        ["OP_ERR_MAP_RANGE", "seems to count from 1: subtract 1 from each entry"],
    ),
    "an array in place of a dat": (
        lambda m: op2jit.par_loop(add, m.nodes, np.ones(3), m.y(INC)),
        ["argument 1 of the loop is a NumPy array; make a dat of it: op2jit.Dat(set, array)"],
    ),
    "a number in place of a global": (
        lambda m: op2jit.par_loop(add, m.nodes, 5, m.y(INC)),
        ["argument 1 of the loop is 5; make a global of it: op2jit.Global(number)"],
    ),
    "kernel and set exchanged": (
        lambda m: op2jit.par_loop(m.nodes, add, m.x(READ), m.y(INC)),
        ["the kernel comes first and then the set: par_loop(add, nodes, ...)"],
    ),
    "READ and INC of one dat": (
        lambda m: op2jit.par_loop(add, m.edges, m.x(READ, m.ends[0]), m.x(INC, m.ends[1])),
        ["OP_ERR_ALIAS", "as argument 1 (READ) and as argument 2 (INC)", "read from a copy of the dat"],
    ),
    "real numbers are added to whole ones": (
        lambda m: op2jit.par_loop(add, m.edges, op2jit.Dat(m.edges)(READ), op2jit.Dat(m.nodes, dtype=int)(INC, m.ends[0])),
        ["y has whole numbers and is passed with INC, and a real one is added here", "add int(...)", "^"],
    ),
    "an array of another shape": (
        lambda m: m.x.put(np.ones(2)),
        ["OP_ERR_SIZE: what is put into dat x has the shape (2,); expected (3,) on set nodes"],
    ),
    "an array that would go to all elements": (
        lambda m: op2jit.Dat(m.nodes, dim=2, name="pairs").put(np.ones(2)),
        ["what is put into dat pairs has the shape (2,); expected (3, 2) on set nodes"],
    ),
    "an array for a global": (lambda m: setattr(op2jit.Global([1.0, 2.0], name="g"), "value", np.ones(3)),
        ["OP_ERR_SIZE: global g gets values of the shape (3,); expected (2,)"],
    ),
    "an array for a constant": (lambda m: op2jit.Const("three", [1.0, 2, 3]).update(np.ones(2)),
        ["OP_ERR_SIZE: constant three gets values of the shape (2,); expected (3,)"],
    ),
    "an array to solve for": (
        lambda m: op2jit.Mat((m.ends, m.ends), name="k").solve(np.ones(3), m.x),
        ["OP_ERR_ARGUMENT: the right-hand side b of matrix k is an array of NumPy; expected a dat: op2jit.Dat(set, array)"],
    ),
    "an option that there is not": (lambda m: op2jit.init(backnd="seq"), ["OP_ERR_TYPE", "did you mean backend?"]),
    "a global of whole numbers gets real ones": (
        lambda m: op2jit.par_loop(add, m.nodes, m.x(READ), op2jit.Global(0)(INC)),
        ["global of whole numbers", "op2jit.Global(0.0) holds real", "^"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(running, mistake):
    mesh = Mesh()
    act, words = MISTAKES[mistake]
    with pytest.raises(op2jit.Error) as caught:
        act(mesh)
    said = str(caught.value)
    assert all(word in said for word in words) and "op_" not in said, said
    assert mesh.x.fetch().tolist() == [1, 2, 3]


@pytest.mark.compiled
def test_inc_is_assigned(running):
    mesh = Mesh()
    with pytest.raises(op2jit.Error, match="is declared INC, and the kernel assigns it.*declare it WRITE"):
        op2jit.par_loop(assign, mesh.nodes, mesh.x(READ), mesh.y(INC))


def test_no_init():
    with pytest.raises(op2jit.Error, match="op2jit.Set was called .*call op2jit.init"):
        op2jit.Set(3, "nodes")


def test_globals_count_as_their_numbers(running):
    assert not op2jit.Global(0.0) and op2jit.Global(2)
    with pytest.raises(op2jit.Error, match="neither true nor false"):
        bool(op2jit.Global([1.0, 2.0]))
    total = op2jit.Global(0.0)
    mesh = Mesh()
    op2jit.par_loop(add, mesh.nodes, mesh.x(READ), total(INC))
    assert total.value == 6


def test_an_empty_table_says_its_arity(running):
    nothing, nodes = op2jit.Set(0), op2jit.Set(3)
    assert op2jit.Map(nothing, nodes, [], arity=2).arity == 2
    with pytest.raises(op2jit.Error, match="arity="):
        op2jit.Map(nothing, nodes, [])


def test_a_report_leaves_out_what_was_not_measured():
    rows = [{"name": "f", "calls": 1, "seconds": 1.0, "variant": "-", "gb_per_second": None, "triad_share": None}]
    report = op2jit.reports.Report({"loops": rows, "backend": "seq", "threads": 1, "ranks": 1})
    assert "100 %" in repr(report) and " 0 %" not in repr(report)


def many(action, count):
    for _ in range(count):
        action()


def test_what_is_gone_leaves_no_loop_behind(running):
    """A global, a dat, a function or a number of the element for one call of a loop."""
    mesh = Mesh()

    def plain(x, y):
        y[0] += x[0]

    def numbered(i, best, who):
        if i[0] > best[0]:
            best[0] = i[0]
            who[0] = i[0]

    best, who = op2jit.Global(-1), op2jit.Global(-1)
    actions = [
        lambda: op2jit.par_loop(add, mesh.nodes, mesh.x(READ), op2jit.Global(0.0)(INC)),
        lambda: op2jit.par_loop(add, mesh.nodes, op2jit.Dat(mesh.nodes)(READ), mesh.y(INC)),
        lambda: op2jit.par_loop(plain, mesh.nodes, mesh.x(READ), mesh.y(INC)),
        lambda: op2jit.par_loop(numbered, mesh.nodes, op2jit.index(), best(op2jit.MAX), op2jit.info(who, best)),
    ]
    for action in actions:
        many(action, 3)
        before = len(op2jit.loops._launches)
        many(action, 20)
        assert len(op2jit.loops._launches) <= before + 1 and len(mesh.x._store.keys | mesh.y._store.keys) <= before + 1
    assert who.value == 2


def test_errors_have_classes(running):
    mesh = Mesh()
    for kind, others, act in (
        (op2jit.errors.ArgumentError, ValueError, lambda: op2jit.Map(mesh.edges, mesh.nodes, [[0, 1], [1, 3]])),
        (op2jit.errors.DataTypeError, TypeError, lambda: op2jit.Dat(mesh.nodes, dtype=complex)),
        (op2jit.errors.StateError, RuntimeError, lambda: op2jit.init()),
        (op2jit.KernelError, op2jit.Error, lambda: op2jit.par_loop(change, mesh.nodes, mesh.x(READ), mesh.y(READ))),
        (op2jit.errors.FileError, op2jit.Error, lambda: op2jit.Kernel.file("no such file")),
    ):
        with pytest.raises(kind) as caught:
            act()
        assert isinstance(caught.value, others) and isinstance(caught.value, op2jit.Error)
    assert set(op2jit.errors.classes) == {name for name in op2jit.errors.codes if name.startswith("OP_ERR_") and name[-1] != "_"}


PROGRAM = """
import numpy as np
import op2jit
def wrong():
    with op2jit.runtime(diags=0):
        nodes = op2jit.Set(3, "nodes")
        op2jit.Map(nodes, nodes, [0, 1, 3], "next")
wrong()
"""


def test_a_beginner_sees_his_own_line(tmp_path):
    """And no line of the package, unless it is asked for."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    for words, hidden in (([], True), (["-X", "dev"], False)):
        found = subprocess.run([sys.executable, *words, file], stderr=subprocess.PIPE, text=True)
        said = found.stderr
        assert found.returncode == 1 and 'op2jit.Map(nodes, nodes, [0, 1, 3], "next")' in said, said
        assert said.splitlines()[-1].startswith("op2jit.errors.ArgumentError: OP_ERR_MAP_RANGE: "), said
        assert (os.path.dirname(op2jit.__file__) in said) != hidden and "contextlib" not in said, said
    try:
        op2jit.Set(1)
    except op2jit.Error as error:
        shown = "".join(error._render_traceback_())
    assert "op2jit.Set(1)" in shown and os.path.dirname(op2jit.__file__) not in shown


@kernel
def fill_more(x, n):
    for k in range(n[0]):
        x[k] = 1.0


@pytest.mark.compiled
def test_an_error_names_the_line_of_its_own_call():
    """Also where the same loop was called elsewhere before."""
    with op2jit.runtime(diags=0, check="on"):
        s = op2jit.Set(3, "s")
        x, n = op2jit.Dat(s, name="x"), op2jit.Global(1)
        op2jit.par_loop(fill_more, s, x(op2jit.RW), n(READ))
        n.value = 2
        line = sys._getframe().f_lineno + 2
        with pytest.raises(op2jit.errors.CheckError) as caught:
            op2jit.par_loop(fill_more, s, x(op2jit.RW), n(READ))
        assert caught.value.place == (__file__, line), caught.value.place
        assert caught.value.message.startswith(f"{__file__}:{line}: loop fill_more, "), caught.value


def test_every_call_has_a_name_of_python():
    """Messages of the library name calls; each that the package makes has a name that a program in Python knows."""
    package = os.path.dirname(op2jit.__file__)
    texts = [open(file, encoding="utf-8").read() for file in glob.glob(os.path.join(package, "**", "*.py"), recursive=True)]
    calls = {word for text in texts for word in re.findall(r"lib\.op2jit_(\w+)", text)}
    silent = set("arg_global arg_idx arg_info arg_mat arg_may_meet opt_arg_dat opt_arg_gbl last_error declarations errors_later".split())
    silent |= set("rank rank_count init_comm set_error_handler running_thread running_fail".split())
    silent |= {"decl_type", "solver_ready"}  # OP_TYPE, and what Python calls it
    missing = [word for word in calls - silent if "op_" + word.replace("_loop_array", "_loop") not in op2jit.words.CALLS]
    assert not missing, missing
    said = op2jit.words.in_python("OP_ERR_MPI", "op_report_json: rank 1 called op_decl_set; op_barrier and op_free_gbl")
    assert "op_" not in said and said.startswith("op2jit.report: rank 1 called op2jit.Set; op2jit.barrier"), said
