"""Kernels: functions of Python, and texts and files of C."""

from __future__ import annotations

import ctypes
import math
import re
import types
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple, Union

from . import errors
from ._library import READ, DTYPES, check, lib, raised, text
from .mesh import new_key
from .life import state


class Parameter(NamedTuple):
    """A kernel's parameter: ``dim`` values, or ``rows`` pointers to as many, or a matrix of so many rows.

    Through a ragged map the number of rows is known for each element only; the first argument of each such map brings it.
    """

    type: str
    dim: int
    rows: int
    access: int
    whole_global: bool = False  # a global of whole numbers: what it gets is not cut
    matrix: bool = False
    ragged: int = 0  # through such a map: the number of its first argument, from 1


#: Kernels of texts that were given to loops.
_texts: Dict[str, "Kernel"] = {}
#: The attribute in which a function keeps the kernel that was made of it.
_OWN = "op2jit kernel"


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
            return _texts.setdefault(what, Kernel(what))
        if not isinstance(what, types.FunctionType):
            return kernel(what)
        # A function keeps its kernel: a loop that is called again finds what was made.
        made = what.__dict__.get(_OWN)
        if made is None or made.function is not what:
            made = what.__dict__[_OWN] = kernel(what)
        return made

    @property
    def source(self) -> str:
        """The C text."""
        return self._source

    def form(self, parameters: Sequence[Parameter]) -> Form:
        """The kernel's form, which loops need."""
        return Form(self.name, self._source, self._source)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.source)}</pre>"


class PythonKernel(Kernel):
    """A function of Python that becomes C at the first loop that uses it, when the types of its arguments are known.

    Its text is read here, so that a file which is edited later changes nothing.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        from .translate.source import snapshot

        self.key = new_key()
        self.name = function.__name__
        self.function = function
        self.__doc__ = function.__doc__
        self._files = snapshot(function)
        self._forms: Dict[Tuple[Any, ...], Form] = {}

    @property
    def source(self) -> str:
        """The C text that the last new loop got."""
        if not self._forms:
            return f"/* {self.name} becomes C at its first loop: the types come from the arguments. */"
        return list(self._forms.values())[-1].source

    def form(self, parameters: Sequence[Parameter]) -> Form:
        """The kernel's form, made once for each list of types."""
        key = (*parameters, state.strict, state.native, *state.constants)
        if key not in self._forms:
            from .translate import translate
            from .translate.body import c_name

            made = translate(self.function, parameters, self._files)
            self._forms[key] = Form(c_name(self.name), made.words, made.source, made.run, parameters)
        return self._forms[key]

    def __call__(self, *args: Any) -> Any:
        """The function itself, for other kernels, for tests and for debuggers."""
        return self.function(*args)


def kernel(function: Callable[..., Any]) -> PythonKernel:
    """``@op2jit.kernel``: the function becomes a kernel."""
    if not isinstance(function, types.FunctionType):
        word = getattr(function, "__name__", None) or repr(function)
        raise errors.make("ARGUMENT", f"{word} is no kernel: write a function with def, and @op2jit.kernel before it")
    return PythonKernel(function)


def _first_function(source: str) -> str:
    found = re.search(r"\bvoid\s+(\w+)\s*\(", source)
    if not found:
        raise errors.make("KERNEL", "there is no function of type void in the kernel's text; say the kernel's name")
    return found.group(1)


def _callback(run: Callable[..., Any], parameters: Sequence[Parameter]) -> Any:
    """The function as C calls it, with the rows as arrays; what is only read cannot be written."""
    views = [_view(parameter) for parameter in parameters]
    bring = [parameter.ragged == number for number, parameter in enumerate(parameters, 1)]  # a number of rows before it

    def call(*addresses: Any) -> None:
        if raised:
            return
        try:
            given = iter(addresses)
            rows = []
            for view, counted in zip(views, bring):
                if counted:
                    next(given)
                address = next(given)
                rows.append(view(address) if address else None)
            run(*rows)
        except BaseException as problem:  # C cannot carry it: the loop raises it when it is over
            raised.append(problem)

    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(parameters) + sum(bring)))(call)


def _view(parameter: Parameter) -> Callable[[int], Any]:
    from .translate.cells import FORMATS, Cells, Records, Rows

    dtype = DTYPES[parameter.type]
    form = FORMATS.get(dtype.name, "")
    shape = (parameter.rows, parameter.dim) if parameter.matrix else (parameter.dim,)
    memory = ctypes.c_char * (dtype.itemsize * math.prod(shape))

    def row(address: int) -> Cells:
        found = memoryview(memory.from_address(address)).cast("B")
        found = found.toreadonly() if parameter.access == READ else found
        return Cells(found.cast(form), shape, 0, form) if form else Records(found, shape, dtype)

    def rows(address: int) -> Rows:
        pointers = (ctypes.c_void_p * parameter.rows).from_address(address)
        return Rows([row(pointer or 0) for pointer in pointers])

    def ragged(address: int) -> Rows:
        base, targets, step, count = (ctypes.c_ssize_t * 4).from_address(address)  # the words of OP_ROW
        count = count if count >= 0 else -1 - count
        numbers: Any = (ctypes.c_int * count).from_address(targets) if step >= 0 and count else range(count)
        return Rows([row(base + abs(step) * dtype.itemsize * number) for number in numbers], (0, parameter.dim))

    if parameter.ragged:
        return ragged
    return rows if parameter.rows and not parameter.matrix else row
