"""An expression in C: its text and its type, and what is known of its value.

Whole numbers of Python have any size. Here each has bounds, from its type and from what is done with it, and an
operation computes in a type that holds its operands and its result: int, else 64 bits.
"""

from __future__ import annotations

import ast
import math
from typing import Any, NamedTuple, Optional, Tuple, Union

import numpy as np

Bounds = Tuple[int, int]
#: The least and largest value of each whole type.
TYPE_BOUNDS = {
    "bool": (0, 1),
    "char": (-(2**7), 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "unsigned int": (0, 2**32 - 1),
    "long long": (-(2**63), 2**63 - 1),
    "unsigned long long": (0, 2**64 - 1),
}
WHOLE = list(TYPE_BOUNDS)
#: Whole types with which C computes in int.
SMALL = ("bool", "char", "short", "int", "weak int")
#: A number in the program's text is weak: it takes the type of what it meets.
WEAK = {"weak int": "int", "weak float": "double"}
#: The first size of rows of a ragged map, which nobody knows.
RAGGED = 2**31 - 1
#: A double holds every whole number up to here.
EXACT = 2**53


class Array(NamedTuple):
    """A row of a dat, rows behind pointers, an array of the kernel's own or a table.

    ``vector``: arithmetic goes element by element, as NumPy has it; a list of Python has none. ``ragged``: the rows are
    those of a ragged map, and this is the parameter before which their number stands in C.
    """

    type: str
    shape: Tuple[int, ...]
    const: bool = False
    pointers: bool = False
    vector: bool = True
    ragged: str = ""


Type = Union[str, Array]


class Value(NamedTuple):
    """A C expression. ``rank`` is how tightly it binds, ``range`` the least and largest value of a whole number."""

    code: str
    type: Type
    rank: int = 15
    constant: Any = None
    range: Optional[Bounds] = None
    root: str = ""  # the name of the array
    parts: Any = None  # of a vector that is computed: its elements, nested
    start: int = 0  # of a slice: its first element


class Mixed(Exception):
    """A uint64 and a number that may be negative: no type of C holds both."""


PRIMARY, UNARY, TIMES, PLUS, SHIFT, LESS, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(15, 2, -1)


def is_whole(kind: Type) -> bool:
    """A whole number?"""
    return kind in TYPE_BOUNDS or kind == "weak int"


def is_record(kind: Type) -> bool:
    """A struct of C?"""
    return isinstance(kind, str) and kind.startswith("struct ")


def bounds(value: Value) -> Bounds:
    """The least and largest value that a whole number can have."""
    if value.constant is not None:
        return int(value.constant), int(value.constant)
    return value.range or TYPE_BOUNDS["int" if value.type == "weak int" else str(value.type)]


def within(inner: Bounds, kind: str) -> bool:
    """Whether the type holds all numbers within the bounds."""
    return TYPE_BOUNDS[kind][0] <= inner[0] and inner[1] <= TYPE_BOUNDS[kind][1]


def hull(one: Bounds, other: Bounds) -> Bounds:
    """The bounds that hold both."""
    return min(one[0], other[0]), max(one[1], other[1])


def reach(op: Any, one: Bounds, other: Bounds) -> Bounds:
    """The bounds of a sum, a difference or a product."""
    if op is ast.Add:
        return one[0] + other[0], one[1] + other[1]
    if op is ast.Sub:
        return one[0] - other[1], one[1] - other[0]
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)


def overflows(op: Any, place: Value, value: Value) -> bool:
    """Whether C computes ``place op= value`` in int, and the result can be outside of it."""
    ints = place.type in SMALL and _c_type(value) in SMALL
    return ints and not within(reach(op, bounds(place), bounds(value)), "int")


def whole_kind(result: Bounds, *operands: Value) -> str:
    """The type in which whole numbers are computed; raises Mixed if there is none."""
    everything = result
    for operand in operands:
        everything = hull(everything, bounds(operand))
    small = all(operand.constant is not None or operand.type in SMALL for operand in operands)
    if small and within(everything, "int"):
        return "int"
    if any(bounds(operand)[1] > 2**63 - 1 for operand in operands):
        if everything[0] < 0:
            raise Mixed
        return "unsigned long long"
    return "long long"


def strong(kind: Type) -> Type:
    """The type of a variable that gets such a value."""
    if isinstance(kind, Array):
        return kind
    if kind in ("char", "short"):
        return "int"
    return "long long" if kind == "unsigned int" else WEAK.get(kind, kind)


