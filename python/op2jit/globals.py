"""Numbers that belong to no element: globals and constants."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Callable, Dict, List, Optional, Set

import numpy as np

from . import errors, show
from ._library import DTYPES, MAX, Values
from ._library import check, handle, lib, text, type_of
from .given import Handle, array
from .life import state
from .mesh import Arg, argument_words
from .store import dropped


class Global(Handle):
    """Values that belong to no element, in an array of their own: loops read them and leave results there.

    With ``kept`` the library keeps the values, so that loops which leave results there can wait for one another
    (OP2_LAZY); reading ``value`` ends the wait.

    ``g(INC)`` is an argument of loops. Without an access, what the kernel does decides.
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Arg]

    def __init__(self, value: Any = 0.0, dtype: Any = None, name: Optional[str] = None, kept: bool = False) -> None:
        self.name = name or "global"
        given = _few(value, dtype, f"global {self.name}")
        self.type = type_of(given.dtype)
        self.scalar = given.ndim == 0
        self.dim = max(1, given.size)
        self.set = None
        self._data = np.ascontiguousarray(given).reshape(-1)
        self._kept: Optional[int] = None
        self._companions: Dict[str, Global] = {}
        if kept:
            address = self._data.ctypes.data
            self._kept = handle(lib.op2jit_decl_gbl(self.dim, text(self.type), address, text(self.name)))
        self.__call__ = lru_cache(maxsize=None)(partial(_global_argument, _Values(self), self._kept))

    @property
    def kept_handle(self) -> int:
        """The library's handle of a global that it keeps."""
        if not self._kept:
            raise errors.make("ARGUMENT", f"global {self.name} is not kept by the library: make it with kept=True")
        return self._kept

    @property
    def bar(self) -> "Global":
        """The bar: how much each value counts for the outputs of a tape."""
        return _companion(self, self._data, "bar", lib.op2jit_bar_gbl(self.kept_handle))

    @property
    def dot(self) -> "Global":
        """The dot: how much each value moves, where loops carry tangents along."""
        return _companion(self, self._data, "dot", lib.op2jit_dot_gbl(self.kept_handle))

    @property
    def data(self) -> Values:
        """The values as an array of ``dim``. Of a global that the library keeps, a copy."""
        if self._kept:
            check(lib.op2jit_get_gbl(self._kept, self._data.ctypes.data))
        return self._data

    @property
    def value(self) -> Any:
        """The value: a number if it is one, else a copy of the array."""
        return self.data[0].item() if self.scalar else self.data.copy()

    @value.setter
    def value(self, value: Any) -> None:
        self._data[:] = _fitting(value, self._data, self.scalar, f"global {self.name}")
        if self._kept:
            check(lib.op2jit_put_gbl(self._kept, self._data.ctypes.data))

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        if not self.scalar:
            raise errors.make("ARGUMENT", f"global {self.name} has {self.dim} values, and so is neither true nor false")
        return bool(self.value)

    @show.kept
    def __repr__(self) -> str:
        return f"<Global {self.name}: {self.value}>"

    @show.kept
    def _repr_html_(self) -> str:
        return show.table("Global", self.name, {"value": self.value, "type": DTYPES[self.type].name})


class _Values:
    """The part of a global that an argument keeps: its memory, and not the Global, which keeps the argument."""

    __slots__ = ("memory", "dim", "type", "name", "set", "keys")

    def __init__(self, of: Global) -> None:
        self.memory, self.dim, self.type, self.name, self.set = of._data, of.dim, of.type, of.name, None
        self.keys: Set[Any] = set()  # of loops that were made for it

    def __del__(self) -> None:
        dropped.extend(self.keys)

    def __repr__(self) -> str:
        return self.name


