"""Operations on numbers: what Python computes, as C.

A whole number keeps its value: where a result of int could be outside of it, C computes in 64 bits. What an operation
cannot do as Python does is refused.
"""

from __future__ import annotations

import ast
import math
import operator
from typing import Any, Dict, Optional, Sequence, Tuple

from . import functions, values
from .source import Source
from .values import Bounds, Mixed, Value, bounds, is_whole, spelled, wrap

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
_ANY = values.TYPE_BOUNDS["long long"]
_MIXED = "a uint64 meets a number that may be negative here; make an int64 of it: np.int64(...)"


class Arithmetic:
    """Operations on numbers, for expressions."""

    source: Source
    unit: Any

    def kind(self, node: ast.AST, found: Bounds, *operands: Value) -> str:
        """The type in which whole numbers are computed."""
        try:
            return values.whole_kind(found, *operands)
        except Mixed:
            self.source.fail(node, _MIXED)

    def joined(self, node: ast.AST, one: Value, other: Value) -> str:
        """The type of what is one of two numbers."""
        try:
            return values.join(one, other)
        except Mixed:
            self.source.fail(node, _MIXED)

    def constant(self, node: ast.AST, value: Any) -> Value:
        """A number that is known now, if C has it."""
        if isinstance(value, complex):
            self.source.fail(node, f"this is {value}, which is no real number")
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            self.source.fail(node, "this whole number has more than 64 bits; write a real number, such as 2.0**70")
        return values.number(value)

    def fold(self, node: ast.AST, op: ast.operator, one: Any, other: Any) -> Value:
        """The result for two numbers that are known."""
        whole = isinstance(one, int) and isinstance(other, int)
        if whole and isinstance(op, (ast.Pow, ast.LShift)) and other > 64 and abs(one) > 1:
            self.source.fail(node, "this whole number has more than 64 bits; write a real number, such as 2.0**70")
        try:
            return self.constant(node, _FOLD[type(op)](one, other))
        except (ArithmeticError, TypeError, KeyError, ValueError) as problem:
            self.source.fail(node, f"this cannot be computed: {problem}")

    def numbers(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """An operation on two numbers, also of +=."""
        if left.constant is not None and right.constant is not None:
            return self.fold(node, op, left.constant, right.constant)
        whole = is_whole(left.type) and is_whole(right.type)
        if type(op) in _BITS:
            if not whole:
                self.source.fail(node, "this operation is for whole numbers")
            return self.bits(node, op, left, right)
        if isinstance(op, ast.Pow):
            return self.power(node, left, right)
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            return self.floored(node, op, left, right)
        if type(op) not in _ARITHMETIC:
            self.source.fail(node, "this operation cannot be in a kernel")
        sign, rank = _ARITHMETIC[type(op)]
        if whole and not isinstance(op, ast.Div):
            found = values.reach(type(op), bounds(left), bounds(right))
            kind = self.kind(node, found, left, right)
            one, other = values.whole_operands(left, right, kind, rank)
        else:
            found, kind = None, values.real_kind(left, right)
            one = values.real_operand(left, right, kind, rank)
            other = values.real_operand(right, left, kind, rank + 1)
        return Value(f"{one} {sign} {other}", kind, rank, range=_clipped(found, kind))

    def bits(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """& | ^ << >>."""
        one, other = bounds(left), bounds(right)
        sign, rank = _BITS[type(op)]
        if isinstance(op, (ast.LShift, ast.RShift)):
            return self.shifted(node, isinstance(op, ast.LShift), left, right)
        if left.type == right.type == "bool":
            return Value(f"{wrap(left, values.UNARY)} {sign} {wrap(right, values.UNARY)}", "bool", rank, range=(0, 1))
        found = _bit_range(op, one, other)
        if isinstance(op, ast.BitAnd) and max(one[1], other[1]) >= 2**63 and found[0] >= 0:
            kind = "unsigned long long"  # a negative number has all bits above its own
        else:
            kind = self.kind(node, found, left, right)
        a, b = values.whole_operands(left, right, kind, values.UNARY)
        return Value(f"{a} {sign} {b}", kind, rank, range=found)

    def shifted(self, node: ast.AST, up: bool, left: Value, right: Value) -> Value:
        """Shifts; Python refuses to shift by a negative number."""
        by = bounds(right)
        if by[1] < 0:
            self.source.fail(node, "a shift is by 0 or more")
        by = max(0, by[0]), min(by[1], 64)
        if up:
            corners = [value << n for value in bounds(left) for n in by]
        else:
            corners = [value >> n for value in bounds(left) for n in by]
        found = min(corners), max(corners)
        kind = self.kind(node, found, left)
        if right.constant is not None and right.constant < (31 if kind == "int" else 63):
            sign, rank = ("<<", values.SHIFT) if up else (">>", values.SHIFT)
            code = f"{spelled(left, kind, values.UNARY)} {sign} {right.code}"
            if left.constant is None or kind == "int":
                return Value(code, kind, rank, range=_clipped(found, kind))
        name = self.unit.need(functions.shift(kind, up))
        return Value(f"{name}({left.code}, {right.code})", kind, range=_clipped(found, kind))

    def floored(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """// and %, which round down."""
        division = isinstance(op, ast.FloorDiv)
        make = functions.floor_divide if division else functions.modulo
        if not (is_whole(left.type) and is_whole(right.type)):
            kind = values.real_kind(left, right)
            name = self.unit.need(make(kind))
            return Value(f"{name}({spelled(left, kind, 0)}, {spelled(right, kind, 0)})", kind)
        if right.constant == 0:
            self.source.fail(node, "this divides by 0")
        one, other = bounds(left), bounds(right)
        found = _quotient(one, other) if division else _remainder(one, other)
        kind = self.kind(node, found, left, right)
        if one[0] >= 0 and other[0] >= 0:
            a, b = values.whole_operands(left, right, kind, values.TIMES)
            return Value(f"{a} {'/' if division else '%'} {b}", kind, values.TIMES, range=_clipped(found, kind))
        name = self.unit.need(make(kind))
        return Value(f"{name}({left.code}, {right.code})", kind, range=_clipped(found, kind))

    def power(self, node: ast.AST, left: Value, right: Value) -> Value:
        """**: by multiplication where that is the same."""
        exponent, kind = right.constant, values.real_kind(left, right)
        if is_whole(left.type) and is_whole(right.type) and not (exponent is not None and exponent < 0):
            return self.whole_power(node, left, right)
        simple = left.rank == values.PRIMARY and "(" not in left.code
        if exponent == 2 and simple:
            text = spelled(left, kind, values.TIMES)
            return Value(f"{text} * {text}", kind, values.TIMES)
        if exponent == 0.5 and not self.unit.exact:  # of -0.0 and of -inf they differ
            return self.real("sqrt", [left], kind)
        return self.real("pow", [left, right], kind)

    def whole_power(self, node: ast.AST, left: Value, right: Value) -> Value:
        """A power of whole numbers."""
        base, by = bounds(left), bounds(right)
        if by[0] < 0:
            self.source.fail(
                node,
                "a power of whole numbers is a real number if the exponent is negative, which only Python knows "
                "when it runs; write float() around one of them",
            )
        if right.constant == 0:
            return values.number(1)
        found = _ANY
        if by[1] <= 64:
            corners = [value**n for value in (*base, *((0,) if base[0] < 0 < base[1] else ())) for n in by]
            found = min(corners), max(corners)
            if base[0] < 0:
                found = hull_of_signs(base, by[1])
        kind = self.kind(node, found, left)
        simple = left.rank == values.PRIMARY and "(" not in left.code
        if right.constant is not None and right.constant <= 4 and simple:
            first = spelled(left, kind, values.TIMES)
            rank = values.TIMES if right.constant > 1 else values.UNARY
            code = " * ".join([first] + [left.code] * (right.constant - 1))
            return Value(code, kind, rank, range=_clipped(found, kind))
        name = self.unit.need(functions.power(kind))
        return Value(f"{name}({left.code}, {right.code})", kind, range=_clipped(found, kind))

    def real(self, name: str, arguments: Sequence[Value], kind: str) -> Value:
        """A function of real numbers."""
        kind = "float" if kind == "float" else "double"
        words = ", ".join(spelled(argument, kind, 0) for argument in arguments)
        return Value(f"{name}{'f' if kind == 'float' else ''}({words})", kind)

    def compared(self, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
        """One comparison: of the numbers, whatever their types."""
        if type(op) not in _COMPARE:
            self.source.fail(node, "only numbers can be compared in a kernel")
        sign, rank = _COMPARE[type(op)]
        if is_whole(left.type) and is_whole(right.type):
            code = self.whole_order(left, right, sign, rank)
        else:
            code = self.real_order(left, right, sign, rank)
        return Value(code, "bool", rank, range=(0, 1))

    def whole_order(self, left: Value, right: Value, sign: str, rank: int) -> str:
        """A comparison of whole numbers."""
        try:
            kind = values.whole_kind(values.hull(bounds(left), bounds(right)), left, right)
        except Mixed:
            name = self.unit.need(functions.ORDER)
            if bounds(left)[1] >= 2**63:
                return f"0 {sign} {name}({right.code}, {left.code})"
            return f"{name}({left.code}, {right.code}) {sign} 0"
        one, other = values.whole_operands(left, right, kind, rank + 1)
        return f"{one} {sign} {other}"

    def real_order(self, left: Value, right: Value, sign: str, rank: int) -> str:
        """A comparison of numbers of which one is real at least."""
        for one, other, turned in ((left, right, False), (right, left, True)):
            if is_whole(one.type) and max(abs(bound) for bound in bounds(one)) > values.EXACT:
                if bounds(one)[1] >= 2**63:
                    break
                name = self.unit.need(functions.ORDER_REAL)
                words = f"{name}({one.code}, {spelled(other, 'double', 0)})"
                return f"0 {sign} {words}" if turned else f"{words} {sign} 0"
        kind = values.real_kind(left, right)
        if kind == "float" and not all(_as_it_is(value) for value in (left, right)):
            kind = "double"
            return f"{spelled(left, kind, rank + 1)} {sign} {spelled(right, kind, rank + 1)}"
        one_text = values.real_operand(left, right, kind, rank + 1)
        return f"{one_text} {sign} {values.real_operand(right, left, kind, rank + 1)}"

    def negative(self, node: ast.AST, found: Value) -> Value:
        """Minus a number."""
        if found.constant is not None:
            return self.constant(node, -found.constant)
        inner = wrap(found, values.UNARY)
        if not is_whole(found.type):
            return Value("-" + (f"({inner})" if inner[0] == "-" else inner), str(found.type), values.UNARY)
        turned = -bounds(found)[1], -bounds(found)[0]
        kind = self.kind(node, turned, found)
        inner = spelled(found, kind, values.UNARY)
        code = "-" + (f"({inner})" if inner[0] == "-" else inner)
        return Value(code, kind, values.UNARY, range=_clipped(turned, kind))

    def extremum(self, node: ast.AST, callee: Any, arguments: Sequence[Value]) -> Value:
        """min, max and NumPy's."""
        found = arguments[0]
        for other in arguments[1:]:
            kind = self.joined(node, found, other)
            name = self.unit.need(functions.extremum(callee, kind))
            both = values.hull(bounds(found), bounds(other)) if is_whole(kind) else None
            found = Value(f"{name}({spelled(found, kind, 0)}, {spelled(other, kind, 0)})", kind, range=both)
        return found

    def absolute(self, node: ast.AST, value: Value) -> Value:
        """abs."""
        if value.constant is not None:
            return self.constant(node, abs(value.constant))
        if not is_whole(value.type):
            return self.real("fabs", [value], str(value.type))
        low, high = bounds(value)
        found = (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
        kind = self.kind(node, found, value)
        if low >= 0:
            return value._replace(range=found)
        return Value(f"{self.unit.need(functions.absolute(kind))}({value.code})", kind, range=_clipped(found, kind))

    def cast(self, node: ast.AST, kind: str, value: Value) -> Value:
        """A number as another type. ``int`` of Python is that of 64 bits."""
        if kind == "python int":
            if is_whole(value.type):
                return value if value.type != "bool" else value._replace(type="int", constant=None)
            kind = "long long"
        if value.constant is not None and kind in ("double", "long long"):
            try:
                return self.constant(node, float(value.constant) if kind == "double" else int(value.constant))
            except (OverflowError, ValueError) as problem:
                self.source.fail(node, f"this cannot be computed: {problem}")
        if kind == "bool":
            return Value(f"{wrap(value, values.EQUAL + 1)} != 0", "bool", values.EQUAL, range=(0, 1))
        if value.type == kind:
            return value
        made = Value(f"({kind}){wrap(value, values.UNARY)}", kind, values.UNARY)
        if kind == "float" and self.unit.exact:
            return Value(f"(double){made.code}", "double", values.UNARY)
        kept = is_whole(kind) and is_whole(value.type) and values.within(bounds(value), kind)
        return made._replace(range=bounds(value)) if kept and kind != "unsigned int" else made


def hull_of_signs(base: Bounds, exponent: int) -> Bounds:
    """The bounds of a power of what may be negative."""
    most = max(abs(base[0]), abs(base[1])) ** exponent
    return -most, most


def _as_it_is(value: Value) -> bool:
    """Whether the number is the same in 32 bits."""
    if value.constant is None:
        return value.type == "float"
    import numpy as np

    return bool(np.float32(value.constant) == value.constant) or value.constant != value.constant


def _clipped(found: Optional[Bounds], kind: str) -> Optional[Bounds]:
    """The bounds, or None if they go beyond those of the type."""
    return found if found and kind in values.TYPE_BOUNDS and values.within(found, kind) else None


def _quotient(one: Bounds, other: Bounds) -> Bounds:
    divisors = [value for value in (*other, -1, 1) if value and other[0] <= value <= other[1]]
    corners = [a // b for a in one for b in divisors]
    return min(corners), max(corners)


def _remainder(one: Bounds, other: Bounds) -> Bounds:
    found = min(other[0] + 1, 0), max(other[1] - 1, 0)
    return (0, min(found[1], one[1])) if one[0] >= 0 and other[0] >= 0 else found


def _bit_range(op: ast.operator, one: Bounds, other: Bounds) -> Bounds:
    if isinstance(op, ast.BitAnd) and (one[0] >= 0 or other[0] >= 0):
        return 0, min(high for low, high in (one, other) if low >= 0)
    bits = max((bound if bound >= 0 else ~bound).bit_length() for bound in (*one, *other))
    return (0 if one[0] >= 0 and other[0] >= 0 else -(2**bits)), 2**bits - 1
