"""Functions of Python as kernels in C, by their syntax trees.

A statement of C stands on the line of its statement of Python, so that what the library says of a kernel names the line
that the user wrote.
"""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from .. import errors
from .._library import INC, READ, UNSAID
from ..life import state
from . import functions, values
from .body import Body, Piece, c_name
from .expressions import MISSING
from .native import runner
from .source import Files
from .values import Array, Type, Value, kind_of, spelled


class Unit:
    """A kernel with all that it calls: one text of C.

    ``exact``: computing is what Python does with float64, also where values are stored as float32 (OP2_FP=strict).
    """

    def __init__(self, function: types.FunctionType, files: Files, exact: bool = False) -> None:
        self.function, self.files, self.exact = function, files, exact
        self.helpers: Dict[Any, Body] = {}
        self.order: List[Body] = []  # called ones before those that call them
        self.stack: List[Any] = []
        self.needed: Dict[str, str] = {}  # small functions by name
        self.tables: Dict[int, Tuple[str, str, Any]] = {}
        self.kernel: Optional[Body] = None
        self.counts: Set[str] = set()  # parameters that are globals of whole numbers
        self.sums: Set[str] = set()  # parameters of whole numbers that are INC
        self.changing: Dict[Any, bool] = {}  # functions: do they change what they get?
        self.running: Dict[Any, Callable[..., Any]] = {}  # functions as they run in Python
        self.taken: Set[str] = {c_name(function.__name__), *state.constants}  # names of C that are not variables
        self.words: Set[str] = set()  # and those that are

    # ---- what a body asks ----

    @staticmethod
    def outside(function: Any, name: str) -> Any:
        """The object that a name stands for outside of the function."""
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
        """Whether this is the kernel, and not a function that it calls."""
        return body is self.kernel

    def need(self, snippet: Tuple[str, str]) -> str:
        """The name of a small function, whose text is needed."""
        name, text = snippet
        self.needed[name] = text
        return name

    def short(self, value: Value, kind: str) -> bool:
        """Whether a number of the text is written with f."""
        return kind == "float" and value.type == "weak float" and not self.exact and abs(value.constant) < 3e38

    @staticmethod
    def native_only(body: Body, node: ast.AST, words: str) -> None:
        """Refuses what only Python can do, but on the backend where Python does it."""
        if not state.native:
            body.source.fail(node, f"{words} works on the native backend alone: op2jit.runtime(backend=\"native\")")

    def unused(self, name: str) -> str:
        """A name of C for a function or a table."""
        word = c_name(name)
        while word in self.taken or word in self.words or word in functions.NAMES:
            word += "_"
        self.taken.add(word)
        return word

    def table(self, body: Body, found: Any, name: str, node: ast.AST) -> Value:
        """A module's table of numbers."""
        if id(found) not in self.tables:
            try:
                array = np.asarray(found)
            except ValueError:  # rows of several lengths
                array = np.asarray(None)
            if array.dtype.kind not in "biuf" or not 1 <= array.ndim <= 2 or not 1 <= array.size <= 4096:
                body.source.fail(node, f"{name} is no small table of numbers")
            kind = "float" if array.dtype == np.float32 else "double"
            if array.dtype.kind != "f":
                least = Value("", "weak int", constant=int(array.min()))
                most = Value("", "weak int", constant=int(array.max()))
                kind = "bool" if array.dtype.kind == "b" else body.joined(node, least, most)
            unique = self.unused(name)
            dims = "".join(f"[{size}]" for size in array.shape)
            text = f"static const {kind} {unique}{dims} = {_initialiser(array)};"
            vector = isinstance(found, np.ndarray)
            self.tables[id(found)] = (unique, text, Array(kind, array.shape, True, False, vector))
        unique, _, kind = self.tables[id(found)]
        return Value(unique, kind, root=unique)

    def call(self, caller: Body, node: ast.Call, function: types.FunctionType) -> Value:
        """A call of another function of the user."""
        if function in self.stack or function is self.function:
            caller.source.fail(node, f"{function.__name__} is called from within itself, which a kernel cannot do")
        names = list(function.__code__.co_varnames[: function.__code__.co_argcount])
        arguments = _arguments(caller, node, function, names)
        kinds = tuple(_free(argument, name) for (argument, _), name in zip(arguments, names))
        # One form of it for rows that may be written and for others: those that it does not write are const.
        key = (function, kinds)
        if key not in self.helpers:
            written = self.made(function, names, kinds).written
            told = [_row(kind, name not in written) for name, kind in zip(names, kinds)]
            body = self.made(function, names, told)
            same = [other for other in self.order if other.function is function and _text(other) == _text(body)]
            self.helpers[key] = same[0] if same else body
            if not same:
                self.order.append(body)
                self.taken.add(body.name)
        body = self.helpers[key]
        words = []
        for (argument, part), name in zip(arguments, names):
            kind = body.parameters[name]
            if not isinstance(kind, Array):
                words.append(spelled(argument, str(kind), 0))
                continue
            if kind.ragged:
                words.append(caller.count_of(argument).code)
            words.append(f"{argument.code} + {argument.start}" if argument.start else argument.code)
            if name in body.written:
                caller.write(part, argument.root)
            if name in body.real_into:
                caller.gets_real(part, argument.root, inside=False)
        caller.refused += body.refused
        return Value(f"{body.name}({', '.join(words)})", body.returns or "void")

    def made(self, function: types.FunctionType, names: Sequence[str], kinds: Sequence[Type]) -> Body:
        """Another function of the user for arguments of these types."""
        name = self.unused(function.__name__)
        self.stack.append(function)
        body = Body(self, function, list(zip(names, kinds)), name)
        body.translate()
        self.stack.pop()
        self.taken.discard(name)
        return body


