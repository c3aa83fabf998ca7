"""Expressions of Python as C."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, NoReturn, Optional, Tuple

import numpy as np

from .._library import DTYPES, TYPES
from . import functions, values
from .calls import Calls
from .source import Source
from .values import Array, Value, bounds, is_whole, wrap

MISSING = object()


class Expressions(Calls):
    """Expressions, for statements. A sub-class knows variables, parameters and the unit around."""

    source: Source
    unit: Any
    function: Any

    # ---- names ----

    def variable(self, name: str, node: ast.AST) -> Optional[Value]:
        """The variable of that name, or None."""
        raise NotImplementedError

    def static(self, node: ast.AST) -> Any:
        """The object that a name or attribute stands for in Python, MISSING if it is a variable or unknown."""
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            if base is MISSING or isinstance(base, (np.ndarray, list)):
                return MISSING
            return getattr(base, node.attr, MISSING)
        if not isinstance(node, ast.Name) or self.is_local(node.id):
            return MISSING
        return self.unit.outside(self.function, node.id)

    def is_local(self, name: str) -> bool:
        """Whether the name is a parameter, a variable or a counter."""
        raise NotImplementedError

    def of_object(self, found: Any, name: str, node: ast.AST) -> Value:
        """A constant of the module, or of the library."""
        constant = self.unit.constant(found)
        if constant is not None:
            kind, code = constant.type, constant.name
            if constant.scalar:
                return self.load(code, kind, code)
            return Value(code, Array(kind, (constant.data.size,), True), root=code)
        if isinstance(found, (bool, np.bool_)):
            return values.number(bool(found))
        if isinstance(found, (int, np.integer)):
            return self.constant(node, int(found))
        if isinstance(found, (float, np.floating)):
            return values.number(float(found))
        if isinstance(found, (list, tuple, np.ndarray)):
            table: Value = self.unit.table(self, found, name, node)
            return table
        what = type(found).__name__
        self.source.fail(
            node, f"{name} is of Python's type {what}, which a kernel cannot use; numbers and tables of numbers it can"
        )

    # ---- expressions ----

    def expression(self, node: ast.AST) -> Value:
        """Any expression."""
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.source.fail(node, f"{words_of(node)} cannot be in a kernel")
        found: Value = method(node)
        return found

    def scalar(self, node: ast.AST) -> Value:
        """An expression that is a number."""
        found = self.expression(node)
        if isinstance(found.type, Array):
            self.no_number(node, found)
        if found.type == "void":
            self.source.fail(node, f"{ast.unparse(node)} gives no value")
        self.no_record(node, found)
        return found

    def no_record(self, node: ast.AST, found: Value) -> None:
        """A record has no value by itself."""
        if values.is_record(found.type):
            fields = ", ".join(f"{ast.unparse(node)}.{name}" for name in _fields(found.type))
            self.source.fail(node, f"{ast.unparse(node)} is a record, not a number; its values are {fields}")

    def no_number(self, node: ast.AST, found: Value) -> NoReturn:
        """A row in place of a number: the message shows the row."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and self.is_local(part.id):
                row = self.variable(part.id, part)
                if row and isinstance(row.type, Array):
                    node, found = part, row
                    break
        assert isinstance(found.type, Array)
        name = ast.unparse(node)
        if found.type.ragged:
            self.source.fail(node, f"{name} has the rows of a ragged map, and is no number; the first value is {name}[0][0]")
        example = name + "".join("[0]" for _ in found.type.shape)
        self.source.fail(node, f"{name} is a row of {found.type.shape[-1]}, not a number; its first value is {example}")

    def on_Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            self.source.fail(node, f"{node.value!r} is no number")
        return self.constant(node, node.value)

    def on_Name(self, node: ast.Name) -> Value:
        found = self.variable(node.id, node)
        if found is not None:
            return found
        outside = self.static(node)
        if outside is MISSING:
            self.source.fail(node, f"{node.id} is not known here: it is no parameter, variable or constant")
        return self.of_object(outside, node.id, node)

    def on_Attribute(self, node: ast.Attribute) -> Value:
        found = self.static(node)
        if found is MISSING and isinstance(node.value, ast.Subscript):
            record = self.expression(node.value)
            if values.is_record(record.type):
                return self.loaded(self.field(node, record, node.attr))
        if found is MISSING:
            self.refuse_row(node, node.value, node.attr)
            if node.attr in ("T", "size") and self.is_row(node.value):
                row = self.expression(node.value)
                assert isinstance(row.type, Array)
                return self.transposed(node, row) if node.attr == "T" else values.number(int(np.prod(row.type.shape)))
            self.source.fail(node, f"there is no {ast.unparse(node)} that a kernel could use")
        return self.of_object(found, node.attr, node)

    def refuse_row(self, node: ast.AST, base: ast.expr, name: str) -> None:
        """A field of a row of records, not of one of them: the message shows the record."""
        if not isinstance(base, ast.Subscript) and not (isinstance(base, ast.Name) and self.is_local(base.id)):
            return
        row = self.expression(base)
        if isinstance(row.type, Array) and values.is_record(row.type.type) and name in _fields(row.type.type):
            said = ast.unparse(base)
            self.source.fail(node, f"{said} is a row of records: write {said}{'[0]' * len(row.type.shape)}.{name}")

    def is_row(self, node: ast.AST) -> bool:
        """Whether it is a row, a vector or a matrix."""
        return self.static(node) is MISSING and isinstance(self.expression(node).type, Array)

    # ---- elements ----

    def load(self, code: str, kind: str, root: str) -> Value:
        """An element. Python computes with float64: an exact kernel makes one of a float32 as soon as it is read."""
        if kind == "float" and self.unit.exact:
            return Value(f"(double){code}", "double", values.UNARY, root=root)
        return Value(code, kind, root=root)

    def on_Subscript(self, node: ast.Subscript) -> Value:
        return self.loaded(self.element(node))

    def loaded(self, found: Value) -> Value:
        """A value that lies in memory, as a part of an expression."""
        if isinstance(found.type, Array) or values.is_record(found.type):
            return found
        return self.load(found.code, found.type, found.root)

    def field(self, node: ast.AST, record: Value, name: str) -> Value:
        """A value of a record, as it lies in memory."""
        from .body import c_name

        of = _fields(record.type).get(name)
        if of is None:
            self.source.fail(node, f"there is no field {name} of this record; it has {', '.join(_fields(record.type))}")
        kind, shape = of
        code = f"{record.code}.{c_name(name)}"
        return Value(code, Array(kind, shape) if shape else kind, root=record.root)

    def element(self, node: ast.expr) -> Value:
        """An element, or a row of a matrix, or a slice, or a value of a record, as it lies in memory."""
        name_ = _field_of(node)
        if name_:
            base = node.value  # type: ignore[attr-defined]
            record = self.expression(base)
            if not values.is_record(record.type):
                self.refuse_row(node, base, name_)
                self.source.fail(node, f"{ast.unparse(base)} is no record, which has values with names")
            return self.field(node, record, name_)
        indices: List[ast.expr] = []
        base = node
        several = False
        while isinstance(base, ast.Subscript) and not _field_of(base):
            part = base.slice
            here = list(part.elts) if isinstance(part, ast.Tuple) else [part]
            if indices and any(isinstance(one, ast.Slice) for one in here):
                break
            several = several or isinstance(part, ast.Tuple)
            indices, base = here + indices, base.value
        array = self.expression(base)
        if not isinstance(array.type, Array):
            self.source.fail(node, f"{ast.unparse(base)} is a number and has no parts")
        shape, name = array.type.shape, ast.unparse(base)
        if several and not array.type.vector:
            self.source.fail(node, f"{name} is a list of Python, which has no index with a comma; write [i][k]")
        if len(indices) > len(shape):
            self.source.fail(node, f"{name} has {len(shape)} index{'es' * (len(shape) > 1)}, not {len(indices)}")
        if array.parts is not None and not array.code:
            return self.part_of(node, array, indices)
        code = array.code
        for number, (index, size) in enumerate(zip(indices, shape)):
            if number == 0 and array.type.ragged:
                if isinstance(index, ast.Slice):
                    self.source.fail(index, f"{name} has the rows of a ragged map, which have no slices; write a loop")
                code = f"OP_ROW({code}, {self.index(index, size, name, self.count_of(array).code)})"
                continue
            if isinstance(index, ast.Slice):
                if number != len(indices) - 1:
                    self.source.fail(index, "a slice is the last index in a kernel")
                return self.sliced(index, array._replace(code=code, start=0 if number else array.start), shape[number:])
            code += f"[{_beyond(0 if number else array.start, self.index(index, size, name))}]"
        if len(indices) == len(shape):
            return Value(code, array.type.type, root=array.root)
        rest = array.type._replace(shape=shape[len(indices) :], pointers=False, ragged="")
        return Value(code, rest, root=array.root)

    def sliced(self, node: ast.Slice, array: Value, shape: Tuple[int, ...]) -> Value:
        """A slice of constant bounds."""
        start, stop = (
            default if part is None else self.scalar(part).constant
            for part, default in ((node.lower, 0), (node.upper, shape[0]))
        )
        known = isinstance(start, int) and isinstance(stop, int)
        if node.step is not None or not known or not 0 <= start < stop <= shape[0]:
            self.source.fail(
                node,
                f"the slice is outside of 0:{shape[0]}, or has a step, or bounds that are not known before the loop",
            )
        assert isinstance(array.type, Array)
        return array._replace(type=array.type._replace(shape=(stop - start, *shape[1:])), start=array.start + start)

    def index(self, node: ast.expr, size: int, name: str, count: str = "") -> str:
        """An index. One that is negative counts from the end, as in Python, if it is not written as a number."""
        found = self.scalar(node)
        if not is_whole(found.type):
            self.source.fail(node, f"the index of {name} is not a whole number")
        if found.constant is not None:
            if not -size <= found.constant < size:
                self.source.fail(node, f"the index {found.constant} is outside of {name}, which has {size}")
            if found.constant < 0:
                self.source.fail(
                    node, f"an index counts from 0 in a kernel; write {name}[{size + int(found.constant)}]"
                )
            return str(int(found.constant))
        low, high = bounds(found)
        if low >= size or high < 0:
            self.source.fail(node, f"the index {ast.unparse(node)} is outside of {name}, which has {size}")
        if low >= 0:
            return found.code
        kind = "int" if found.type in values.SMALL else "long long"
        return f"{self.unit.need(functions.index(kind))}({found.code}, {count or size})"

    # ---- operations ----

    def on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value("!" + wrap(self.condition(node.operand), values.UNARY), "bool", values.UNARY, range=(0, 1))
        found = self.expression(node.operand)
        if isinstance(found.type, Array):
            if not isinstance(node.op, ast.USub):
                self.no_number(node, found)
            return self.elementwise(node, lambda one: self.negative(node, one), found)
        found = self.scalar(node.operand)
        if isinstance(node.op, ast.Invert):
            if not is_whole(found.type):
                self.source.fail(node, "~ is for whole numbers")
            if found.constant is not None:
                return self.constant(node, ~int(found.constant))
            turned = ~bounds(found)[1], ~bounds(found)[0]
            kind = self.kind(node, turned, found)
            return Value("~" + values.spelled(found, kind, values.UNARY), kind, values.UNARY, range=turned)
        if isinstance(node.op, ast.UAdd):
            return found._replace(type="int", constant=None) if found.type == "bool" else found
        return self.negative(node, found)

    def on_BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(node, node.op, self.expression(node.left), self.expression(node.right))

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """An operation on two values, also that of +=."""
        for side, part in ((left, getattr(node, "left", node)), (right, getattr(node, "right", node))):
            if side.type == "void":
                self.source.fail(part, f"{ast.unparse(part)} gives no value")
            self.no_record(part, side)
        if isinstance(left.type, Array) or isinstance(right.type, Array):
            return self.vectors(node, op, left, right)
        if isinstance(op, ast.MatMult):
            self.source.fail(node, "@ is for vectors and matrices; numbers are multiplied by *")
        return self.numbers(node, op, left, right)

    def condition(self, node: ast.AST) -> Value:
        """The condition of if and while."""
        if isinstance(node, ast.BoolOp):
            sign, rank = ("&&", values.AND) if isinstance(node.op, ast.And) else ("||", values.OR)
            parts = [self.condition(part) for part in node.values]
            # C's compilers want brackets where && and || meet.
            code = f" {sign} ".join(wrap(part, values.BIT_OR) for part in parts)
            return Value(code, "bool", rank, range=(0, 1))
        return self.scalar(node)

    def on_BoolOp(self, node: ast.BoolOp) -> Value:
        for part in node.values:
            if self.scalar(part).type != "bool":
                self.source.fail(
                    part, "and and or give numbers here, which a kernel cannot; compare with 0, or use if and else"
                )
        return self.condition(node)

    def on_Compare(self, node: ast.Compare) -> Value:
        parts, left = [], self.scalar(node.left)
        for op, right_node in zip(node.ops, node.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                parts.append(self.member(node, left, right_node, isinstance(op, ast.NotIn)))
                if len(node.ops) > 1:
                    self.source.fail(node, "in cannot be compared further in a kernel")
                break
            right = self.scalar(right_node)
            parts.append(self.compared(node, op, left, right))
            left = right
        if len(parts) == 1:
            return parts[0]
        return Value(" && ".join(wrap(part, values.AND) for part in parts), "bool", values.AND, range=(0, 1))

    def member(self, node: ast.AST, left: Value, several: ast.expr, negated: bool) -> Value:
        """The test ``in`` of a tuple."""
        if not isinstance(several, (ast.Tuple, ast.List)) or not several.elts:
            self.source.fail(several, "in is for a tuple of numbers in a kernel, as in k in (1, 2)")
        op: ast.cmpop = ast.NotEq() if negated else ast.Eq()
        found = [self.compared(node, op, left, self.scalar(one)) for one in several.elts]
        sign, rank = (" && ", values.AND) if negated else (" || ", values.OR)
        return Value(sign.join(wrap(one, rank) for one in found), "bool", rank if len(found) > 1 else found[0].rank)

    def on_IfExp(self, node: ast.IfExp) -> Value:
        test, one, other = self.condition(node.test), self.scalar(node.body), self.scalar(node.orelse)
        kind = self.joined(node, one, other)
        words = [values.spelled(value, kind, values.CHOICE + 1) for value in (one, other)]
        both = values.hull(bounds(one), bounds(other)) if is_whole(kind) else None
        return Value(f"{wrap(test, values.OR)} ? {words[0]} : {words[1]}", kind, values.CHOICE, range=both)


def _field_of(node: ast.AST) -> str:
    """The name in w[0].rho or w[0]["rho"], or nothing."""
    if isinstance(node, ast.Attribute):
        return node.attr
    word = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    return word if isinstance(word, str) else ""


def _fields(kind: Any) -> Dict[str, Tuple[str, Tuple[int, ...]]]:
    """The types and shapes of a record's values."""
    dtype: Any = DTYPES[kind]
    found = {}
    for name in dtype.names:
        of = dtype.fields[name][0]
        one, shape = of.subdtype or (of, ())
        found[name] = TYPES[one.name], shape
    return found


def _beyond(start: int, index: str) -> str:
    """An index of a slice, as one of the row."""
    if not start:
        return index
    return str(start + int(index)) if index.isdigit() else f"{start} + {index}"


def words_of(node: ast.AST) -> str:
    """The words for a part of the tree, for people."""
    known = {
        "ListComp": "a list comprehension",
        "List": "a list",
        "Tuple": "a tuple",
        "Dict": "a dictionary",
        "Set": "a set",
        "Lambda": "a lambda",
        "JoinedStr": "a formatted text",
        "Await": "await",
        "Yield": "yield",
        "NamedExpr": "an assignment with :=",
        "Starred": "a starred value",
        "GeneratorExp": "a generator",
        "With": "with",
        "Try": "try",
        "Raise": "raise",
        "Assert": "assert",
        "Delete": "del",
        "Import": "import",
        "ImportFrom": "import",
        "Global": "global",
        "Nonlocal": "nonlocal",
        "FunctionDef": "a function in a function",
        "ClassDef": "a class",
        "Slice": "a slice",
    }
    return known.get(type(node).__name__, type(node).__name__)
