"""Small vectors and matrices: arithmetic on them is written out for each element."""

from __future__ import annotations

import ast
from typing import Any, Callable, List, Sequence, Tuple

import numpy as np

from . import values
from .arithmetic import Arithmetic
from .values import Array, Value

#: The most elements that are written out.
_MOST = 64


class Vectors(Arithmetic):
    """Operations on rows, for expressions. The elements of a row are nested tuples of numbers."""

    def load(self, code: str, kind: str, root: str) -> Value:
        """An element."""
        raise NotImplementedError

    def index(self, node: ast.expr, size: int, name: str, count: str = "") -> str:
        """An index."""
        raise NotImplementedError

    def parts(self, node: ast.AST, value: Value) -> Any:
        """The elements of a row."""
        if not isinstance(value.type, Array):
            return value
        if value.parts is not None:
            return value.parts
        kind = value.type.type
        if values.is_record(kind):
            self.source.fail(node, "records are no vectors; compute with their values, such as w[0].rho")
        return _map(lambda code: self.load(code, kind, value.root), self.texts(node, value))

    def texts(self, node: ast.AST, value: Value) -> Any:
        """The texts of the elements of a row that lies in memory."""
        assert isinstance(value.type, Array)
        self.no_ragged(node, value)
        if np.prod(value.type.shape) > _MOST:
            self.source.fail(node, f"a vector of a kernel has {_MOST} values at most; write a loop over its elements")

        def inner(code: str, shape: Sequence[int], start: int) -> Any:
            return tuple(inner(f"{code}[{start + n}]", shape[1:], 0) for n in range(shape[0])) if shape else code

        return inner(value.code, value.type.shape, value.start)

    def vector(self, node: ast.AST, nested: Any, is_vector: bool = True) -> Value:
        """A row that is computed, of its elements."""
        shape: List[int] = []
        level = nested
        while isinstance(level, tuple) and not isinstance(level, Value):
            shape.append(len(level))
            level = level[0]
        flat = flattened(nested)
        kind = flat[0]
        for other in flat[1:]:
            kind = Value("", self.joined(node, kind, other), range=_both(kind, other))
        return Value("", Array(values.kind_of(kind), tuple(shape), True, False, is_vector), parts=nested)

    def no_ragged(self, node: ast.AST, value: Value) -> None:
        """Rows of a ragged map are no vector: nobody knows how many there are."""
        if isinstance(value.type, Array) and value.type.ragged:
            words = f"write a loop, for k in range(len({value.root})), over {value.root}[k]"
            self.source.fail(node, f"{value.root} has the rows of a ragged map: {words}")

    def operand(self, node: ast.AST, value: Value) -> None:
        """Lists of Python are added and multiplied in another way than vectors."""
        self.no_ragged(node, value)
        if isinstance(value.type, Array) and not value.type.vector:
            self.source.fail(node, "arithmetic on a list of Python is none on its values; make it by np.array([...])")

    def elementwise(self, node: ast.AST, make: Callable[..., Value], *operands: Value) -> Value:
        """One operation for all elements, of rows of one shape and numbers."""
        shapes = {operand.type.shape for operand in operands if isinstance(operand.type, Array)}
        for operand in operands:
            self.operand(node, operand)
        if len(shapes) > 1:
            self.source.fail(node, f"vectors of the shapes {' and '.join(map(str, sorted(shapes)))} meet here")

        def inner(levels: Sequence[Any]) -> Any:
            rows = [level for level in levels if not isinstance(level, Value)]
            if not rows:
                return make(*levels)
            turns = range(len(rows[0]))
            return tuple(inner([lv if isinstance(lv, Value) else lv[n] for lv in levels]) for n in turns)

        return self.vector(node, inner([self.parts(node, operand) for operand in operands]))

    def vectors(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """An operation on vectors."""
        if isinstance(op, ast.MatMult):
            return self.product(node, left, right)
        return self.elementwise(node, lambda one, other: self.numbers(node, op, one, other), left, right)

    def product(self, node: ast.AST, left: Value, right: Value) -> Value:
        """@ and dot: sums of products, from left to right."""
        for side in (left, right):
            self.operand(node, side)
            if not isinstance(side.type, Array):
                self.source.fail(node, "@ is for vectors and matrices; numbers are multiplied by *")
        assert isinstance(left.type, Array) and isinstance(right.type, Array)
        one, other = self.parts(node, left), self.parts(node, right)
        if left.type.shape[-1] != right.type.shape[0] or len(left.type.shape + right.type.shape) > 4:
            self.source.fail(node, f"a product of the shapes {left.type.shape} and {right.type.shape} is not known")

        def dot(row: Sequence[Value], column: Sequence[Value]) -> Value:
            return self.total(node, [self.numbers(node, ast.Mult(), a, b) for a, b in zip(row, column)])

        rows = one if len(left.type.shape) == 2 else (one,)
        columns: Any = tuple(zip(*other)) if len(right.type.shape) == 2 else (other,)
        found: Any = tuple(tuple(dot(row, column) for column in columns) for row in rows)
        if len(right.type.shape) == 1:
            found = tuple(row[0] for row in found)
        if len(left.type.shape) == 1:
            found = found[0]
        return found if isinstance(found, Value) else self.vector(node, found)

    def total(self, node: ast.AST, several: Sequence[Value]) -> Value:
        """A sum, from left to right."""
        found = several[0]
        for other in several[1:]:
            found = self.numbers(node, ast.Add(), found, other)
        return found

    def transposed(self, node: ast.AST, row: Value) -> Value:
        """A matrix with rows and columns exchanged."""
        assert isinstance(row.type, Array)
        return self.vector(node, tuple(zip(*self.parts(node, row)))) if len(row.type.shape) == 2 else row

    def part_of(self, node: ast.AST, row: Value, indices: Sequence[ast.expr]) -> Value:
        """An element of a vector that is computed."""
        level = row.parts
        for index in indices:
            found = self.index(index, len(level), "this vector") if not isinstance(index, ast.Slice) else ""
            if not found.isdigit():
                self.source.fail(index, "give this vector a name first; then it can have such an index")
            level = level[int(found)]
        return level if isinstance(level, Value) else self.vector(node, level)


def flattened(nested: Any) -> Tuple[Any, ...]:
    """All elements of nested tuples."""
    if isinstance(nested, (Value, str)):
        return (nested,)
    return tuple(value for part in nested for value in flattened(part))


def _map(make: Callable[[Any], Value], nested: Any) -> Any:
    return make(nested) if isinstance(nested, (Value, str)) else tuple(_map(make, part) for part in nested)


def _both(one: Value, other: Value) -> Any:
    whole = values.is_whole(one.type) and values.is_whole(other.type)
    return values.hull(values.bounds(one), values.bounds(other)) if whole else None
