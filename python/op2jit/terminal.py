"""A line on a terminal that says how far a loop of the program is."""

from __future__ import annotations

import sys
import time
from typing import Iterable, Iterator, Optional, TextIO, TypeVar

from .life import is_root

T = TypeVar("T")


def progress(
    items: Iterable[T], label: str = "", total: Optional[int] = None, file: Optional[TextIO] = None
) -> Iterator[T]:
    """``for step in op2jit.progress(range(1000), "steps"):`` shows how far it is, on rank 0 and a terminal."""
    out = sys.stderr if file is None else file
    if not is_root() or not out.isatty():
        yield from items
        return
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    begun = shown = time.monotonic()
    done = 0
    try:
        for item in items:
            yield item
            done += 1
            now = time.monotonic()
            if now - shown > 0.2:
                shown = now
                out.write("\r\033[K" + _line(label, done, total, now - begun))
                out.flush()
    finally:
        out.write("\r\033[K" + _line(label, done, total, time.monotonic() - begun) + "\n")
        out.flush()


def _line(label: str, done: int, total: Optional[int], seconds: float) -> str:
    words = f"{label} {done}".strip()
    if total:
        words += f" of {total}"
        if 0 < done < total:
            return f"{words}, {seconds:.0f} s, {seconds / done * (total - done):.0f} s left"
    return f"{words}, {seconds:.1f} s"
