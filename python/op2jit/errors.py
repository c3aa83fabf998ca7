"""Errors are exceptions that carry the library's code, its message and the place of the call."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Type

Place = Tuple[str, int]

#: The library's codes by their names. It is asked for them when it is open: only this one is needed before.
codes: Dict[str, int] = {"OP_ERR_FILE": 20}


class Error(Exception):
    """An error of the library.

    ``code`` is its number, ``name`` the stable name ("OP_ERR_MAP_RANGE"), ``message`` what happened, to what, what was
    expected and what to do, ``place`` the file and line of the call, or of the kernel; None where there is none.

    Each has one of the classes below. What is printed of one that nobody catches ends with the program's own line.
    """

    def __init__(self, code: int, name: str, message: str, place: Optional[Place] = None) -> None:
        super().__init__(code, name, message, place)
        self.code = code
        self.name = name
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"

    def _render_traceback_(self) -> List[str]:
        """The lines that a notebook shows."""
        return traceback.format_exception(type(self), self, outside(self.__traceback__, ("IPython", "ipykernel")))


class KernelError(Error):
    """A kernel that cannot become code, or does not fit its arguments. ``place`` is its line where it is one of Python."""


class ArgumentError(Error, ValueError):
    """A call was given a size, an index, an access or a map that cannot be."""


class DataTypeError(Error, TypeError):
    """Something has another type than is expected."""


class StateError(Error, RuntimeError):
    """This call cannot be made now."""


class CheckError(Error):
    """A kernel, a plan or a graph of tasks does not do what was said of it."""


class MissingError(Error):
    """This build lacks what was asked for, or it cannot run here."""


class FileError(Error):
    """A file cannot be read or written, or is not what it should be."""


class FailedError(Error, RuntimeError):
    """A device, the ranks, a solver or the memory failed."""


_CLASSES: Dict[Type[Error], str] = {
    KernelError: "KERNEL COMPILE",
    ArgumentError: "ARGUMENT SIZE DIM ACCESS MAP_RANGE MAP_SET INDEX RANGE ENV CONST ALIAS METHOD NARGS",
    DataTypeError: "HANDLE TYPE",
    StateError: "STATE BUSY",
    CheckError: "VIOLATION PLAN GRAPH",
    MissingError: "BACKEND NOT_BUILT CACHE_MISS",
    FileError: "FILE",
    FailedError: "MEMORY DEVICE MPI SOLVER INTERNAL",
}
#: The class of each code.
classes: Dict[str, Type[Error]] = {"OP_ERR_" + word: kind for kind, words in _CLASSES.items() for word in words.split()}
_INSIDE = (os.path.join(os.path.dirname(__file__), ""), contextlib.__file__)


def caller() -> Place:
    """File and line of the program's call: the first frame outside of this package, and of what makes its blocks."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def made(code: int, name: str, message: str, place: Optional[Place] = None) -> Error:
    """The error of a code, in its class."""
    return classes.get(name, Error)(code, name, message, place or caller())


def make(word: str, message: str, place: Optional[Place] = None) -> Error:
    """An error that was found in Python, with the code that the library has for it."""
    return made(codes["OP_ERR_" + word], "OP_ERR_" + word, message, place)


def kernel_error(message: str, place: Place) -> Error:
    """An error of a kernel that was found in Python."""
    return make("KERNEL", message, place)


def outside(trace: Optional[TracebackType], folders: Tuple[str, ...] = ()) -> Optional[TracebackType]:
    """A traceback without the frames of this package, and of packages of these names."""
    if trace is None:
        return None
    rest, file = outside(trace.tb_next, folders), trace.tb_frame.f_code.co_filename
    if file.startswith(_INSIDE) or any(os.sep + folder + os.sep in file for folder in folders):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _shown(
    kind: Type[BaseException], problem: BaseException, trace: Optional[TracebackType], before: Any = sys.excepthook
) -> None:
    """Print an exception that ends the program. ``python3 -X dev`` shows all frames."""
    if isinstance(problem, Error) and not sys.flags.dev_mode:
        trace = outside(trace)
        one: Optional[BaseException] = problem
        while one is not None:  # with what it came from
            one.__traceback__ = outside(one.__traceback__)
            one = one.__cause__
    before(kind, problem, trace)


sys.excepthook = _shown