def _global_argument(values: _Values, kept: Optional[int], *words: Any, present: bool = True) -> Arg:
    access, column = argument_words(words)
    if column:
        raise errors.make("ARGUMENT", "a global belongs to no element; leave the map out")
    if kept:
        raw = lib.op2jit_arg_global(kept, access)
    else:
        raw = lib.op2jit_opt_arg_gbl(present, values.memory.ctypes.data, values.dim, text(values.type), access)
    made = Arg("global", values, None, access, raw)
    made.present = present
    return made


def _companion(of: Any, data: Values, what: str, given: Optional[int]) -> Global:
    """The bar or dot of a global or a constant, which the library keeps."""
    found = handle(given)
    if what not in of._companions:
        made = Global(np.zeros_like(data), name=f"{what} of {of.name}")
        made.scalar = of.scalar
        made._kept = found
        made.__call__ = lru_cache(maxsize=None)(partial(_global_argument, _Values(made), found))
        of._companions[what] = made
    return of._companions[what]  # type: ignore[no-any-return]


class Const(Handle):
    """A constant that kernels in C see under ``name``, and kernels in Python under the name of the variable it is in.

    It counts as its number in Python. ``update`` gives a new value; loops that use it are compiled for that value. From
    the fourth new value on it is passed to them, and nothing is compiled.
    """

    def __init__(self, name: str, value: Any, dtype: Any = None) -> None:
        given = _few(value, dtype, f"constant {name}")
        self.name = name
        self.type = type_of(given.dtype)
        self.scalar = given.ndim == 0
        self.data = np.ascontiguousarray(given).reshape(-1)
        self.seen: List[Callable[[Any], None]] = []  # of functions that run in Python with its value
        self._companions: Dict[str, Global] = {}
        there = state.constants.get(name)
        if there is not None and (there.type != self.type or not np.array_equal(there.data, self.data)):
            raise errors.make("STATE", f"a constant {name} is there already; update(...) gives it another value")
        check(lib.op2jit_decl_const(text(name), self.data.size, text(self.type), self.data.ctypes.data))
        state.constants[name] = self

    @property
    def value(self) -> Any:
        """The value: a number, or an array."""
        return self.data[0].item() if self.scalar else self.data

    def update(self, value: Any) -> None:
        """A new value."""
        self.data[:] = _fitting(value, self.data, self.scalar, f"constant {self.name}")
        check(lib.op2jit_update_const(text(self.name), self.data.ctypes.data))
        for tell in self.seen:
            tell(self.value)

    @property
    def bar(self) -> Global:
        """The bar: how much each value counts for the outputs of a tape of which it is an input."""
        return _companion(self, self.data, "bar", lib.op2jit_bar_const(text(self.name)))

    @property
    def dot(self) -> Global:
        """The dot: how much each value moves, where loops carry tangents along."""
        return _companion(self, self.data, "dot", lib.op2jit_dot_const(text(self.name)))

    def __float__(self) -> float:
        return float(self.value)

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]

    def __repr__(self) -> str:
        return f"<Const {self.name}: {self.value}>"

    def _repr_html_(self) -> str:
        return show.table("Const", self.name, {"value": self.value, "type": DTYPES[self.type].name})


def info(payload: Global, of: Global) -> Arg:
    """A payload that goes with the MIN or MAX of the global ``of``: that of the element whose value won."""
    made = Arg("info", _Values(payload), None, MAX, None)
    made.refers = of
    return made


def _fitting(value: Any, old: Values, scalar: bool, what: str) -> Values:
    """New values for as many old ones, or one number for all."""
    given = array(value, old.dtype, what)
    if given.ndim and given.shape != old.shape:
        shape = () if scalar else old.shape
        raise errors.make("SIZE", f"{what} gets values of the shape {given.shape}; expected {shape}, or one number for all")
    return given


def _few(value: Any, dtype: Any, what: str) -> Values:
    """A copy of the values of a global or constant. Whole numbers are C's int if no type is said."""
    if dtype is None and np.asarray(value).dtype.kind == "i":
        dtype = np.int32
    return array(value, dtype, what).copy()
