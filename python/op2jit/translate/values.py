"""What an expression is in C: its text and its type, and what is known of its value."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional, Tuple, Union

#: Types of numbers, narrow ones first. A number in the program's text is weak: it takes the type of what it meets.
ORDER = ["bool", "char", "short", "int", "unsigned int", "long long", "unsigned long long", "float", "double"]
WHOLE = ORDER[:7]
WEAK = {"weak int": "int", "weak float": "double"}


class Array(NamedTuple):
    """A row of a dat, rows behind pointers, an array of the kernel's own or a table."""

    type: str
    shape: Tuple[int, ...]
    const: bool = False
    pointers: bool = False


Type = Union[str, Array]


class Value(NamedTuple):
    """A C expression. ``rank`` is how tightly it binds, ``range`` the least and largest value of a whole number."""

    code: str
    type: Type
    rank: int = 15
    constant: Any = None
    range: Optional[Tuple[float, float]] = None
    root: str = ""  # the name of the array


PRIMARY, UNARY, TIMES, PLUS, SHIFT, LESS, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(15, 2, -1)


def is_whole(kind: Type) -> bool:
    """A whole number?"""
    return kind in WHOLE or kind == "weak int"


def strong(kind: Type) -> Type:
    """The type of a variable that gets such a value."""
    return WEAK.get(kind, kind) if isinstance(kind, str) else kind


def join(one: str, other: str) -> str:
    """The type of what comes of two numbers, as NumPy has it, and without numbers narrower than int."""
    if one == other and one in WEAK:
        return one
    if one in WEAK and other in WEAK:
        return "weak float"
    if one in WEAK or other in WEAK:
        weak, kind = (one, other) if one in WEAK else (other, one)
        if weak == "weak float" and is_whole(kind):
            return "double"
        return kind if ORDER.index(kind) >= ORDER.index("int") else "int"
    if "float" in (one, other) and (is_whole(one) or is_whole(other)):
        return "double"
    return ORDER[max(ORDER.index(one), ORDER.index(other), ORDER.index("int"))]


def number(value: Any) -> Value:
    """A number of the program's text, or of a module."""
    if isinstance(value, bool):
        return Value("1" if value else "0", "bool", constant=value, range=(int(value), int(value)))
    if isinstance(value, int):
        code = str(value) if -(2**31) < value < 2**31 else f"{value}LL"
        return Value(code, "weak int", PRIMARY if value >= 0 else UNARY, value, (value, value))
    code = (
        "NAN"
        if math.isnan(value)
        else ("-" if value < 0 else "") + ("INFINITY" if math.isinf(value) else repr(abs(value)))
    )
    return Value(code, "weak float", UNARY if code[0] == "-" else PRIMARY, float(value))


def wrap(value: Value, rank: int) -> str:
    """Its text as part of something that binds as tightly as ``rank``."""
    return value.code if value.rank >= rank else f"({value.code})"


def spelled(value: Value, kind: str, rank: int = PRIMARY) -> str:
    """Its text as an operand of an operation in ``kind``."""
    if value.type == "weak float" and kind == "float":
        return wrap(Value(value.code + ("f" if value.code[-1].isdigit() else ""), kind, value.rank), rank)
    if value.type == "weak int" and kind in ("float", "double"):
        return wrap(Value(value.code + (".0f" if kind == "float" else ".0"), kind, value.rank), rank)
    if kind == "double" and (value.type == "float" or is_whole(value.type)) and value.constant is None:
        return wrap(Value(f"(double){wrap(value, UNARY)}", kind, UNARY), rank)
    return wrap(value, rank)
