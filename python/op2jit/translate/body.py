"""Statements of a function of Python as C."""

from __future__ import annotations

import ast
import types
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from . import functions, places, values
from .expressions import MISSING, Expressions, _words
from .source import Source
from .values import Array, Type, Value, is_whole, join, spelled


class Piece(NamedTuple):
    """A piece of C: the line of Python that it comes from, how deep it is nested, and its text."""

    line: int
    depth: int
    code: str


class Body(Expressions):
    """A function for parameters of certain types.

    Types of variables are found by going over the statements until they do not change any more; the last time gives the
    text.
    """

    def __init__(
        self, unit: Any, function: types.FunctionType, parameters: Sequence[Tuple[str, Type]], name: str
    ) -> None:
        self.unit, self.function, self.name = unit, function, name
        self.source = Source(function)
        self.tree = self.source.tree
        self.parameters = dict(parameters)
        self.locals: Dict[str, Type] = {}
        self.fixed: Set[str] = set()  # arrays whose type was said
        self.written: Dict[str, ast.AST] = {}  # parameters, and where
        self.returns: Optional[Type] = None
        self.pieces: List[Piece] = []
        self.counters: Dict[str, Any] = {}  # of loops around, and their least and largest values
        body = self.tree.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        self.statements = body
        self.names = places.assigned(body)
        for name_ in self.names & set(self.parameters):
            node = next(
                n
                for n in ast.walk(self.tree)
                if isinstance(n, ast.Name) and n.id == name_ and isinstance(n.ctx, ast.Store)
            )
            self.source.fail(node, f"{name_} is a parameter and cannot be assigned; {name_}[0] is its first value")

    def translate(self) -> None:
        """Go over the statements until the types of variables are settled."""
        for _ in range(12):
            before = (dict(self.locals), self.returns)
            self.pieces, self.counters = [], {}
            self.places = places.declared(self.statements, self.names)
            self.block(self.statements, 1)
            if before == (self.locals, self.returns):
                break
        inline = set().union(*self.places.values()) if self.places else set()
        self.hoist(sorted(self.names - inline))

    def hoist(self, names: List[str]) -> None:
        """Variables that are declared before everything."""
        line = self.statements[0].lineno if self.statements else self.tree.lineno
        words = []
        for name in names:
            kind = self.locals.get(name)
            if isinstance(kind, Array):
                self.source.fail(self.tree, f"the array {name} must be made once, before all its uses")
            if kind is not None:
                words.append(f"{kind} {c_name(name)};")
        if words:
            self.pieces.insert(0, Piece(line, 1, " ".join(words)))

    # ---- variables ----

    def is_local(self, name: str) -> bool:
        """Is it a parameter, a variable or a counter?"""
        return name in self.names or name in self.parameters or name in self.counters

    def variable(self, name: str, node: ast.AST) -> Optional[Value]:
        """The variable of that name, or None."""
        if name in self.counters:
            return Value(c_name(name), "int", range=self.counters[name])
        if name in self.parameters:
            return Value(c_name(name), self.parameters[name], root=name)
        if name in self.locals:
            return Value(c_name(name), self.locals[name], root=name)
        if name in self.names:
            self.source.fail(node, f"{name} has no value here yet")
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
                self.source.fail(statement, f"{_words(statement)} cannot be in a kernel")
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
        self.add(node, depth, self.expression(node.value).code + ";")

    def do_Return(self, node: ast.Return, depth: int) -> None:
        if node.value is None:
            self.add(node, depth, "return;")
            return
        if self.unit.is_kernel(self):
            self.source.fail(node, "a kernel gives no value; it leaves results in its arguments")
        found = self.scalar(node.value)
        self.returns = values.strong(found.type if self.returns is None else self.widen(self.returns, found.type))
        self.add(node, depth, f"return {spelled(found, str(self.returns), 0)};")

    @staticmethod
    def widen(one: Type, other: Type) -> Type:
        """The type of a variable that gets both."""
        return one if one == other else values.strong(join(str(one), str(other)))

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
        self.block(node.body, depth + 1)
        self.close(depth)

    def do_For(self, node: ast.For, depth: int) -> None:
        call, target = node.iter, node.target
        if node.orelse:
            self.source.fail(node.orelse[0], "else of a loop cannot be in a kernel")
        if not isinstance(call, ast.Call) or self.static(call.func) is not range:
            self.source.fail(node.iter, "a loop in a kernel is over range(...)")
        if not isinstance(target, ast.Name):
            self.source.fail(target, "the counter of a loop is one name")
        if target.id in self.names or target.id in self.parameters or target.id in self.counters:
            self.source.fail(target, f"{target.id} is something else already; a loop needs a counter of its own")
        start, stop, step = self.bounds(call)
        counter, end = c_name(target.id), stop.code
        head = f"int {counter} = {start.code}"
        if stop.constant is None:
            head += f", {counter}_end = {stop.code}"
            end = counter + "_end"
        turn = {1: counter + "++", -1: counter + "--"}.get(step, f"{counter} {'+' if step > 0 else '-'}= {abs(step)}")
        self.add(node, depth, f"for ({head}; {counter} {'<' if step > 0 else '>'} {end}; {turn}) {{")
        self.counters[target.id] = _span(start, stop, step)
        self.block(node.body, depth + 1)
        del self.counters[target.id]
        self.close(depth)

    def bounds(self, call: ast.Call) -> Tuple[Value, Value, int]:
        """Start, stop and step of range(...)."""
        parts = [self.scalar(argument) for argument in call.args]
        for part, node in zip(parts, call.args):
            if not is_whole(part.type):
                self.source.fail(node, "the bounds of range are whole numbers")
        if not 1 <= len(parts) <= 3 or call.keywords:
            self.source.fail(call, "range has one to three arguments")
        start, stop = (values.number(0), parts[0]) if len(parts) == 1 else parts[:2]
        step = parts[2].constant if len(parts) == 3 else 1
        if not step:
            self.source.fail(call.args[2], "the step of range is a constant, and not 0")
        return start, stop, step

    # ---- assignments ----

    def do_AnnAssign(self, node: ast.AnnAssign, depth: int) -> None:
        if node.value is not None:
            self.assign(node, node.target, node.value, depth)

    def do_Assign(self, node: ast.Assign, depth: int) -> None:
        if len(node.targets) != 1:
            self.source.fail(node, "an assignment in a kernel has one target")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            self.assign_several(node, target, depth)
        else:
            self.assign(node, target, node.value, depth)

    def assign_several(self, node: ast.Assign, target: ast.Tuple, depth: int) -> None:
        """Several variables at once: by turns, or all from the values before."""
        if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != len(target.elts):
            self.source.fail(node, "several variables get as many values, behind commas")
        if len(places.targets(node)) == len(target.elts):
            for one, value in zip(target.elts, node.value.elts):
                self.assign(node, one, value, depth)
            return
        found = [self.scalar(value) for value in node.value.elts]
        kinds = [values.strong(value.type) for value in found]
        words = [f"const {kind} t{number}_ = {value.code};" for number, (kind, value) in enumerate(zip(kinds, found))]
        self.add(node, depth, "{ " + " ".join(words))
        for number, (one, kind, part) in enumerate(zip(target.elts, kinds, found)):
            self.store(node, one, Value(f"t{number}_", kind, range=part.range), depth)
        self.close(depth)

    def assign(self, node: ast.stmt, target: ast.expr, value: ast.expr, depth: int) -> None:
        """One target."""
        if isinstance(target, ast.Name) and self.make_array(node, target, value, depth):
            return
        found = self.expression(value)
        if isinstance(found.type, Array):
            self.source.fail(value, f"{found.code} is a row; assign its values one by one")
        self.store(node, target, found, depth)

    def store(self, node: ast.stmt, target: ast.expr, value: Value, depth: int) -> None:
        """A number into a variable or an element."""
        if isinstance(target, ast.Name):
            self.set_variable(node, target, value, depth)
            return
        place = self.place(target, value)
        words = _literal(value, place) if value.constant is not None else spelled(value, str(place.type), 0)
        self.add(node, depth, f"{place.code} = {words};")

    def set_variable(self, node: ast.stmt, target: ast.Name, value: Value, depth: int) -> None:
        """A number into a variable, which is declared here if this is its place."""
        name, kind = target.id, str(values.strong(value.type))
        if name in self.locals:
            old = self.locals[name]
            if isinstance(old, Array):
                self.source.fail(target, f"{name} is an array")
            kind = str(self.widen(old, value.type if value.type in values.WEAK else kind))
        self.locals[name] = kind
        here = name in self.places.get(id(node), ())
        self.add(node, depth, f"{kind + ' ' if here else ''}{c_name(name)} = {spelled(value, kind, 0)};")

    def place(self, target: ast.expr, value: Value) -> Value:
        """An element that is assigned."""
        if not isinstance(target, ast.Subscript):
            self.source.fail(target, "only variables and elements of arrays can be assigned")
        found = self.scalar(target)
        root = found.root
        kind = self.parameters.get(root) or self.locals.get(root)
        if not isinstance(kind, Array):
            self.source.fail(target, f"{root} is a constant")
        if kind.const:
            self.source.fail(target, f"{root} is only read here: it is passed with READ, or is an index")
        if root in self.parameters:
            self.written.setdefault(root, target)
        elif root not in self.fixed:
            wider = str(self.widen(kind.type, value.type))
            self.locals[root] = kind._replace(type=wider)
            found = found._replace(type=wider)
        return found

    def do_AugAssign(self, node: ast.AugAssign, depth: int) -> None:
        value = self.scalar(node.value)
        target: Any = node.target
        old = self.scalar(
            ast.copy_location(ast.Name(target.id, ast.Load()), target) if isinstance(target, ast.Name) else target
        )
        found = self.binary(node, node.op, old._replace(constant=None), value)
        sign = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}.get(type(node.op))
        if isinstance(target, ast.Name):
            kind = self.locals[target.id]
            if isinstance(kind, Array) or target.id in self.counters:
                self.source.fail(target, f"{target.id} cannot be changed so")
            kind = self.locals[target.id] = self.widen(kind, found.type)
            place = Value(c_name(target.id), kind)
        else:
            place = self.place(target, found)
        if sign and not (isinstance(node.op, ast.Div) and is_whole(place.type)):
            self.add(node, depth, f"{place.code} {sign} {spelled(value, str(place.type), 0)};")
        else:
            self.add(node, depth, f"{place.code} = {found.code};")

    # ---- arrays of the function's own ----

    def make_array(self, node: ast.stmt, target: ast.Name, value: ast.expr, depth: int) -> bool:
        """An array of the function, if that is what is assigned."""
        made = self.array_of(value)
        if made is None:
            return False
        kind, code, fixed = made
        if target.id not in self.places.get(id(node), ()):
            self.source.fail(node, f"the array {target.id} must be made once, before all its uses")
        if fixed:
            self.fixed.add(target.id)
        old = self.locals.get(target.id)
        if isinstance(old, Array):
            kind = kind._replace(type=old.type)
        self.locals[target.id] = kind
        dims = "".join(f"[{size}]" for size in kind.shape)
        self.add(node, depth, f"{kind.type} {c_name(target.id)}{dims}{' = ' + code if code else ''};")
        return True

    def array_of(self, value: ast.expr) -> Optional[Tuple[Array, str, bool]]:
        """[0.0] * 4, [a, b], [[1], [2]], np.zeros(4), np.empty((2, 2)): its type, its values, is the type said?"""
        if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
            kind, shape, code = self.display(value)
            return Array(kind, shape), code, False
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List):
            count, element = self.scalar(value.right), value.left
            if not isinstance(count.constant, int) or count.constant < 1 or len(element.elts) != 1:
                self.source.fail(value, "an array is made of [value] * count, with a constant count")
            found = self.scalar(element.elts[0])
            code = "{0}" if found.constant == 0 else "{" + ", ".join([found.code] * count.constant) + "}"
            return Array(str(values.strong(found.type)), (count.constant,)), code, False
        if isinstance(value, ast.Call) and self.static(value.func) in (np.zeros, np.empty, np.ones):
            return self.numpy_array(value)
        return None

    def numpy_array(self, value: ast.Call) -> Tuple[Array, str, bool]:
        """zeros, ones and empty."""
        function, kind = self.static(value.func), "double"
        dtypes = list(value.args[1:]) + [word.value for word in value.keywords if word.arg == "dtype"]
        if dtypes:
            said = self.static(dtypes[0])
            kind = functions.CASTS.get(said, "") if said is not MISSING else ""
        size = value.args[0]
        sizes = [self.scalar(part) for part in (size.elts if isinstance(size, ast.Tuple) else [size])]
        if not kind or any(not isinstance(part.constant, int) or part.constant < 1 for part in sizes):
            self.source.fail(value, "an array has constant sizes and a type of numbers")
        shape = tuple(part.constant for part in sizes)
        ones = "{" + ", ".join(["1"] * shape[0]) + "}"
        if function is np.ones and len(shape) > 1:
            self.source.fail(value, "ones is for one dimension in a kernel")
        return Array(kind, shape), {np.zeros: "{0}", np.empty: "", np.ones: ones}[function], True

    def display(self, value: ast.expr) -> Tuple[str, Tuple[int, ...], str]:
        """Values in brackets: their type, shape and text."""
        if not isinstance(value, (ast.List, ast.Tuple)):
            found = self.scalar(value)
            return str(values.strong(found.type)), (), found.code
        parts = [self.display(element) for element in value.elts]
        kind, shape = parts[0][0], parts[0][1]
        for other in parts[1:]:
            kind = str(self.widen(kind, other[0]))
            if other[1] != shape:
                self.source.fail(value, "the rows of an array have one length")
        return kind, (len(parts), *shape), "{" + ", ".join(part[2] for part in parts) + "}"


def c_name(name: str) -> str:
    """A name in C, which has some names to itself. ``exp`` is ``exp_``, and ``exp_`` another one."""
    return name + "_" if name.rstrip("_") in functions.KEYWORDS or name.startswith("op2") else name


def _literal(value: Value, place: Value) -> str:
    return (
        value.code + "f"
        if place.type == "float" and value.type == "weak float" and value.code[-1].isdigit()
        else value.code
    )


def _span(start: Value, stop: Value, step: int) -> Any:
    """The least and largest value of a counter, as far as they are known."""
    if step > 0 and start.range:
        return start.range[0], stop.range[1] - 1 if stop.range else 2**31 - 1
    if step < 0 and stop.range:
        return stop.range[0] + 1, start.range[1] if start.range else 2**31 - 1
    return None
