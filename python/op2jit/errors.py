"""What goes wrong is an exception that carries the library's code, its message and the place of the call."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Dict, Optional, Tuple

Place = Tuple[str, int]

#: The library's codes by their names. It is asked for them when it is open: only this one is needed before.
codes: Dict[str, int] = {"OP_ERR_FILE": 20}


class Error(Exception):
    """An error of the library.

    ``code`` is its number, ``name`` the stable name ("OP_ERR_MAP_RANGE"), ``message`` what happened, to what, what was
    expected and what to do, ``place`` the file and line of the call, or of the kernel; None where there is none.
    """

    def __init__(self, code: int, name: str, message: str, place: Optional[Place] = None) -> None:
        super().__init__(code, name, message, place)
        self.code = code
        self.name = name
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


class KernelError(Error):
    """A kernel in Python that says something which cannot become C. ``place`` is its line."""


def caller() -> Place:
    """File and line of the program's call: the first frame outside of this package, and of what makes its blocks."""
    inside = (os.path.join(os.path.dirname(__file__), ""), contextlib.__file__)
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def make(word: str, message: str, place: Optional[Place] = None) -> Error:
    """An error that was found in Python, with the code that the library has for it."""
    return Error(codes["OP_ERR_" + word], "OP_ERR_" + word, message, place or caller())


def kernel_error(message: str, place: Place) -> KernelError:
    """The same for a kernel."""
    return KernelError(codes["OP_ERR_KERNEL"], "OP_ERR_KERNEL", message, place)
