"""Kernels that run in Python, on the native backend.

The function's text is kept as it is, so that debuggers show it, but for what CPython does in another way than a kernel:
where it would raise an exception for a real number the result is that of IEEE, and a whole number stays within 64 bits.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import types
from functools import partial
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from . import functions
from .cells import FORMATS, Cells, largest, least, maximum, minimum, whole

#: Names that no program has.
_OP, _CHANGE, _OWN = "op2jit operation ", "op2jit change", "op2jit object "


def _within(value: Any) -> Any:
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise OverflowError("a whole number of a kernel has more than 64 bits")
    return value


def _divide(a: Any, b: Any) -> Any:
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def _floor_divide(a: Any, b: Any) -> Any:
    return a // b if b or isinstance(a, int) and isinstance(b, int) else math.nan


def _modulo(a: Any, b: Any) -> Any:
    return a % b if b or isinstance(a, int) and isinstance(b, int) else math.nan


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        return _within(a**b)
    return _ieee(math.pow, np.power)(a, b)


_NUMBERS: Dict[Any, Callable[..., Any]] = {
    ast.Add: lambda a, b: _within(a + b),
    ast.Sub: lambda a, b: _within(a - b),
    ast.Mult: lambda a, b: _within(a * b),
    ast.Div: _divide,
    ast.FloorDiv: _floor_divide,
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: lambda a, b: _within(a << b),
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


def _operation(word: Any) -> Callable[[Any, Any], Any]:
    """An operation on numbers and vectors."""
    if word is ast.MatMult:
        return lambda a, b: a.dot(b)
    number = _NUMBERS[word]

    def run(a: Any, b: Any) -> Any:
        if isinstance(a, Cells):
            return a.each(number, b)
        if isinstance(b, Cells):
            return b.each(lambda one, other: number(other, one), a)
        if word in (ast.Mult,) and isinstance(a, list):
            return a * b
        return number(a, b)

    return run


OPERATIONS = {word: _operation(word) for word in (*_NUMBERS, ast.MatMult)}


def _change(old: Any, word: str, value: Any) -> Any:
    """The new value of ``name op= value``: a row changes where it is."""
    found = OPERATIONS[getattr(ast, word)](old, value)
    return old.assign(found) if isinstance(old, Cells) else found


def _change_element(row: Any, index: Any, word: str, value: Callable[[], Any]) -> None:
    """The statement ``row[index] op= value``."""
    old = row[index]
    row[index] = OPERATIONS[getattr(ast, word)](old, value())


def _ieee(function: Callable[..., Any], other: Optional[Callable[..., Any]]) -> Callable[..., Any]:
    """The function, and where it raises an exception what C gives."""

    def run(*numbers: Any) -> Any:
        numbers = tuple(float(number) for number in numbers)
        try:
            return function(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            if other is None:
                return math.inf if numbers[0] != math.floor(numbers[0]) or numbers[0] >= 0 else math.nan
            with np.errstate(all="ignore"):
                return float(other(*numbers))

    return run


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for each element of vectors."""

    def run(*values: Any) -> Any:
        for value in values:
            if isinstance(value, Cells):
                flat: List[List[Any]] = [value.spread(one) for one in values]
                return Cells([function(*row) for row in zip(*flat)], value.shape)
        return function(*values)

    return run


def _rounded(value: Any) -> float:
    with np.errstate(all="ignore"):
        return float(np.float32(value))


def _sum(row: Any) -> Any:
    found: Any = 0
    for value in row:
        found = found + value
    return found


def _maker(fill: int) -> Callable[..., Cells]:
    return lambda shape, dtype=float: Cells.made(shape, fill, FORMATS[np.dtype(_DTYPES.get(dtype, dtype)).name])


def _eye(size: int, dtype: Any = float) -> Cells:
    found = _maker(0)((size, size), dtype)
    for number in range(size):
        found[number, number] = 1
    return found


def _table() -> Dict[Any, Callable[..., Any]]:
    """The functions that run in place of those of Python, math and NumPy."""
    found: Dict[Any, Callable[..., Any]] = {}
    numpy_of = {name: key for key, (name, own) in functions.REAL.items() if own}
    math_of = {name: key for key, (name, own) in functions.REAL.items() if not own}
    for key, (name, own) in functions.REAL.items():
        plain = math_of.get(name, key)
        found[key] = _each(_ieee(plain, numpy_of.get(name))) if own else _ieee(plain, numpy_of.get(name))
    for key, form in (("int8", "b"), ("int16", "h"), ("int32", "i"), ("int64", "q"), ("uint32", "I"), ("uint64", "Q")):
        found[getattr(np, key)] = partial(whole, form=form)
    for key in (np.abs, np.absolute):
        found[key] = _each(abs)
    for key, word in functions.TESTS.items():
        found[key] = _each(getattr(math, word))
    found.update({np.minimum: _each(minimum), np.maximum: _each(maximum), np.bool_: bool, np.float64: float})
    found.update({np.float32: _rounded, sum: _sum, np.sum: lambda row: row.sum(), np.dot: lambda a, b: a.dot(b)})
    found.update({np.min: lambda row: least(row.flat()), np.max: lambda row: largest(row.flat()), np.array: Cells.of})
    found.update({np.zeros: _maker(0), np.ones: _maker(1), np.empty: _maker(0), np.eye: _eye})
    return found


