"""The text of a function, and errors that show its lines."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from typing import Any, Callable, NoReturn

from .. import errors


class Source:
    """Where a function's text is, and its tree."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.file = function.__code__.co_filename
        try:
            lines, self.first = inspect.getsourcelines(function)
        except (OSError, TypeError) as problem:
            raise errors.kernel_error(
                f"the text of function {function.__name__} is not to be had; write it in a file or a notebook's cell",
                (self.file, function.__code__.co_firstlineno),
            ) from problem
        text = "".join(lines)
        self.indent = len(text) - len(text.lstrip())
        tree = ast.parse(textwrap.dedent(text))
        ast.increment_lineno(tree, self.first - 1)
        node = tree.body[0]
        if not isinstance(node, ast.FunctionDef):
            raise errors.kernel_error(
                f"{function.__name__} is not written with def, as a kernel must be", (self.file, self.first)
            )
        self.tree = node
        self.lines = {self.first + number: line.rstrip("\n") for number, line in enumerate(lines)}

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        """Raises with the line of a part of the tree, and a caret below it."""
        line = getattr(node, "lineno", self.first)
        column = getattr(node, "col_offset", 0) + self.indent
        shown = self.lines.get(line) or linecache.getline(self.file, line).rstrip("\n")
        caret = "".join(" " if char != "\t" else char for char in shown[:column]) + "^"
        raise errors.kernel_error(
            f"{self.file}:{line}:{column + 1}: kernel {self.tree.name}: {message}\n    {shown}\n    {caret}",
            (self.file, line),
        )