def _arguments(caller: Body, node: ast.Call, function: Any, names: List[str]) -> List[Tuple[Value, ast.AST]]:
    """The value of each parameter: by its place, by its name, or its default."""
    if len(node.args) > len(names):
        caller.source.fail(
            node, f"{function.__name__} has {len(names)} parameters, and {len(node.args)} arguments here"
        )
    given: Dict[str, ast.expr] = dict(zip(names, node.args))
    for word in node.keywords:
        if word.arg not in names or word.arg in given:
            caller.source.fail(word.value, f"{function.__name__} has no parameter {word.arg} that is free")
        given[word.arg] = word.value
    defaults = dict(zip(names[::-1], (function.__defaults__ or ())[::-1]))
    found: List[Tuple[Value, ast.AST]] = []
    for name in names:
        if name not in given and name not in defaults:
            count = len(node.args) + len(node.keywords)
            caller.source.fail(
                node, f"{function.__name__} has {len(names)} parameters, and {count} arguments here: {name} is missing"
            )
        part: ast.AST = given.get(name, node)
        value = caller.expression(part) if name in given else caller.of_object(defaults[name], name, node)
        if value.type == "void":
            caller.source.fail(part, f"{ast.unparse(part)} gives no value")
        caller.no_record(part, value)
        if isinstance(value.type, Array) and not value.code:
            caller.source.fail(part, "give this vector a name first")
        found.append((value, part))
    return found


def _free(argument: Value, name: str) -> Type:
    """The type of a parameter for an argument; a row may be written until it is known that it is not."""
    kind = argument.type
    if isinstance(kind, Array) and kind.ragged:
        return kind._replace(ragged=name)
    return _row(kind, False) if isinstance(kind, Array) else kind_of(argument)


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
    if kind.ragged:
        return f"{const}{kind.type} **{name}"
    if kind.pointers:
        return f"{const}{kind.type} *{name}[{kind.shape[0]}]"
    if len(kind.shape) > 1:
        return f"{const}{kind.type} {name}" + "".join(f"[{size}]" for size in kind.shape)
    return f"{const}{kind.type} *{name}"


def _is_matrix(body: Body, kind: Type) -> bool:
    """An element's matrix, which a kernel gets row after row."""
    return body.unit.is_kernel(body) and isinstance(kind, Array) and len(kind.shape) == 2 and not kind.pointers


def _signature(body: Body, name: str) -> str:
    words = []
    for parameter, kind in body.parameters.items():
        if isinstance(kind, Array) and kind.ragged == parameter:
            words.append(f"int {body.c_names['len of ' + parameter]}")
        if _is_matrix(body, kind):
            words.append(f"{kind.type} *{body.c(parameter)}_matrix")  # type: ignore[union-attr]
        else:
            words.append(_declaration(kind, body.inputs.get(parameter, body.c(parameter))))
    return f"static {body.returns or 'void'} {name}({', '.join(words) or 'void'})"