TABLE = _table()
#: The types that functions of the table stand for.
_DTYPES = {found: key for key, found in TABLE.items() if isinstance(key, type)}


class _Turned(ast.NodeTransformer):
    """The tree of a function, with such operations and functions."""

    def __init__(self, unit: Any, function: types.FunctionType, module: Dict[str, Any]) -> None:
        self.unit, self.function, self.module = unit, function, module
        self.local = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        return self.call(node, _OP + type(node.op).__name__, [node.left, node.right])

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        word = ast.Constant(type(node.op).__name__)
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            old = ast.Name(node.target.id, ast.Load())
            found = self.call(node, _CHANGE, [old, word, value])
            return ast.copy_location(ast.Assign([node.target], found), node)
        target: Any = self.visit(node.target)
        if isinstance(target, ast.Attribute):  # a value of a record
            target = ast.Subscript(target.value, ast.Constant(target.attr), ast.Load())
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        later = ast.Lambda(nothing, value)
        found = self.call(node, _CHANGE + " element", [target.value, _index(target.slice), word, later])
        return ast.copy_location(ast.Expr(found), node)

    def visit_Name(self, node: ast.Name) -> Any:
        return node if node.id in self.local or isinstance(node.ctx, ast.Store) else self.object(node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        base = node.value
        while isinstance(base, ast.Attribute):
            base = base.value
        if isinstance(base, ast.Name) and base.id not in self.local:
            return self.object(node)
        self.generic_visit(node)
        return node

    def object(self, node: Any) -> Any:
        """The object that a name of the module stands for in kernels."""
        from ..globals import Const

        found: Any = self.unit.outside(self.function, node.id) if isinstance(node, ast.Name) else None
        name = _OWN + ast.unparse(node)
        if isinstance(node, ast.Attribute):
            parts = ast.unparse(node).split(".")
            found = self.unit.outside(self.function, parts[0])
            for part in parts[1:]:
                found = getattr(found, part)
        if isinstance(found, Const):
            if name not in self.module:
                found.seen.append(lambda value: self.module.__setitem__(name, _plain(value)))
            self.module[name] = _plain(found.value)
        else:
            self.module[name] = self.of(found)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def of(self, found: Any) -> Any:
        """An object of the module as kernels have it."""
        inner = self.unit.function_of(found)
        if inner is not None:
            return runner(self.unit, inner)
        if callable(found):
            return TABLE.get(found, found)
        return _plain(found)

    @staticmethod
    def call(node: ast.AST, name: str, arguments: Any) -> Any:
        """A call of one of the functions above."""
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), arguments, []), node)


def _index(node: ast.expr) -> ast.expr:
    """An index that is given to a function."""
    if isinstance(node, ast.Slice):
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return ast.copy_location(ast.Call(ast.Name(_OWN + "slice", ast.Load()), parts, []), node)
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([_index(part) for part in node.elts], ast.Load()), node)
    return node


def _plain(found: Any) -> Any:
    if isinstance(found, np.generic):
        return found.item()
    return Cells.of(found.tolist()) if isinstance(found, np.ndarray) and found.ndim else found


def runner(unit: Any, function: types.FunctionType) -> Callable[..., Any]:
    """The function as it runs in Python."""
    if function in unit.running:
        return unit.running[function]  # type: ignore[no-any-return]
    from .source import Source

    module: Dict[str, Any] = {_OP + word.__name__: run for word, run in OPERATIONS.items()}
    module.update({_CHANGE: _change, _CHANGE + " element": _change_element, _OWN + "slice": slice})
    module["__builtins__"] = function.__globals__.get("__builtins__", builtins)
    module["__name__"] = function.__module__
    source = Source(function, unit.files)
    tree = source.tree
    tree.decorator_list, tree.returns = [], None
    for word in tree.args.args:
        word.annotation = None
    tree.args.defaults = []
    turned = _Turned(unit, function, module)
    tree.body = [turned.visit(statement) for statement in tree.body]
    code = compile(ast.fix_missing_locations(ast.Module([tree], [])), source.file, "exec")
    exec(code, module)
    made = module[tree.name]
    made.__defaults__ = function.__defaults__
    unit.running[function] = made
    return made  # type: ignore[no-any-return]
