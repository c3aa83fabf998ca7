"""Functions of Python as kernels in C, by their syntax trees.

A statement of C stands on the line of its statement of Python, so that what the library says of a kernel names the line
that the user wrote.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import errors
from .._library import READ, UNSAID
from . import functions, values
from .body import Body, Piece, c_name
from .expressions import MISSING
from .source import Source
from .values import Array, Type, Value


class Unit:
    """A kernel with all that it calls: one text of C."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.helpers: Dict[Any, Body] = {}
        self.order: List[Body] = []  # called ones before those that call them
        self.stack: List[Any] = []
        self.needed: Dict[str, str] = {}  # small functions by name
        self.tables: Dict[int, Tuple[str, str, Any]] = {}
        self.kernel: Optional[Body] = None

    # ---- what a body asks ----

    def outside(self, function: Any, name: str) -> Any:
        """What a name stands for outside of the function."""
        if name in function.__code__.co_freevars:
            cell = function.__closure__[function.__code__.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                return MISSING
        return function.__globals__.get(name, getattr(builtins, name, MISSING))

    @staticmethod
    def constant(found: Any) -> Any:
        """The constant of the library that an object is, or None."""
        from ..globals import Const

        return found if isinstance(found, Const) else None

    @staticmethod
    def function_of(callee: Any) -> Optional[types.FunctionType]:
        """The user's function that an object is, or None."""
        inner = getattr(callee, "function", callee)
        plain = isinstance(inner, types.FunctionType) and not inner.__module__.startswith(("numpy", "math"))
        return inner if plain else None

    def is_kernel(self, body: Body) -> bool:
        """Is it the kernel, or a function that it calls?"""
        return body is self.kernel

    def need(self, snippet: Tuple[str, str]) -> str:
        """The name of a small function, whose text is needed."""
        name, text = snippet
        self.needed[name] = text
        return name

    def table(self, body: Body, found: Any, name: str, node: ast.AST) -> Value:
        """A module's table of numbers."""
        if id(found) not in self.tables:
            array = np.asarray(found)
            if array.dtype.kind not in "bif" or not 1 <= array.ndim <= 2 or array.size > 4096:
                body.source.fail(node, f"{name} is no small table of numbers")
            kind = {"b": "bool", "i": "int"}.get(array.dtype.kind, "float" if array.dtype == np.float32 else "double")
            used = {entry[0] for entry in self.tables.values()}
            unique = c_name(name)
            while unique in used:
                unique += "_"
            dims = "".join(f"[{size}]" for size in array.shape)
            text = f"static const {kind} {unique}{dims} = {_initialiser(array)};"
            self.tables[id(found)] = (unique, text, Array(kind, array.shape, True))
        unique, _, kind = self.tables[id(found)]
        return Value(unique, kind, root=unique)

    def call(self, caller: Body, node: ast.Call, function: types.FunctionType, arguments: Sequence[Value]) -> Value:
        """A call of another function of the user."""
        kinds = tuple(values.strong(argument.type) for argument in arguments)
        names = list(inspect.signature(function).parameters)
        if len(names) != len(kinds):
            caller.source.fail(
                node, f"{function.__name__} has {len(names)} parameters, and {len(kinds)} arguments here"
            )
        if function in self.stack or function is self.function:
            caller.source.fail(node, f"{function.__name__} is called from within itself, which a kernel cannot do")
        # One form of it for rows that may be written and for others: those that it does not write are const.
        free = tuple(_row(kind, False) for kind in kinds)
        key = (function, free)
        if key not in self.helpers:
            written = self.made(function, names, free).written
            told = [_row(kind, name not in written) for name, kind in zip(names, free)]
            self.helpers[key] = self.made(function, names, told)
            self.order.append(self.helpers[key])
        body = self.helpers[key]
        for argument, name, part in zip(arguments, names, node.args):
            if name not in body.written or not isinstance(argument.type, Array):
                continue
            if argument.type.const:
                caller.source.fail(part, f"{function.__name__} writes to {argument.code}, which is only read here")
            if argument.root in caller.parameters:
                caller.written.setdefault(argument.root, part)
        code = f"{body.name}({', '.join(argument.code for argument in arguments)})"
        return Value(code, body.returns or "void")

    def made(self, function: types.FunctionType, names: Sequence[str], kinds: Sequence[Type]) -> Body:
        """Another function of the user for arguments of these types."""
        taken = {body.name for body in self.order} | functions.NAMES | {c_name(self.function.__name__)}
        name = c_name(function.__name__)
        while name in taken:
            name += "_"
        self.stack.append(function)
        body = Body(self, function, list(zip(names, kinds)), name)
        body.translate()
        self.stack.pop()
        return body


def _row(kind: Type, const: bool) -> Type:
    return kind._replace(const=const) if isinstance(kind, Array) and not kind.pointers else kind


def _initialiser(array: Any) -> str:
    if array.ndim > 1:
        return "{" + ", ".join(_initialiser(row) for row in array) + "}"
    return "{" + ", ".join(values.number(value).code for value in array.tolist()) + "}"


def _declaration(kind: Type, name: str) -> str:
    if not isinstance(kind, Array):
        return f"{kind} {name}"
    const = "const " if kind.const else ""
    if kind.pointers:
        return f"{const}{kind.type} *{name}[{kind.shape[0]}]"
    if len(kind.shape) > 1:
        return f"{const}{kind.type} {name}" + "".join(f"[{size}]" for size in kind.shape)
    return f"{const}{kind.type} *{name}"


def _is_matrix(body: Body, kind: Type) -> bool:
    """An element's matrix, which a kernel gets row after row."""
    return body.unit.is_kernel(body) and isinstance(kind, Array) and len(kind.shape) == 2 and not kind.pointers


def _signature(body: Body) -> str:
    words = ", ".join(
        f"{kind.type} *{c_name(name)}_matrix"  # type: ignore[union-attr]
        if _is_matrix(body, kind)
        else _declaration(kind, c_name(name))
        for name, kind in body.parameters.items()
    )
    return f"static {body.returns or 'void'} {body.name}({words or 'void'})"


def _whole(body: Body) -> List[Piece]:
    """All of a function, with its head on the line of def."""
    pieces = [Piece(body.tree.lineno, 0, _signature(body) + " {")]
    for name, kind in body.parameters.items():
        if _is_matrix(body, kind):
            row, at = f"[{kind.shape[1]}]", c_name(name)  # type: ignore[union-attr]
            words = f"{kind.type} (*{at}){row} = ({kind.type} (*){row}){at}_matrix;"  # type: ignore[union-attr]
            pieces.append(Piece(body.tree.lineno, 1, words))
    pieces += body.pieces
    return pieces + [Piece(pieces[-1].line, 0, "}")]


def _types(function: types.FunctionType, parameters: Sequence[Any], written: Any) -> List[Tuple[str, Type]]:
    source_names = list(inspect.signature(function).parameters)
    if len(source_names) != len(parameters):
        raise errors.kernel_error(
            f"kernel {function.__name__} has {len(source_names)} parameters, but the loop passes {len(parameters)} "
            "arguments",
            (function.__code__.co_filename, function.__code__.co_firstlineno),
        )
    found: List[Tuple[str, Type]] = []
    for name, parameter in zip(source_names, parameters):
        const = parameter.access == READ or (
            parameter.access == UNSAID and written is not None and name not in written
        )
        index = parameter.access == READ and parameter.rows == 0
        shape = (parameter.rows, parameter.dim) if parameter.rows else (parameter.dim,)
        pointers = bool(parameter.rows) and not parameter.matrix
        found.append((name, Array(parameter.type, shape, const or (index and const), pointers)))
    return found


def _translate_once(function: types.FunctionType, parameters: Sequence[Any], written: Any) -> Unit:
    unit = Unit(function)
    body = Body(unit, function, _types(function, parameters, written), c_name(function.__name__))
    unit.kernel = body
    unit.stack.append(function)
    body.translate()
    unit.order.append(body)
    return unit


def _beginning(unit: Unit) -> List[str]:
    return [entry[1] for entry in unit.tables.values()] + list(unit.needed.values())


def _lines(unit: Unit) -> str:
    """The text that is compiled: each statement on its line of Python."""
    assert unit.kernel
    file = unit.kernel.source.file
    here: List[Body] = []
    for body in unit.order:  # the lines of a function that is there for several types are taken once
        if body.source.file == file and body.tree.lineno not in [other.tree.lineno for other in here]:
            here.append(body)
    first = min(body.tree.lineno for body in here)
    last = max(piece.line for body in here for piece in _whole(body))
    rows: Dict[int, List[str]] = {}
    elsewhere = [" ".join(piece.code for piece in _whole(body)) for body in unit.order if body not in here]
    prototypes = [_signature(body) + ";" for body in unit.order[:-1]]
    rows[first] = _beginning(unit) + prototypes + elsewhere
    for body in here:
        for piece in _whole(body):
            row = rows.setdefault(piece.line, [])
            row.append(piece.code if row else "  " * piece.depth + piece.code)
    text = "\n".join(" ".join(rows.get(line, [])) for line in range(first, last + 1))
    shown = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {first} "{shown}"\n{text}\n'


def _pretty(unit: Unit) -> str:
    """The same for people."""
    parts = ["\n".join(_beginning(unit))] if _beginning(unit) else []
    for body in unit.order:
        parts.append("\n".join("  " * piece.depth + piece.code for piece in _whole(body)))
    return "\n\n".join(parts) + "\n"


def _runner(function: types.FunctionType) -> Callable[..., Any]:
    """The function as Python runs it, with the values of the library's constants in place of these."""
    from ..globals import Const

    def value(found: Any, tell: Callable[[Any], None]) -> Any:
        if isinstance(found, Const):
            found.seen.append(tell)
            return found.value
        inner = getattr(found, "function", found)
        if isinstance(inner, types.FunctionType) and inner is not function and _uses_constants(inner):
            return _runner(inner)
        return found

    names = set(function.__code__.co_names)
    module = dict(function.__globals__)
    cells = function.__closure__

    def run(*args: Any) -> Any:
        return made(*args)

    for name in names & set(module):
        module[name] = value(module[name], partial(module.__setitem__, name))
    if cells:
        copies = tuple(types.CellType() for _ in cells)
        for copy, cell in zip(copies, cells):
            copy.cell_contents = value(cell.cell_contents, partial(setattr, copy, "cell_contents"))
        cells = copies
    made = types.FunctionType(function.__code__, module, function.__name__, function.__defaults__, cells)
    return run


def _uses_constants(function: types.FunctionType) -> bool:
    from ..globals import Const

    return any(isinstance(function.__globals__.get(name), Const) for name in function.__code__.co_names)


def translate(function: Any, parameters: Sequence[Any]) -> Tuple[str, str, Callable[..., Any]]:
    """The text for the compiler, the text for people, and what runs without a compiler."""
    unit = _translate_once(function, parameters, None)
    if any(parameter.access == UNSAID for parameter in parameters):
        assert unit.kernel
        unit = _translate_once(function, parameters, set(unit.kernel.written))
    return _lines(unit), _pretty(unit), _runner(function)