def kind_of(value: Value) -> str:
    """The type of a variable that gets this value, of which more is known."""
    if value.type == "weak int":
        return whole_kind(bounds(value), value)
    return str(strong(value.type))


def real_kind(*operands: Value) -> str:
    """The type in which real numbers are computed, as NumPy has it: float where all are, double else."""
    if not any(operand.type == "float" for operand in operands):
        return "double"
    return "float" if all(_as_float(operand) for operand in operands) else "double"


def _as_float(value: Value) -> bool:
    if value.type == "float":
        return True
    if value.constant is None or value.type not in WEAK:
        return value.type == "weak int"  # a variable that has no value yet
    if value.type == "weak int":
        return bool(abs(value.constant) <= 2**24)
    return bool(not math.isfinite(value.constant) or abs(value.constant) <= np.finfo(np.float32).max)


def join(one: Value, other: Value) -> str:
    """The type of what is one of two numbers; raises Mixed."""
    if is_whole(one.type) and is_whole(other.type):
        return "bool" if one.type == other.type == "bool" else whole_kind(hull(bounds(one), bounds(other)), one, other)
    return real_kind(one, other)


def number(value: Any) -> Value:
    """A number of the program's text, or of a module."""
    if isinstance(value, bool):
        return Value("1" if value else "0", "bool", constant=value, range=(int(value), int(value)))
    if isinstance(value, int):
        return Value(_digits(value), "weak int", PRIMARY if value >= 0 else UNARY, value, (value, value))
    minus = "-" if math.copysign(1, value) < 0 else ""
    code = "NAN" if math.isnan(value) else minus + ("INFINITY" if math.isinf(value) else repr(abs(value)))
    return Value(code, "weak float", UNARY if code[0] == "-" else PRIMARY, float(value))


def _digits(value: int) -> str:
    if -(2**31) < value < 2**31:
        return str(value)
    if value == -(2**63):
        return "(-9223372036854775807LL - 1)"
    return f"{value}{'ULL' if value >= 2**63 else 'LL'}"


def wrap(value: Value, rank: int) -> str:
    """Its text as part of something that binds as tightly as ``rank``."""
    return value.code if value.rank >= rank else f"({value.code})"


def spelled(value: Value, kind: str, rank: int = PRIMARY) -> str:
    """Its text as an operand of an operation in ``kind``."""
    if kind in ("float", "double") and value.constant is not None:
        made = number(float(value.constant))
        suffix = "f" if kind == "float" and made.code[-1].isdigit() else ""
        return wrap(made._replace(code=made.code + suffix), rank)
    if kind == value.type or value.constant is not None or kind in ("float", "bool"):
        return wrap(value, rank)
    if kind == "double" or (kind in ("long long", "unsigned long long") and value.type not in WEAK):
        return wrap(Value(f"({kind}){wrap(value, UNARY)}", kind, UNARY), rank)
    return wrap(value, rank)


def whole_operands(left: Value, right: Value, kind: str, rank: int) -> Tuple[str, str]:
    """The texts of two whole numbers of which C makes ``kind``."""
    if kind == "long long":  # C would compute in the type without a sign
        left, right = (_signed(value) for value in (left, right))
    one, other = wrap(left, rank), wrap(right, rank + 1)
    if kind == "int" or any(_c_type(value) == kind for value in (left, right)):
        return one, other
    if left.constant is None:
        return spelled(left, kind, rank), other
    return one, spelled(right, kind, rank + 1)


def _signed(value: Value) -> Value:
    if _c_type(value) != WHOLE[-1]:
        return value
    return Value(spelled(value, "long long", UNARY), "long long", UNARY, range=value.range)


def _c_type(value: Value) -> str:
    """The type that C gives the text."""
    if value.constant is None:
        return str(value.type)
    found = bounds(value)
    return "int" if -(2**31) < found[0] and found[1] < 2**31 else ("long long" if found[1] < 2**63 else WHOLE[-1])


def real_operand(value: Value, other: Value, kind: str, rank: int) -> str:
    """The text of a number in an operation of real numbers; C converts it by itself where the other one is real."""
    small = value.constant is not None and value.type != "weak float" and abs(value.constant) < 2**31
    if other.type == kind and (small or value.constant is None):
        return wrap(value, rank)
    return spelled(value, kind, rank)
