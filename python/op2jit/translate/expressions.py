"""Expressions of Python as C."""

from __future__ import annotations

import ast
import math
import operator
import types
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import functions, values
from .source import Source
from .values import Array, Value, is_whole, join, spelled, wrap

_ARITHMETIC = {
    ast.Add: ("+", values.PLUS),
    ast.Sub: ("-", values.PLUS),
    ast.Mult: ("*", values.TIMES),
    ast.Div: ("/", values.TIMES),
}
_BITS = {
    ast.BitAnd: ("&", values.BIT_AND),
    ast.BitOr: ("|", values.BIT_OR),
    ast.BitXor: ("^", values.BIT_XOR),
    ast.LShift: ("<<", values.SHIFT),
    ast.RShift: (">>", values.SHIFT),
}
_FOLD: Dict[Any, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE = {
    ast.Lt: ("<", values.LESS),
    ast.LtE: ("<=", values.LESS),
    ast.Gt: (">", values.LESS),
    ast.GtE: (">=", values.LESS),
    ast.Eq: ("==", values.EQUAL),
    ast.NotEq: ("!=", values.EQUAL),
}
MISSING = object()


class Expressions:
    """What statements need of expressions. A sub-class knows variables, parameters and the unit around."""

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
        """Is it a parameter, a variable or a counter?"""
        raise NotImplementedError

    def of_object(self, found: Any, name: str, node: ast.AST) -> Value:
        """A constant of the module, or of the library."""
        constant = self.unit.constant(found)
        if constant is not None:
            kind = constant.type
            code = constant.name
            return Value(code, kind if constant.scalar else Array(kind, (constant.data.size,), True), root=code)
        if isinstance(found, (bool, np.bool_)):
            return values.number(bool(found))
        if isinstance(found, (int, np.integer)):
            return values.number(int(found))
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
            self.source.fail(node, f"{_words(node)} cannot be in a kernel")
        found: Value = method(node)
        return found

    def scalar(self, node: ast.AST) -> Value:
        """An expression that is a number."""
        found = self.expression(node)
        if isinstance(found.type, Array):
            example = found.code + "".join("[0]" for _ in found.type.shape)
            self.source.fail(
                node, f"{found.code} is a row of {found.type.shape[-1]}, not a number; its first value is {example}"
            )
        return found

    def on_Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            self.source.fail(node, f"{node.value!r} is no number")
        return values.number(node.value)

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
        if found is MISSING:
            self.source.fail(node, f"there is no {ast.unparse(node)} that a kernel could use")
        return self.of_object(found, node.attr, node)

    def on_Subscript(self, node: ast.Subscript) -> Value:
        indices: List[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            part = base.slice
            indices = (list(part.elts) if isinstance(part, ast.Tuple) else [part]) + indices
            base = base.value
        array = self.expression(base)
        if not isinstance(array.type, Array):
            self.source.fail(node, f"{array.code} is a number and has no parts")
        shape = array.type.shape
        if len(indices) > len(shape):
            self.source.fail(node, f"{array.code} has {len(shape)} index{'es' * (len(shape) > 1)}, not {len(indices)}")
        code = array.code
        for index, size in zip(indices, shape):
            code += f"[{self.index(index, size, array.code)}]"
        if len(indices) == len(shape):
            return Value(code, array.type.type, root=array.root)
        return Value(code, array.type._replace(shape=shape[len(indices) :], pointers=False), root=array.root)

    def index(self, node: ast.expr, size: int, name: str) -> str:
        """An index, counted from the end if it is negative."""
        if isinstance(node, ast.Slice):
            self.source.fail(node, "a slice cannot be in a kernel; write a loop over its elements")
        found = self.scalar(node)
        if not is_whole(found.type):
            self.source.fail(node, f"the index of {name} is not a whole number")
        if found.constant is not None:
            if not -size <= found.constant < size:
                self.source.fail(node, f"the index {found.constant} is outside of {name}, which has {size}")
            return str(found.constant % size)
        if found.range and found.range[0] >= 0:
            return found.code
        return f"{self.unit.need(functions.INDEX)}({found.code}, {size})"

    def on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value("!" + wrap(self.condition(node.operand), values.UNARY), "bool", values.UNARY, range=(0, 1))
        found = self.scalar(node.operand)
        if isinstance(node.op, ast.Invert):
            if not is_whole(found.type):
                self.source.fail(node, "~ is for whole numbers")
            return Value("~" + wrap(found, values.UNARY), join(str(found.type), "int"), values.UNARY)
        if found.constant is not None:
            return values.number(-found.constant if isinstance(node.op, ast.USub) else +found.constant)
        kind = str(found.type) if found.type in ("float", "double") else join(str(found.type), "int")
        turned = (-found.range[1], -found.range[0]) if found.range else None
        if isinstance(node.op, ast.UAdd):
            return found
        inner = wrap(found, values.UNARY)
        return Value("-" + (f"({inner})" if inner[0] == "-" else inner), kind, values.UNARY, range=turned)

    def on_BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(node, node.op, self.scalar(node.left), self.scalar(node.right))

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """Also of +=."""
        if left.constant is not None and right.constant is not None:
            try:
                return values.number(_FOLD[type(op)](left.constant, right.constant))
            except (ArithmeticError, TypeError, KeyError) as problem:
                self.source.fail(node, f"this cannot be computed: {problem}")
        kind = join(str(left.type), str(right.type))
        if type(op) in _BITS:
            if not is_whole(kind):
                self.source.fail(node, "this operation is for whole numbers")
            sign, rank = _BITS[type(op)]
            return Value(f"{wrap(left, values.UNARY)} {sign} {wrap(right, values.UNARY)}", values.strong(kind), rank)
        if isinstance(op, ast.Pow):
            return self.power(node, left, right, kind)
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            return self.floored(op, left, right, str(values.strong(kind)))
        if type(op) not in _ARITHMETIC:
            self.source.fail(node, "this operation cannot be in a kernel")
        sign, rank = _ARITHMETIC[type(op)]
        if isinstance(op, ast.Div) and is_whole(kind):
            kind = "double"
        kind = str(values.strong(kind))
        code = f"{_operand(left, right, kind, rank)} {sign} {_operand(right, left, kind, rank + 1)}"
        return Value(code, kind, rank, range=_range(type(op), left.range, right.range) if is_whole(kind) else None)

    def floored(self, op: ast.operator, left: Value, right: Value, kind: str) -> Value:
        """// and %, which round down."""
        division = isinstance(op, ast.FloorDiv)
        positive = all(value.range and value.range[0] >= 0 for value in (left, right))
        if is_whole(kind) and positive:
            bound = (0, left.range[1] if division or not right.range else right.range[1] - 1)  # type: ignore[index]
            return Value(
                f"{wrap(left, values.TIMES)} {'/' if division else '%'} {wrap(right, values.UNARY)}",
                kind,
                values.TIMES,
                range=bound,
            )
        name = self.unit.need((functions.floor_divide if division else functions.modulo)(kind))
        rest = (0, right.constant - 1) if not division and is_whole(kind) and (right.constant or 0) > 0 else None
        return Value(f"{name}({left.code}, {right.code})", kind, range=rest)

    def power(self, node: ast.AST, left: Value, right: Value, kind: str) -> Value:
        """**: by multiplication where that is the same."""
        exponent = right.constant
        if is_whole(kind) and (not isinstance(exponent, int) or not 0 <= exponent <= 8):
            self.source.fail(
                node, "a power of a whole number must have a constant exponent from 0 to 8; float() makes a real number"
            )
        if exponent == 2 or (is_whole(kind) and exponent is not None):
            if left.rank == values.PRIMARY and "(" not in left.code or exponent in (0, 1):
                product = " * ".join([left.code] * exponent) if exponent else "1"
                return Value(product, str(values.strong(kind)), values.TIMES if exponent != 1 else left.rank)
            if is_whole(kind):
                self.source.fail(node, "a power of a whole number must be of a variable; give it a name first")
        if exponent == 0.5:
            return self.real("sqrt", [left], kind)
        return self.real("pow", [left, right], kind)

    def condition(self, node: ast.AST) -> Value:
        """What is asked by if and while."""
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
            right = self.scalar(right_node)
            if type(op) not in _COMPARE:
                self.source.fail(node, "only numbers can be compared in a kernel")
            sign, rank = _COMPARE[type(op)]
            kind = str(values.strong(join(str(left.type), str(right.type))))
            code = f"{_operand(left, right, kind, rank + 1)} {sign} {_operand(right, left, kind, rank + 1)}"
            parts.append(Value(code, "bool", rank, range=(0, 1)))
            left = right
        if len(parts) == 1:
            return parts[0]
        return Value(" && ".join(part.code for part in parts), "bool", values.AND, range=(0, 1))

    def on_IfExp(self, node: ast.IfExp) -> Value:
        test, one, other = self.condition(node.test), self.scalar(node.body), self.scalar(node.orelse)
        kind = str(one.type) if one.type == other.type else join(str(one.type), str(other.type))
        kind = str(values.strong(kind))
        code = f"{wrap(test, values.OR)} ? {spelled(one, kind, values.CHOICE)} : {spelled(other, kind, values.CHOICE)}"
        both = _hull(one.range, other.range)
        return Value(code, kind, values.CHOICE, range=both)

    # ---- calls ----

    def on_Call(self, node: ast.Call) -> Value:
        callee = self.static(node.func)
        if node.keywords:
            self.source.fail(node, "a call in a kernel has no named arguments")
        if callee is MISSING:
            self.source.fail(node, f"{ast.unparse(node.func)} is no function that a kernel could call")
        if callee is len:
            found = self.expression(node.args[0])
            if isinstance(found.type, Array):
                return values.number(found.type.shape[0])
        inner = self.unit.function_of(callee)
        if inner is not None:
            return self.helper(node, inner)
        try:
            hash(callee)
        except TypeError:
            self.source.fail(node, f"{ast.unparse(node.func)} is no function that a kernel could call")
        return self.known(node, callee, [self.scalar(argument) for argument in node.args])

    def helper(self, node: ast.Call, function: types.FunctionType) -> Value:
        """A call of another function of the user."""
        arguments = [self.expression(argument) for argument in node.args]
        found: Value = self.unit.call(self, node, function, arguments)
        return found

    def known(self, node: ast.Call, callee: Any, arguments: Sequence[Value]) -> Value:
        """Functions of Python, math and NumPy."""
        wanted = self.expected(callee)
        if wanted is None:
            self.source.fail(node, f"{ast.unparse(node.func)} cannot be called in a kernel")
        if len(arguments) not in wanted:
            self.source.fail(
                node, f"{ast.unparse(node.func)} has {len(arguments)} arguments here; expected {wanted[0]}"
            )
        kinds = [str(argument.type) for argument in arguments]
        if callee in functions.CASTS:
            return self.cast(functions.CASTS[callee], arguments[0])
        if callee in functions.TESTS:
            return Value(f"{functions.TESTS[callee]}({arguments[0].code})", "bool", range=(0, 1))
        if callee in functions.ROUND:
            return Value(f"(int){functions.ROUND[callee]}({spelled(arguments[0], 'double', 0)})", "int", values.UNARY)
        if callee in functions.EXTREMA:
            found = arguments[0]
            for other in arguments[1:]:
                kind = join(str(found.type), str(other.type)) if found.type != other.type else str(found.type)
                kind = str(values.strong(kind))
                name = self.unit.need(functions.extremum(callee, kind))
                code = f"{name}({spelled(found, kind, 0)}, {spelled(other, kind, 0)})"
                found = Value(code, kind, range=_hull(found.range, other.range))
            return found
        if callee in functions.ABSOLUTE:
            return self.absolute(arguments[0])
        if callee is np.where:
            self.source.fail(node, "write `a if condition else b` for where")
        name, own_type = functions.REAL[callee]
        kind = kinds[0] if len(kinds) == 1 else join(kinds[0], kinds[1])
        if callee is abs:
            kind = kinds[0]
        return self.real(name, arguments, kind if own_type else "double")

    @staticmethod
    def expected(callee: Any) -> Optional[Tuple[int, ...]]:
        """How many arguments it has; None: a kernel cannot call it."""
        if callee in functions.EXTREMA:
            return (2, 3, 4, 5, 6, 7, 8) if callee in (min, max) else (2,)
        if callee in functions.REAL:
            return (2,) if functions.REAL[callee][0] in functions.TWO else (1,)
        known = callee in functions.CASTS or callee in functions.TESTS or callee in functions.ROUND
        return (1,) if known or callee in functions.ABSOLUTE else None

    def real(self, name: str, arguments: Sequence[Value], kind: str) -> Value:
        """A function of real numbers."""
        kind = "float" if kind == "float" else "double"
        words = ", ".join(spelled(argument, kind, 0) for argument in arguments)
        return Value(f"{name}{'f' if kind == 'float' else ''}({words})", kind)

    def absolute(self, value: Value) -> Value:
        """abs."""
        if value.constant is not None:
            return values.number(abs(value.constant))
        if not is_whole(value.type):
            return self.real("fabs", [value], str(value.type))
        kind = join(str(value.type), "int")
        return Value(f"{self.unit.need(functions.absolute(kind))}({value.code})", kind, range=(0, math.inf))

    @staticmethod
    def cast(kind: str, value: Value) -> Value:
        """A number as another type."""
        if value.constant is not None and kind in ("double", "int"):
            return values.number(float(value.constant) if kind == "double" else int(value.constant))
        if value.type == kind:
            return value
        kept = value.range if is_whole(kind) and is_whole(value.type) else None
        return Value(f"({kind}){wrap(value, values.UNARY)}", kind, values.UNARY, range=kept)


def _operand(value: Value, other: Value, kind: str, rank: int) -> str:
    """C converts a number by itself where the other operand has the type already."""
    if value.type == "weak int" and other.type == kind:
        return wrap(value, rank)
    if other.type == kind and (is_whole(value.type) or value.type == kind):
        return wrap(value, rank)
    return spelled(value, kind, rank)


def _range(op: Any, one: Any, other: Any) -> Any:
    if not one or not other:
        return None
    if op is ast.Add:
        return one[0] + other[0], one[1] + other[1]
    if op is ast.Sub:
        return one[0] - other[1], one[1] - other[0]
    corners = [a * b for a in one for b in other if not (0 in (a, b) and math.inf in (abs(a), abs(b)))]
    return min(corners), max(corners)


def _hull(one: Any, other: Any) -> Any:
    return (min(one[0], other[0]), max(one[1], other[1])) if one and other else None


def _words(node: ast.AST) -> str:
    """What a part of the tree is, for people."""
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
