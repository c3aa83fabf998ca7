"""Calls in kernels: of Python, math and NumPy, and of functions of the user."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import functions, values
from .values import Array, Value, is_whole, spelled
from .vectors import Vectors, flattened

#: Methods of a row of NumPy.
_METHODS = {"sum": np.sum, "min": np.min, "max": np.max, "dot": np.dot, "copy": np.array}
_INSTEAD = {
    "numpy.where": "write `a if condition else b`",
    "numpy.linalg.norm": "write math.sqrt(v @ v)",
    "numpy.cross": "write its three values",
    "numpy.linalg.solve": "write the steps of the solution",
    "builtins.range": "it belongs behind `for k in`",
    "builtins.print": "print stands alone, as a statement",
    "builtins.sorted": "compare and exchange the values",
    "builtins.str": "a kernel has no texts",
    "math.prod": "write the product",
}


class Calls(Vectors):
    """Calls, for expressions."""

    function: Any

    def expression(self, node: ast.AST) -> Value:
        """Any expression."""
        raise NotImplementedError

    def scalar(self, node: ast.AST) -> Value:
        """An expression that is a number."""
        raise NotImplementedError

    def static(self, node: ast.AST) -> Any:
        """The object that a name or attribute stands for."""
        raise NotImplementedError

    def is_row(self, node: ast.AST) -> bool:
        """Whether it is a row, a vector or a matrix."""
        raise NotImplementedError

    def count_of(self, row: Value) -> Value:
        """The number of rows of a ragged map."""
        raise NotImplementedError

    def on_Call(self, node: ast.Call) -> Value:
        from .expressions import MISSING

        callee = self.static(node.func)
        name = ast.unparse(node.func)
        for part in node.args:
            if isinstance(part, ast.Starred):
                self.source.fail(part, "a call in a kernel says each of its arguments")
        if callee is MISSING and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            if self.is_row(node.func.value):
                arguments = [node.func.value, *node.args]
                return self.of_rows(node, _METHODS[node.func.attr], [self.expression(part) for part in arguments])
        if callee is MISSING:
            self.source.fail(node, f"{name} is no function that a kernel could call")
        inner = self.unit.function_of(callee)
        if inner is not None:
            found: Value = self.unit.call(self, node, inner)
            return found
        if any(callee is maker for maker in functions.MAKERS):
            return self.numpy_array(node)[0]._replace(code="")
        if node.keywords:
            self.source.fail(node, "a call in a kernel has no named arguments, but for your own functions")
        try:
            hash(callee)
        except TypeError:
            self.source.fail(node, f"{name} is no function that a kernel could call")
        return self.called(node, callee, [self.argument(part) for part in node.args])

    def numpy_array(self, value: ast.Call) -> Tuple[Value, bool]:
        """zeros, ones, empty and eye."""
        raise NotImplementedError

    def argument(self, node: ast.expr) -> Value:
        """A number, or a row; a list of numbers is one."""
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
            return self.display(node)
        found = self.expression(node)
        if found.type == "void":
            self.source.fail(node, f"{ast.unparse(node)} gives no value")
        self.no_record(node, found)
        return found

    def no_record(self, node: ast.AST, found: Value) -> None:
        """A record has no value by itself."""
        raise NotImplementedError

    def display(self, node: ast.expr) -> Value:
        """Values in brackets."""

        def inner(part: ast.expr) -> Any:
            if not isinstance(part, (ast.List, ast.Tuple)):
                return self.scalar(part)
            if not part.elts:
                self.source.fail(part, "there is nothing in these brackets")
            found = tuple(inner(element) for element in part.elts)
            if len({_shape(element) for element in found}) > 1:
                self.source.fail(part, "the rows of an array have one length")
            return found

        nested = inner(node)
        return self.vector(node, nested, False)

    def called(self, node: ast.Call, callee: Any, arguments: List[Value]) -> Value:
        """A function of Python, math or NumPy."""
        name = ast.unparse(node.func)
        rows = [argument for argument in arguments if isinstance(argument.type, Array)]
        if callee is len and len(rows) == len(arguments) == 1:
            if rows[0].type.ragged:  # type: ignore[union-attr]
                return self.count_of(rows[0])
            return values.number(rows[0].type.shape[0])  # type: ignore[union-attr]
        if rows and (callee in functions.ROWS or callee in (np.dot, np.array)):
            return self.of_rows(node, callee, arguments)
        if callee in (np.dot, np.array):
            self.source.fail(node, f"{name} is for vectors; these are numbers")
        if rows and isinstance(callee, np.ufunc) and self.expected(callee):
            self.count(node, callee, len(arguments))
            return self.elementwise(node, lambda *numbers: self.known(node, callee, numbers), *arguments)
        instead = _INSTEAD.get(f"{getattr(callee, '__module__', '')}.{getattr(callee, '__name__', '')}", "")
        if self.expected(callee) is None:
            self.source.fail(node, f"{name} cannot be called in a kernel" + (f"; {instead}" if instead else ""))
        for part, argument in zip(node.args, arguments):
            if isinstance(argument.type, Array):
                self.no_number(part, argument)
        self.count(node, callee, len(arguments))
        return self.known(node, callee, arguments)

    def no_number(self, node: ast.AST, found: Value) -> Any:
        """A row in place of a number."""
        raise NotImplementedError

    def count(self, node: ast.Call, callee: Any, given: int) -> None:
        """Check that the call has so many arguments."""
        wanted = self.expected(callee) or ()
        if given not in wanted:
            name = ast.unparse(node.func)
            more = "; round to digits by round(x * 100) / 100" if callee is round else ""
            self.source.fail(node, f"{name} has {given} arguments here; expected {wanted[0]}{more}")

    def of_rows(self, node: ast.Call, callee: Any, arguments: Sequence[Value]) -> Value:
        """sum, min, max, dot and array."""
        wanted = 2 if callee is np.dot else 1
        if len(arguments) != wanted:
            self.source.fail(node, f"{ast.unparse(node.func)} of a row has {wanted} argument{'s' * (wanted > 1)} here")
        if callee is np.dot:
            return self.product(node, arguments[0], arguments[1])
        row = arguments[0]
        assert isinstance(row.type, Array)
        parts = self.parts(node, row)
        if callee is np.array:
            return self.vector(node, parts)
        if len(row.type.shape) > 1 and callee in (sum, min, max):
            self.source.fail(node, f"{ast.unparse(node.func)} is for one row here, and this has several")
        word = functions.ROWS[callee]
        if word == "sum":
            return self.total(node, ([values.number(0)] if callee is sum else []) + list(flattened(parts)))
        extreme: Dict[str, Any] = {"min": np.minimum, "max": np.maximum}
        if callee in (min, max):
            extreme = {"min": min, "max": max}
        return self.extremum(node, extreme[word], flattened(parts))

    def known(self, node: ast.Call, callee: Any, arguments: Sequence[Value]) -> Value:
        """The call of a known function, of numbers."""
        first = arguments[0]
        if callee in functions.CASTS:
            return self.cast(node, functions.CASTS[callee], first)
        if callee in functions.TESTS:
            if is_whole(first.type):
                return values.number(functions.TESTS[callee] == "isfinite")
            return Value(f"({functions.TESTS[callee]}({first.code}) != 0)", "bool", range=(0, 1))
        if callee in functions.ROUND:
            if is_whole(first.type):
                return self.cast(node, "python int", first)
            words = f"(long long){functions.ROUND[callee]}({spelled(first, 'double', 0)})"
            return Value(words, "long long", values.UNARY)
        if callee in functions.EXTREMA:
            return self.extremum(node, callee, arguments)
        if callee in functions.ABSOLUTE:
            return self.absolute(node, first)
        name, own_type = functions.REAL[callee]
        return self.real(name, arguments, values.real_kind(*arguments) if own_type else "double")

    @staticmethod
    def expected(callee: Any) -> Optional[Tuple[int, ...]]:
        """The numbers of arguments that it may have; None: a kernel cannot call it."""
        if callee in functions.EXTREMA:
            return (2, 3, 4, 5, 6, 7, 8) if callee in (min, max) else (2,)
        if callee in functions.REAL:
            return (2,) if functions.REAL[callee][0] in functions.TWO else (1,)
        known = callee in functions.CASTS or callee in functions.TESTS or callee in functions.ROUND
        return (1,) if known or callee in functions.ABSOLUTE else None


def _shape(nested: Any) -> Tuple[int, ...]:
    return () if isinstance(nested, Value) else (len(nested), *_shape(nested[0]))


