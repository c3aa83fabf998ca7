"""print in kernels: C's printf."""

from __future__ import annotations

import ast
from typing import Any, List, Tuple

from . import values


def printed(body: Any, call: ast.Call) -> str:
    """The call of printf for one of print, whose parts are numbers and texts."""
    pieces: List[Tuple[str, str]] = []
    if call.keywords:
        body.source.fail(call, "print has no named arguments in a kernel")
    for number, part in enumerate(call.args):
        if number:
            pieces.append((" ", ""))
        pieces += _parts(body, part)
    form = "".join(piece[0] for piece in pieces)
    words = "".join(", " + piece[1] for piece in pieces if piece[1])
    return f'printf("{form}\\n"{words});'


def _parts(body: Any, part: ast.expr) -> List[Tuple[str, str]]:
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        return [(_escaped(part.value), "")]
    if not isinstance(part, ast.JoinedStr):
        return [_number(body, part)]
    found: List[Tuple[str, str]] = []
    for piece in part.values:
        if isinstance(piece, ast.FormattedValue):
            if piece.format_spec is not None or piece.conversion != -1:
                body.source.fail(part, "a value in a text has no format in a kernel")
            found.append(_number(body, piece.value))
        else:
            found += _parts(body, piece)
    return found


def _number(body: Any, part: ast.expr) -> Tuple[str, str]:
    value = body.scalar(part)
    if value.type == "bool":
        return "%s", f'{values.wrap(value, values.OR)} ? "True" : "False"'
    if not values.is_whole(value.type):
        return "%.15g", values.spelled(value, "double", values.CHOICE)
    kind = "unsigned long long" if values.bounds(value)[1] >= 2**63 else "long long"
    return ("%llu" if kind[0] == "u" else "%lld"), f"({kind}){values.wrap(value, values.UNARY)}"


def _escaped(words: str) -> str:
    plain = {chr(code) for code in range(32, 127)} - set('"\\%?')
    return "".join(
        char if char in plain else "%%" if char == "%" else "".join(f"\\{byte:03o}" for byte in char.encode())
        for char in words
    )
