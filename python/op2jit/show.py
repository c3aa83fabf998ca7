"""Objects as notebooks show them."""

from __future__ import annotations

import functools
import html
from typing import Any, Callable, Dict, List, Sequence

from . import errors


def kept(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """A ``__repr__`` that says of an object which the library does not have any more that it is freed."""

    @functools.wraps(method)
    def shown(self: Any) -> str:
        try:
            return method(self)
        except errors.Error:
            words = f"<op2jit.{type(self).__name__} {self.name}: freed>"
            return html.escape(words) if method.__name__ == "_repr_html_" else words

    return shown


def table(kind: str, name: str, facts: Dict[str, Any]) -> str:
    """A small table of one object."""
    rows = "".join(
        f"<tr><td>{html.escape(key)}</td><td>{html.escape(_number(value))}</td></tr>" for key, value in facts.items()
    )
    return f"<table><tr><th>{kind}</th><th>{html.escape(name)}</th></tr>{rows}</table>"


def grid(head: Sequence[str], rows: List[Sequence[Any]], caption: str = "") -> str:
    """A table with a row for each thing."""
    line = "".join(f"<th>{html.escape(word)}</th>" for word in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(_number(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><tr>{line}</tr>{body}</table>"


def lines(head: Sequence[str], rows: List[Sequence[Any]], caption: str = "") -> str:
    """The table as text."""
    cells = [list(head)] + [[_number(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
    return "\n".join(([caption] if caption else []) + text)


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