def _whole(body: Body) -> List[Piece]:
    """All of a function, with its head on the line of def."""
    pieces = [Piece(body.tree.lineno, 0, _signature(body, body.name) + " {")]
    for name, kind in body.parameters.items():
        if _is_matrix(body, kind):
            row, at = f"[{kind.shape[1]}]", body.c(name)  # type: ignore[union-attr]
            words = f"{kind.type} (*{at}){row} = ({kind.type} (*){row}){at}_matrix;"  # type: ignore[union-attr]
            pieces.append(Piece(body.tree.lineno, 1, words))
    pieces += body.pieces
    return pieces + [Piece(pieces[-1].line, 0, "}")]


def _text(body: Body) -> str:
    """The function's text without its own name."""
    return _signature(body, "") + "".join(piece.code for piece in body.pieces)


def _types(function: types.FunctionType, parameters: Sequence[Any], written: Any) -> List[Tuple[str, Type]]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if not len(names) - len(function.__defaults__ or ()) <= len(parameters) <= len(names):
        raise errors.kernel_error(
            f"kernel {function.__name__} has {len(names)} parameter{'s' * (len(names) != 1)} "
            f"({', '.join(names)}), but the loop passes {len(parameters)} argument{'s' * (len(parameters) != 1)}; "
            "a loop has one argument for each parameter, in the same order",
            (function.__code__.co_filename, function.__code__.co_firstlineno),
        )
    found: List[Tuple[str, Type]] = []
    for name, parameter in zip(names, parameters):
        const = parameter.access == READ or (
            parameter.access == UNSAID and written is not None and name not in written
        )
        shape = (parameter.rows, parameter.dim) if parameter.rows else (parameter.dim,)
        pointers, ragged = bool(parameter.rows) and not parameter.matrix, ""
        if parameter.ragged:
            shape, pointers, ragged = (values.RAGGED, parameter.dim), True, names[parameter.ragged - 1]
        found.append((name, Array(parameter.type, shape, const, pointers, ragged=ragged)))
    return found


def _translate_once(
    function: types.FunctionType, parameters: Sequence[Any], files: Files, written: Any
) -> Unit:
    unit = Unit(function, files, state.strict)
    body = Body(unit, function, _types(function, parameters, written), c_name(function.__name__))
    unit.kernel = body
    unit.counts = {name for name, parameter in zip(body.parameters, parameters) if parameter.whole_global}
    sums = [parameter.access == INC and values.is_whole(parameter.type) for parameter in parameters]
    unit.sums = {name for name, is_sum in zip(body.parameters, sums) if is_sum}
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
    prototypes = [_signature(body, body.name) + ";" for body in unit.order[:-1]]
    rows[first] = _beginning(unit) + prototypes + elsewhere
    for body in here:
        for piece in _whole(body):
            row = rows.setdefault(piece.line, [])
            row.append(piece.code if row else "  " * piece.depth + piece.code)
    text = "\n".join(" ".join(rows.get(line, [])) for line in range(first, last + 1))
    shown = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {first} "{shown}"\n{text}\n'


def _pretty(unit: Unit) -> str:
    """The text for people."""
    parts = ["\n".join(_beginning(unit))] if _beginning(unit) else []
    for body in unit.order:
        parts.append("\n".join("  " * piece.depth + piece.code for piece in _whole(body)))
    return "\n\n".join(parts) + "\n"


class Translated(NamedTuple):
    """The text for the compiler, the text for people, and what runs without a compiler."""

    words: str
    source: str
    run: Callable[..., Any]


def translate(function: Any, parameters: Sequence[Any], files: Files) -> Translated:
    """A function as a kernel for arguments of certain types."""
    unit = _translate_once(function, parameters, files, None)
    if any(parameter.access == UNSAID for parameter in parameters):
        assert unit.kernel
        unit = _translate_once(function, parameters, files, set(unit.kernel.written))
    return Translated(_lines(unit), _pretty(unit), runner(unit, function))
