"""Kernels: functions of Python, and texts and files of C."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import errors
from ._library import READ, Values, DTYPES, check, lib, raised, text
from .mesh import new_key
from .life import state


class Parameter(NamedTuple):
    """What a kernel gets for one argument: ``dim`` values, or ``rows`` pointers to as many, or a matrix of so many rows."""

    type: str
    dim: int
    rows: int
    access: int
    matrix: bool = False


class Form:
    """A kernel for arguments of certain types: its C text and, of a function of Python, what runs that."""

    def __init__(
        self, name: str, words: str, source: str, run: Any = None, parameters: Sequence[Parameter] = ()
    ) -> None:
        self.name = name
        self.text = text(words)
        self.source = source
        self._run = run
        self._parameters = parameters
        self._generation = 0

    def register(self) -> None:
        """Tell the library's native backend of the function."""
        if self._run is None or self._generation == state.generation:
            return
        self._generation = state.generation
        call = _callback(self._run, self._parameters)
        state.natives.append(call)
        if not lib.op2jit_kernel_native(self.text, ctypes.cast(call, ctypes.c_void_p)):
            check(lib.op2jit_last_error().contents.code)


class Kernel:
    """A kernel: ``Kernel("void twice(double *x) { *x *= 2; }", "twice")``, the first function if no name is said.

    ``@op2jit.kernel`` makes one of a function of Python, ``Kernel.file`` takes a file. ``native`` is a function of
    ctypes for the native backend.
    """

    def __init__(self, source: str, name: Optional[str] = None, native: Any = None) -> None:
        self.key = new_key()
        self.name = name or _first_function(source)
        self._source = source
        self._native = native

    @classmethod
    def file(cls, path: Union[str, Path], name: Optional[str] = None) -> "Kernel":
        """The text of a file; messages name its lines."""
        try:
            words = Path(path).read_text(encoding="utf-8")
        except OSError as problem:
            raise errors.make("FILE", f"the kernel's file {path} cannot be read: {problem.strerror}") from problem
        return cls(f'#line 1 "{path}"\n{words}', name or _first_function(words))

    @staticmethod
    def of(what: Any) -> "Kernel":
        """A kernel of a function or a text."""
        if isinstance(what, Kernel):
            return what
        if isinstance(what, str):
            return Kernel(what)
        return PythonKernel(what)

    @property
    def source(self) -> str:
        """The C text."""
        return self._source

    def form(self, parameters: Sequence[Parameter]) -> Form:
        """What loops need of it."""
        return Form(self.name, self._source, self._source)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.source)}</pre>"


class PythonKernel(Kernel):
    """A function of Python that becomes C at the first loop that uses it, when the types of its arguments are known."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.key = new_key()
        self.name = function.__name__
        self.function = function
        self.__doc__ = function.__doc__
        self._forms: Dict[Tuple[Parameter, ...], Form] = {}

    @property
    def source(self) -> str:
        """The C text that the last new loop got."""
        if not self._forms:
            return f"/* {self.name} becomes C at its first loop: the types come from the arguments. */"
        return list(self._forms.values())[-1].source

    def form(self, parameters: Sequence[Parameter]) -> Form:
        """What loops need of it, made once for each list of types."""
        key = tuple(parameters)
        if key not in self._forms:
            from .translate import translate
            from .translate.body import c_name

            words, source, run = translate(self.function, parameters)
            self._forms[key] = Form(c_name(self.name), words, source, run, parameters)
        return self._forms[key]

    def __call__(self, *args: Any) -> Any:
        """The function itself, for other kernels, for tests and for debuggers."""
        return self.function(*args)


def kernel(function: Callable[..., Any]) -> PythonKernel:
    """``@op2jit.kernel``: the function becomes a kernel."""
    return PythonKernel(function)


def _first_function(source: str) -> str:
    found = re.search(r"\bvoid\s+(\w+)\s*\(", source)
    if not found:
        raise errors.make("KERNEL", "there is no function of type void in the kernel's text; say the kernel's name")
    return found.group(1)


class Vector(List[Values]):
    """The rows that a kernel gets through all columns of a map: ``x[i][k]`` and ``x[i, k]``."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return list.__getitem__(self, index[0])[index[1]]
        return list.__getitem__(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        list.__getitem__(self, index[0])[index[1]] = value


def _callback(run: Callable[..., Any], parameters: Sequence[Parameter]) -> Any:
    """The function as C calls it, with the rows as arrays; what is only read cannot be written."""
    views = [_view(parameter) for parameter in parameters]

    def call(*addresses: Any) -> None:
        if raised:
            return
        try:
            run(*[view(address) if address else None for view, address in zip(views, addresses)])
        except BaseException as problem:  # C cannot carry it: the loop raises it when it is over
            raised.append(problem)

    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(parameters))(call)


def _view(parameter: Parameter) -> Callable[[int], Any]:
    dtype = DTYPES[parameter.type]
    count = parameter.dim * (parameter.rows if parameter.matrix else 1)
    memory = ctypes.c_char * (dtype.itemsize * count)

    def row(address: int) -> Values:
        found = np.frombuffer(memoryview(memory.from_address(address)), dtype)
        found.flags.writeable = parameter.access != READ
        return found

    def rows(address: int) -> Vector:
        pointers = (ctypes.c_void_p * parameter.rows).from_address(address)
        return Vector(row(pointer or 0) for pointer in pointers)

    def table(address: int) -> Values:
        return row(address).reshape(parameter.rows, parameter.dim)

    return table if parameter.matrix else rows if parameter.rows else row
