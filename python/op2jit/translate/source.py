"""The text of a function, and errors that show its lines."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from typing import Any, Callable, Dict, List, NoReturn, Tuple

from .. import errors


class Files(Dict[str, List[str]]):
    """The lines of files by their names, and what was found in them: those of functions, by the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: Dict[Tuple[str, int], List[str]] = {}

    def block(self, file: str, first: int) -> List[str]:
        """The lines of a function."""
        if (file, first) not in self.blocks:
            self.blocks[file, first] = list(inspect.getblock(self[file][first - 1 :]))
        return self.blocks[file, first]


def snapshot(function: Callable[..., Any]) -> Files:
    """The lines of the files that a kernel and the functions which it calls are in, as they are now.

    They are read when the kernel is made: a file that is edited later does not change it.
    """
    found = Files()
    seen = set()
    waiting: List[Any] = [function]
    while waiting:
        one = waiting.pop()
        one = getattr(one, "function", one)
        if not isinstance(one, types.FunctionType) or one in seen:
            continue
        seen.add(one)
        _lines(one, found)
        waiting += [one.__globals__.get(name) for name in one.__code__.co_names]
        for cell in one.__closure__ or ():
            try:
                waiting.append(cell.cell_contents)
            except ValueError:  # it has no value yet
                pass
    return found


def _lines(function: Callable[..., Any], files: Files) -> List[str]:
    file = function.__code__.co_filename
    if file not in files:
        linecache.checkcache(file)
        files[file] = linecache.getlines(file, getattr(function, "__globals__", None))
    return files[file]


class Source:
    """The place of a function's text, and its tree."""

    def __init__(self, function: Callable[..., Any], files: Files) -> None:
        code = function.__code__
        self.file, self.first, self.name = code.co_filename, code.co_firstlineno, function.__name__
        place = (self.file, self.first)
        if self.name == "<lambda>":
            raise errors.kernel_error("a lambda is no kernel: write it with def", place)
        lines = _lines(function, files)
        if len(lines) < self.first:
            raise errors.kernel_error(
                f"the text of function {self.name} is not to be had; write it in a file or a notebook's cell", place
            )
        lines = files.block(self.file, self.first)
        text = "".join(lines)
        self.indent = len(text) - len(text.lstrip())
        self.lines = {self.first + number: line.rstrip("\n") for number, line in enumerate(lines)}
        try:
            # With empty lines before it, so that lines have the numbers of the file.
            node: Any = ast.parse("\n" * (self.first - 1) + textwrap.dedent(text)).body[0]
        except (SyntaxError, IndexError):
            node = None
        if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
            raise errors.kernel_error(
                f"{self.name} is not written with def, as a kernel must be, or its file was changed since it was read",
                place,
            )
        self.tree = node
        self.check_parameters()

    def check_parameters(self) -> None:
        """A kernel, and a function that it calls, has plain parameters."""
        words = self.tree.args
        for part in (words.vararg, words.kwarg, *words.kwonlyargs):
            if part is not None:
                self.fail(part, f"{self.name} has parameters with * or behind one, which a kernel cannot have")

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        """Raises with the line of a part of the tree, and a caret below it."""
        line = getattr(node, "lineno", self.first)
        column = getattr(node, "col_offset", 0) + self.indent
        shown = self.lines.get(line, "")
        before = shown.encode()[:column].decode(errors="ignore")
        caret = "".join(" " if char != "\t" else char for char in before) + "^"
        raise errors.kernel_error(
            f"{self.file}:{line}:{len(before) + 1}: kernel {self.name}: {message}\n    {shown}\n    {caret}",
            (self.file, line),
        )
