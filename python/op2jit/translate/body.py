"""Statements of a function of Python as C."""

from __future__ import annotations

import ast
import re
import types
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from . import flow, functions, places, printing, values
from .assignments import Assignments
from .expressions import words_of
from .order import Order
from .source import Source
from .unset import Unset
from .values import Array, Bounds, Type, Value, bounds, is_whole, spelled

#: The most times that statements are gone over, until the types of variables are settled.
_PASSES = 100


class Piece(NamedTuple):
    """A piece of C: the line of Python that it comes from, how deep it is nested, and its text."""

    line: int
    depth: int
    code: str


class Body(Assignments):
    """A function for parameters of certain types.

    Types of variables are found by going over the statements until they do not change any more; the last time gives the
    text.
    """

    def __init__(
        self, unit: Any, function: types.FunctionType, parameters: Sequence[Tuple[str, Type]], name: str
    ) -> None:
        self.unit, self.function, self.name = unit, function, name
        self.source = Source(function, unit.files)
        self.tree = self.source.tree
        self.parameters = dict(parameters)
        words = [word.arg for word in self.tree.args.args]
        self.defaults = dict(zip(words[::-1], (function.__defaults__ or ())[::-1]))
        self.locals: Dict[str, Type] = {}
        self.fixed: Set[str] = set()  # arrays whose type was said
        self.written: Dict[str, ast.AST] = {}  # parameters, and where
        self.real_into: Set[str] = set()  # parameters that get real numbers
        self.whole_made: Set[str] = set()  # arrays of NumPy that are made of whole numbers
        self.refused: List[Tuple[Source, ast.AST, str]] = []  # what is wrong unless types change yet
        self.returns: Optional[Type] = None
        self.pieces: List[Piece] = []
        self.counters: Dict[str, Value] = {}  # of loops around
        self.certain: Set[int] = set()  # loops that have a turn for certain, by their identity
        self.loops: List[ast.stmt] = []  # around what is translated
        self.made: Dict[str, int] = {}
        self.ids = {part.id for part in ast.walk(self.tree) if isinstance(part, ast.Name)} | set(parameters)
        self.statements: List[ast.stmt] = self.tree.body
        rows = {name_ for name_, kind in parameters if isinstance(kind, Array)}
        self.own_counters = flow.inner_counters(self.statements, self.parameters)
        self.names = (flow.stored(self.tree) - self.own_counters) - rows
        order = Order(self)
        self.statements = order.block(self.statements)
        self.names |= order.made
        self.ids |= order.made
        self.hoisted = (flow.counters(self.statements) | set(self.parameters)) & self.names
        self.inputs: Dict[str, str] = {}  # what parameters are called that are assigned
        self.c_names = self.named()

    def named(self) -> Dict[str, str]:
        """The names of variables in C: none is that of something else."""
        found: Dict[str, str] = {}
        for name in sorted(self.names | self.own_counters | set(self.parameters)):
            word = c_name(name)
            while word in self.unit.taken or word in found.values():
                word += "_"
            found[name] = word
        for name in sorted(self.names & set(self.parameters)):
            word = found[name] + "_in"
            while word in self.unit.taken or word in found.values():
                word += "_"
            self.inputs[name] = found["the value that is given to " + name] = word
        for name, kind in self.parameters.items():
            word = found[name] + "_len"
            while word in self.unit.taken or word in found.values():
                word += "_"
            if isinstance(kind, Array) and kind.ragged == name:
                found["len of " + name] = word
        self.unit.words |= set(found.values())
        return found

    def count_of(self, row: Value) -> Value:
        """The number of rows of a ragged map."""
        assert isinstance(row.type, Array)
        return Value(self.c_names["len of " + row.type.ragged], "int", range=(0, values.RAGGED))

    @property
    def counts(self) -> Set[str]:
        """The names in C of numbers of rows, which nothing changes."""
        return {word for name, word in self.c_names.items() if name.startswith("len of ")}

    def c(self, name: str) -> str:
        """A variable's name in C."""
        return self.c_names[name]

    def fresh(self, base: str) -> str:
        """A name that is nothing else."""
        while True:
            number = self.made[base] = self.made.get(base, -1) + 1
            word = f"{base}{number}_"
            if word not in self.ids and word not in self.unit.taken:
                return word

    def translate(self) -> None:
        """Go over the statements until the types of variables are settled."""
        self.places = places.declared(self.statements, self.names - self.hoisted)
        for _ in range(_PASSES):
            before = (dict(self.locals), self.returns)
            self.pieces, self.counters, self.made = [], {}, {}
            self.refused, self.whole_made, self.real_into, self.certain = [], set(), set(), set()
            for name in self.inputs:
                self.locals.setdefault(name, self.parameters[name])
            self.block(self.statements, 1)
            if before == (self.locals, self.returns):
                break
        else:
            self.source.fail(self.tree, "the types of its variables cannot be found")
        Unset(self).check(self.statements)
        if self.refused and self.unit.is_kernel(self):
            source, node, words = self.refused[0]
            source.fail(node, words)
        if flow.returns_value(self.statements) and flow.falls(self.statements):
            self.source.fail(self.tree, f"{self.source.name} gives a value, but may end without one; add a return")
        inline = set().union(*self.places.values()) if self.places else set()
        self.hoist(sorted(self.names - inline))

    def hoist(self, names: List[str]) -> None:
        """Variables that are declared before everything."""
        line = self.statements[0].lineno if self.statements else self.tree.lineno
        words = []
        for name in names:
            kind = self.locals.get(name)
            start = self.inputs.get(name, "0")
            if isinstance(kind, Array):
                words.append(f"{kind.type} {self.c(name)}{''.join(f'[{size}]' for size in kind.shape)} = {{0}};")
            elif kind is not None:
                words.append(f"{kind} {self.c(name)} = {start};")
        if words:
            self.pieces.insert(0, Piece(line, 1, " ".join(words)))

    # ---- variables ----

    def is_local(self, name: str) -> bool:
        """Whether the name is a parameter, a variable or a counter."""
        return any(name in known for known in (self.names, self.parameters, self.own_counters, self.defaults))

    def variable(self, name: str, node: ast.AST) -> Optional[Value]:
        """The variable of that name, or None."""
        if name in self.counters:
            return self.counters[name]
        if name in self.locals:
            return Value(self.c(name), self.locals[name], root=name)
        if name in self.parameters:
            return Value(self.c(name), self.parameters[name], root=name)
        if name in self.defaults and name not in self.names:
            return self.of_object(self.defaults[name], name, node)
        if name in self.names:
            if not any(name in flow.stored(loop) for loop in self.loops):
                self.source.fail(node, f"{name} has no value here yet")
            return Value(self.c(name), "weak int")  # that of the turn before; its type is known when all was seen
        return None

    # ---- statements ----

    def add(self, node: ast.AST, depth: int, code: str) -> None:
        """A piece of C on the line of a statement."""
        self.pieces.append(Piece(getattr(node, "lineno", self.tree.lineno), depth, code))

    def block(self, statements: Sequence[ast.stmt], depth: int) -> None:
        """Statements of one depth."""
        for statement in statements:
            method = getattr(self, "do_" + type(statement).__name__, None)
            if method is None:
                self.source.fail(statement, f"{words_of(statement)} cannot be in a kernel")
            method(statement, depth)

    def close(self, depth: int, code: str = "}") -> None:
        """A bracket, on the last line that there is."""
        self.pieces.append(Piece(self.pieces[-1].line, depth, code))

    def do_Pass(self, node: ast.Pass, depth: int) -> None:
        pass

    def do_Break(self, node: ast.Break, depth: int) -> None:
        self.add(node, depth, "break;")

    def do_Continue(self, node: ast.Continue, depth: int) -> None:
        self.add(node, depth, "continue;")

    def do_Expr(self, node: ast.Expr, depth: int) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return
        if not isinstance(node.value, ast.Call):
            self.source.fail(node, "this computes something and leaves it nowhere")
        callee = self.static(node.value.func)
        if callee is breakpoint:
            self.unit.native_only(self, node, "breakpoint()")
        elif callee is print:
            self.add(node, depth, printing.printed(self, node.value))
        else:
            found = self.expression(node.value)
            if isinstance(found.type, Array):
                self.source.fail(node, "this computes something and leaves it nowhere")
            self.add(node, depth, found.code + ";" if found.type == "void" else f"(void)({found.code});")

    def do_Return(self, node: ast.Return, depth: int) -> None:
        if node.value is None:
            if flow.returns_value(self.statements):
                self.source.fail(node, f"{self.function.__name__} gives a value elsewhere, and so here as well")
            self.add(node, depth, "return;")
            return
        if self.unit.is_kernel(self):
            self.source.fail(node, "a kernel gives no value; it leaves results in its arguments")
        found = self.scalar(node.value)
        kind = values.kind_of(found)
        if self.returns is not None:
            kind = self.joined(node, Value("", self.returns), found)
        self.returns = kind
        self.add(node, depth, f"return {spelled(found, kind, 0)};")

    def do_If(self, node: ast.If, depth: int, word: str = "if") -> None:
        self.add(node, depth, f"{word} ({self.condition(node.test).code}) {{")
        self.block(node.body, depth + 1)
        if not node.orelse:
            self.close(depth)
        elif len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            self.do_If(node.orelse[0], depth, "} else if")
        else:
            self.pieces.append(Piece(max(self.pieces[-1].line, node.orelse[0].lineno - 1), depth, "} else {"))
            self.block(node.orelse, depth + 1)
            self.close(depth)

    def do_While(self, node: ast.While, depth: int) -> None:
        if node.orelse:
            self.source.fail(node.orelse[0], "else of a loop cannot be in a kernel")
        self.add(node, depth, f"while ({self.condition(node.test).code}) {{")
        self.loops.append(node)
        self.block(node.body, depth + 1)
        self.loops.pop()
        self.close(depth)

    def do_For(self, node: ast.For, depth: int) -> None:
        call, target = node.iter, node.target
        if node.orelse:
            self.source.fail(node.orelse[0], "else of a loop cannot be in a kernel")
        if not isinstance(call, ast.Call) or self.static(call.func) is not range:
            self.source.fail(node.iter, "a loop in a kernel is over range(...)")
        if not isinstance(target, ast.Name):
            self.source.fail(target, "the counter of a loop is one name")
        if isinstance(self.parameters.get(target.id), Array):
            self.source.fail(target, f"{target.id} is something else already; a loop needs a counter of its own")
        start, stop, step = self.bounds(call)
        inner = target.id in self.own_counters
        first, last = (start, stop) if step > 0 else (stop, start)
        if bounds(first)[1] < bounds(last)[0]:
            self.certain.add(id(node))
        span = _span(start, stop, step)
        kind = self.counter_kind(start, stop, step)
        counter = self.c(target.id) if inner else self.fresh("turn")
        head, end = f"{kind} {counter} = {spelled(start, kind, 0)}", stop.code
        if stop.constant is None and stop.code not in self.counts:
            end = self.fresh("end")
            head += f", {end} = {stop.code}"
        turn = {1: counter + "++", -1: counter + "--"}.get(step, f"{counter} {'+' if step > 0 else '-'}= {abs(step)}")
        self.add(node, depth, f"for ({head}; {counter} {'<' if step > 0 else '>'} {end}; {turn}) {{")
        found = Value(counter, kind, range=span)
        self.loops.append(node)
        if inner:
            self.counters[target.id] = found
        else:
            self.set_variable(node, target, found, depth + 1)
        self.block(node.body, depth + 1)
        self.loops.pop()
        self.counters.pop(target.id, None)
        self.close(depth)

    def bounds(self, call: ast.Call) -> Tuple[Value, Value, int]:
        """Start, stop and step of range(...)."""
        parts = [self.scalar(argument) for argument in call.args]
        for part, node in zip(parts, call.args):
            if not is_whole(part.type):
                self.source.fail(node, "the bounds of range are whole numbers")
            if bounds(part)[1] >= 2**63:
                self.source.fail(node, "this may have more than 63 bits; write np.int64(...) around it")
        if not 1 <= len(parts) <= 3 or call.keywords:
            self.source.fail(call, "range has one to three arguments")
        start, stop = (values.number(0), parts[0]) if len(parts) == 1 else parts[:2]
        step = parts[2].constant if len(parts) == 3 else 1
        if not step or abs(step) >= 2**31:
            self.source.fail(call.args[2], "the step of range is a constant, and not 0")
        return start, stop, int(step)

    @staticmethod
    def counter_kind(start: Value, stop: Value, step: int) -> str:
        """The type of a counter, which goes up to a step beyond the end."""
        found = values.hull(bounds(start), bounds(stop))
        beyond = (found[0] + min(step + 1, 0), found[1] + max(step - 1, 0))
        small = all(one.constant is not None or one.type in values.SMALL for one in (start, stop))
        return "int" if small and values.within(beyond, "int") else "long long"


def c_name(name: str) -> str:
    """A name in C, which has some names to itself. ``exp`` is ``exp_``, and ``exp_`` another one."""
    name = re.sub(r"[^0-9A-Za-z_]", lambda found: f"u{ord(found[0]):x}_", name)
    own = name.rstrip("_") in functions.KEYWORDS or name.startswith(functions.BEGINNINGS)
    return ("v" if name.startswith("_") else "") + name + ("_" if own else "")


def _span(start: Value, stop: Value, step: int) -> Optional[Bounds]:
    """The least and largest value of a counter."""
    low, high = bounds(start), bounds(stop)
    found = (low[0], high[1] - 1) if step > 0 else (high[0] + 1, low[1])
    return found if found[0] <= found[1] else None
