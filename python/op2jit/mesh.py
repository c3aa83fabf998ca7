"""Sets, maps between sets, data on sets and constants, from NumPy arrays."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from ctypes import c_void_p
from functools import lru_cache, partial
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import errors, show
from ._library import ACCESS_NAMES, DTYPES, IDENTITY, READ, RW, UNSAID, WRITE, Values
from ._library import check, fail, handle, lib, text, type_of
from .given import Handle, array, whole
from .life import rank_count, state

#: Numbers of things that are compared in each call of a loop. None is given twice.
new_key = itertools.count(1).__next__


class Set(Handle):
    """A number of mesh elements of one kind. Under MPI ``size`` is what this rank declares."""

    def __init__(self, size: int, name: Optional[str] = None) -> None:
        self.name = name or "set"
        self.key = new_key()
        self.handle = handle(lib.op2jit_decl_set(whole(size, f"the size of set {self.name}", "SIZE"), text(self.name)))

    @classmethod
    def _of(cls, found: int, name: str) -> "Set":
        made = cls.__new__(cls)
        made.name, made.key, made.handle = name, new_key(), found
        return made

    @property
    def size(self) -> int:
        """How many elements this rank declared."""
        return _count(lib.op2jit_get_size(self.handle))

    @property
    def global_size(self) -> int:
        """How many elements all ranks declared."""
        return _count(lib.op2jit_get_global_size(self.handle))

    def subset(self, elements: Any, name: Optional[str] = None) -> "Set":
        """Some of its elements, for loops to run over: a slice, a mask of bools, or numbers, each once.

        With several ranks the elements of each rank's own part, counted from 0. Nothing is declared on a subset.
        """
        word = text(name or self.name + " subset")
        if isinstance(elements, slice):
            first, end, step = elements.indices(self.size)
            if step == 1:
                found = lib.op2jit_decl_subset_range(self.handle, first, max(0, end - first), word)
                return Set._of(handle(found), word.decode())
            elements = np.arange(first, end, step)
        numbers = np.asarray(elements)
        if numbers.dtype == bool:
            if numbers.shape != (self.size,):
                raise errors.make("SIZE", f"the mask has the shape {numbers.shape}; expected ({self.size},)")
            numbers = np.flatnonzero(numbers)
        if numbers.size and numbers.dtype.kind not in "iu":
            raise errors.make("TYPE", f"the elements of a subset have type {numbers.dtype}; expected whole numbers")
        if numbers.size and not -1 < numbers.min() <= numbers.max() < 2**31:
            raise errors.make("RANGE", f"a subset of {self.name} names elements outside of 0 .. {self.size - 1}")
        numbers = np.ascontiguousarray(numbers, np.int32)
        found = lib.op2jit_decl_subset(self.handle, numbers.size, numbers.ctypes.data or None, word)
        return Set._of(handle(found), word.decode())

    def free(self) -> None:
        """Free it now, on all ranks. It must have no maps, dats and subsets any more."""
        sweep()
        check(lib.op2jit_free_set(self.handle))
        self.handle = 0

    def __len__(self) -> int:
        return self.size

    @show.kept
    def __repr__(self) -> str:
        return f"<Set {self.name}: {self.global_size} elements>"

    @show.kept
    def _repr_html_(self) -> str:
        return show.table("Set", self.name, {"elements": self.global_size, "of this rank": self.size})


class Column:
    """What a map says of one target, ``map[0]``, or of all of them, ``map`` itself."""

    __slots__ = ("map", "idx")

    def __init__(self, of: "Map", idx: int) -> None:
        self.map = of
        self.idx = idx

    def __repr__(self) -> str:
        return f"{self.map.name}[{self.idx}]" if self.idx >= 0 else self.map.name


class _Columns(Dict[int, Column]):
    """The columns of a map by their numbers."""

    name: str

    def __missing__(self, idx: Any) -> Column:
        raise errors.make("INDEX", f"map {self.name} has the targets 0 .. {len(self) - 1}; there is no {idx}")


class Map(Handle):
    """For each element of ``source`` a row of ``arity`` elements of ``target``, from a table of whole numbers.

    ``map[0]`` is its first column. A loop that gets the map itself passes all targets to the kernel as a vector.
    """

    #: Of each map: it runs no line of Python, since loops ask for columns in each of their calls.
    __slots__ = ("__getitem__", "__dict__", "__weakref__")
    __getitem__: Callable[[int], Column]

    def __init__(self, source: Set, target: Set, table: Any, name: Optional[str] = None, arity: int = 0) -> None:
        values = np.asarray(table)
        if values.size == 0 and values.dtype.kind == "f":
            values = values.astype(np.int32)
        if values.dtype.kind not in "iu":
            raise errors.make("TYPE", f"the table of a map has values of type {values.dtype}; expected whole numbers")
        arity = whole(arity, "the arity of a map", "DIM")
        values = _rows(values, source, arity, "the table of a map")
        arity = arity or values.shape[1]
        if values.dtype != np.int32:
            values = np.ascontiguousarray(values, np.int64)
        call = lib.op2jit_decl_map if values.dtype == np.int32 else lib.op2jit_decl_map_long
        self.name = name or "map"
        found = call(source.handle, target.handle, arity, values.ctypes.data or None, text(self.name))
        self._set_up(source, target, arity, handle(found))
        self._table: Optional[Values] = values.copy()

    def _set_up(self, source: Set, target: Set, arity: int, found: int) -> None:
        self.source, self.target, self.arity, self.handle = source, target, arity, found
        columns = _Columns((idx, Column(self, idx)) for idx in range(arity))
        columns.name = self.name
        self.__getitem__ = columns.__getitem__
        self.all = Column(self, -arity)

    @classmethod
    def _of(cls, source: Set, target: Set, arity: int, found: int, name: str) -> "Map":
        made = cls.__new__(cls)
        made.name = name
        made._set_up(source, target, arity, found)
        made._table = None
        return made

    @property
    def table(self) -> Values:
        """A copy of its table, of this rank's elements. A map from a file does not have it."""
        if self._table is None:
            raise errors.make("ARGUMENT", f"map {self.name} is from a file: its table is not kept")
        return self._table.copy()

    def free(self) -> None:
        """Free it now, on all ranks. No loop may use it any more."""
        check(lib.op2jit_free_map(self.handle))
        self.handle = 0

    def __len__(self) -> int:
        return self.arity

    def __repr__(self) -> str:
        return f"<Map {self.name}: {self.arity} of {self.target.name} for each of {self.source.name}>"

    def _repr_html_(self) -> str:
        return show.table("Map", self.name, {"from": self.source.name, "to": self.target.name, "arity": self.arity})


class Arg(Handle):
    """One argument of a loop. Made by ``dat(READ, map[0])`` and its like."""

    __slots__ = ("owner", "column", "access", "present", "raw", "key", "kind", "refers")

    def __init__(self, kind: str, owner: Any, column: Optional[Column], access: int, raw: Any) -> None:
        self.kind = kind  # dat, global, index or info
        self.owner = owner
        self.column = column
        self.access = access
        self.raw = raw
        self.key = new_key()
        self.refers: Any = None
        self.present = True

    def __repr__(self) -> str:
        access = "access left out" if self.access == UNSAID else ACCESS_NAMES[self.access]
        return f"<argument {self.owner or self.kind} {self.column or ''} {access}>"


class Store:
    """The library's dat, freed with the last object that can reach it. An argument keeps it, and not the Dat."""

    __slots__ = ("handle", "generation", "set", "dim", "type", "name", "keys", "array", "__weakref__")

    def __init__(self, found: int, of: Set, dim: int, spelling: str, name: str) -> None:
        self.handle = found
        self.generation = state.generation
        self.set = of
        self.dim = dim
        self.type = spelling
        self.name = name
        self.keys: List[Any] = []  # of loops that were made for it
        self.array: Optional[Values] = None  # of a view

    def __repr__(self) -> str:
        return self.name

    def __del__(self) -> None:
        # Any thread may be here, at any time: the next call of the library frees it. Ranks collect garbage at
        # different times, so there everything stays until exit.
        if self.generation == state.generation and self.handle:
            state.garbage.append(self.handle)
            dropped.extend(self.keys)


#: Handles of dats that ``access`` is writing to: what loops did to them would be lost.
written: List[int] = []
state.at_exit.append(written.clear)
#: Loops whose dats are gone.
dropped: List[Any] = []


def sweep() -> None:
    """Free the dats that nobody has any more. Called before something new is declared."""
    while state.garbage and state.open and rank_count() == 1:
        found = state.garbage.pop()
        check(lib.op2jit_free_dat_temp(found))
        state.views.pop(found, None)


class Dat(Handle):
    """``dim`` values of one type on each element of a set, copied from an array of as many rows; None means zeros.

    The dat is freed when it is garbage; with several ranks at exit, or by ``free``. ``soa`` asks the library to keep
    components apart, which changes nothing else. With ``view`` the array stays yours: the library works in it where it
    can, ``access`` then copies nothing, and the array must not be touched outside of ``access``.

    ``dat(READ)``, ``dat(READ, map[0])``, and ``dat(READ, map)`` for all targets are arguments of loops. Without an
    access, what the kernel does decides. ``present=False``: the kernel must not use it.
    """

    #: Made once for each Dat: an argument that was asked for before is found without a line of Python.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Arg]

    def __init__(
        self,
        of: Set,
        data: Any = None,
        dim: int = 0,
        dtype: Any = None,
        name: Optional[str] = None,
        soa: bool = False,
        view: bool = False,
    ) -> None:
        sweep()
        dim = whole(dim, "the dim of a dat", "DIM")
        values = None if data is None else array(data, dtype, f"the data of dat {name or ''}".rstrip())
        spelling = type_of(dtype or np.float64) if values is None else type_of(values.dtype)
        if values is not None:
            values = _rows(values, of, dim, "the data of a dat")
            dim = values.shape[1]
        dim = dim or 1
        address = None if values is None else values.ctypes.data or None
        kind = text(spelling + (":soa" if soa else ""))
        if view:
            _own(data, values, soa)
            found = handle(lib.op2jit_decl_dat_view(of.handle, dim, kind, address, text(name or "dat")))
        else:
            found = handle(lib.op2jit_decl_dat_temp(of.handle, dim, kind, address, text(name or "dat")))
        self._set_up(Store(found, of, dim, spelling, name or "dat"))
        if view:
            self._store.array = state.views[found] = data

    def _set_up(self, store: Store) -> None:
        self._store = store
        self.__call__ = lru_cache(maxsize=None)(partial(_dat_argument, store))

    @classmethod
    def _of(cls, of: Set, dim: int, dtype: Any, found: int, name: str) -> "Dat":
        made = cls.__new__(cls)
        made._set_up(Store(found, of, dim, type_of(dtype), name))
        made._store.generation = -1  # not a temporary: it lives until exit
        return made

    @property
    def set(self) -> Set:
        """The set it lives on."""
        return self._store.set

    @property
    def dim(self) -> int:
        """Values of one element."""
        return self._store.dim

    @property
    def name(self) -> str:
        """Its name in messages and files."""
        return self._store.name

    @property
    def dtype(self) -> Any:
        """The type of its values, as NumPy has it."""
        return DTYPES[self._store.type]

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of the arrays that come out: one row for each element that this rank declared."""
        return (self.set.size,) if self.dim == 1 else (self.set.size, self.dim)

    @property
    def handle(self) -> int:
        """The library's handle."""
        return self._store.handle

    def fetch(self, out: Optional[Values] = None) -> Values:
        """A copy of the values, or into ``out``, in the order in which the program numbered the elements."""
        if out is None:
            out = np.empty(self.shape, self.dtype)
        _same(out, self, "out")
        check(lib.op2jit_fetch_data(self.handle, out.ctypes.data))
        return out

    def put(self, values: Any) -> None:
        """New values for all elements."""
        given = array(values, self.dtype, f"what is put into dat {self.name}")
        rows = np.ascontiguousarray(np.broadcast_to(given, self.shape))
        check(lib.op2jit_put_data(self.handle, rows.ctypes.data))

    @contextmanager
    def access(self, mode: str = "r") -> Iterator[Values]:
        """``with dat.access("r+") as a:`` gives an array; what was changed in it is in the dat after the block.

        "r" reads, "r+" reads and writes, "w" writes all of it and begins with anything. No loop may use the dat in a
        block that writes.
        """
        if mode not in ("r", "r+", "w"):
            raise errors.make("ARGUMENT", f'the mode of access is {mode!r}; expected "r", "r+" or "w"')
        if self._store.array is not None:
            yield from self._lent(self._store.array, mode)
            return
        rows = np.empty(self.shape, self.dtype) if mode == "w" else self.fetch()
        rows.flags.writeable = mode != "r"
        if mode == "r":
            yield rows
            return
        found = self.handle
        written.append(found)
        try:
            yield rows
        finally:
            if found in written:
                written.remove(found)
        check(lib.op2jit_put_data(self.handle, rows.ctypes.data))

    def _lent(self, mine: Values, mode: str) -> Iterator[Values]:
        if not lib.op2jit_acquire(self.handle, {"r": READ, "r+": RW, "w": WRITE}[mode]):
            fail()
        try:
            rows = mine.reshape(self.shape).view()
            rows.flags.writeable = mode != "r"
            yield rows
        finally:
            check(lib.op2jit_release(self.handle))

    def __array__(self, dtype: Any = None) -> Values:
        return self.fetch() if dtype is None else self.fetch().astype(dtype)

    def free(self) -> None:
        """Free it now, on all ranks. It must not be used any more."""
        found, self._store.handle = self._store.handle, 0
        self.__call__.cache_clear()  # type: ignore[attr-defined]
        dropped.extend(self._store.keys)
        check(lib.op2jit_free_dat_temp(found))
        state.views.pop(found, None)

    @show.kept
    def __repr__(self) -> str:
        return f"<Dat {self.name}: {self.dim} of {self.dtype} on each of {self.set.name}>"

    @show.kept
    def _repr_html_(self) -> str:
        facts: Dict[str, Any] = {"set": self.set.name, "dim": self.dim, "type": self.dtype.name}
        if rank_count() == 1 and self.set.size:
            values = self.fetch()
            facts.update({"least": values.min(), "largest": values.max()})
        return show.table("Dat", self.name, facts)


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
        if kept:
            address = self._data.ctypes.data
            self._kept = handle(lib.op2jit_decl_gbl(self.dim, text(self.type), address, text(self.name)))
        self.__call__ = lru_cache(maxsize=None)(partial(_global_argument, _Values(self), self._kept))

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
        self._data[:] = array(value, self._data.dtype, f"global {self.name}")
        if self._kept:
            check(lib.op2jit_put_gbl(self._kept, self._data.ctypes.data))

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    @show.kept
    def __repr__(self) -> str:
        return f"<Global {self.name}: {self.value}>"

    @show.kept
    def _repr_html_(self) -> str:
        return show.table("Global", self.name, {"value": self.value, "type": DTYPES[self.type].name})


class _Values:
    """What an argument keeps of a global: its memory, and not the Global, which keeps the argument."""

    __slots__ = ("memory", "dim", "type", "name", "set")

    def __init__(self, of: Global) -> None:
        self.memory, self.dim, self.type, self.name, self.set = of._data, of.dim, of.type, of.name, None

    def __repr__(self) -> str:
        return self.name


def _dat_argument(store: Store, *words: Any, present: bool = True) -> Arg:
    access, column = _words(words)
    idx = column.idx if column else -1
    way = c_void_p(column.map.handle) if column else IDENTITY
    raw = lib.op2jit_opt_arg_dat(present, store.handle, idx, way, store.dim, text(store.type), access)
    made = Arg("dat", store, column, access, raw)
    made.present = present
    return made


def _global_argument(values: _Values, kept: Optional[int], *words: Any, present: bool = True) -> Arg:
    access, column = _words(words)
    if column:
        raise errors.make("ARGUMENT", "a global belongs to no element; leave the map out")
    if kept:
        raw = lib.op2jit_arg_global(kept, access)
    else:
        raw = lib.op2jit_opt_arg_gbl(present, values.memory.ctypes.data, values.dim, text(values.type), access)
    made = Arg("global", values, None, access, raw)
    made.present = present
    return made


class Const(Handle):
    """A constant that kernels in C see under ``name``, and kernels in Python under the name of the variable it is in.

    It counts as its number in Python. ``update`` gives a new value; loops that use it are compiled for that value.
    """

    def __init__(self, name: str, value: Any, dtype: Any = None) -> None:
        given = _few(value, dtype, f"constant {name}")
        self.name = name
        self.type = type_of(given.dtype)
        self.scalar = given.ndim == 0
        self.data = np.ascontiguousarray(given).reshape(-1)
        self.seen: List[Callable[[Any], None]] = []  # of functions that run in Python with its value
        check(lib.op2jit_decl_const(text(name), self.data.size, text(self.type), self.data.ctypes.data))
        state.constants[name] = self

    @property
    def value(self) -> Any:
        """The value: a number, or an array."""
        return self.data[0].item() if self.scalar else self.data

    def update(self, value: Any) -> None:
        """A new value."""
        self.data[:] = array(value, self.data.dtype, f"constant {self.name}")
        check(lib.op2jit_update_const(text(self.name), self.data.ctypes.data))
        for tell in self.seen:
            tell(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]

    def __repr__(self) -> str:
        return f"<Const {self.name}: {self.value}>"

    def _repr_html_(self) -> str:
        return show.table("Const", self.name, {"value": self.value, "type": DTYPES[self.type].name})


def index(column: Union[Column, Map, None] = None) -> Arg:
    """The number of the loop's own element, or of a target of a map: ``const int *`` for the kernel."""
    column = column.all if isinstance(column, Map) else column
    raw = lib.op2jit_arg_idx(column.idx if column else -1, c_void_p(column.map.handle) if column else IDENTITY)
    return Arg("index", None, column, 0, raw)


def info(payload: Global, of: Global) -> Arg:
    """A payload that goes with the MIN or MAX of the global ``of``: that of the element whose value won."""
    made = Arg("info", _Values(payload), None, MAX_ACCESS, None)
    made.refers = of
    return made


MAX_ACCESS = ACCESS_NAMES.index("MAX")


def _count(found: int) -> int:
    if found < 0:
        fail()
    return int(found)


def _words(words: Tuple[Any, ...]) -> Tuple[int, Optional[Column]]:
    access, column = UNSAID, None
    for word in words:
        if isinstance(word, (Column, Map)):
            column = word.all if isinstance(word, Map) else word
        elif isinstance(word, int) and 0 <= word < len(ACCESS_NAMES):
            access = int(word)
        elif word is not None:
            raise errors.make("ARGUMENT", f"{word!r} is no access and no map; expected for example dat(READ, map[0])")
    return access, column


def _few(value: Any, dtype: Any, what: str) -> Values:
    """A copy of the values of a global or constant. Whole numbers are C's int if no type is said."""
    if dtype is None and np.asarray(value).dtype.kind == "i":
        dtype = np.int32
    return array(value, dtype, what).copy()


def _rows(values: Values, of: Set, dim: int, what: str) -> Values:
    """As size x dim values, contiguous."""
    size = of.size
    if values.ndim == 1 and dim > 1 and values.size == size * dim:
        values = values.reshape(size, dim)
    shape = values.shape
    columns = dim or (int(np.prod(shape[1:])) if values.ndim > 1 else 1)
    if values.ndim == 0 or shape[0] != size or values.size != size * columns:
        rows = f"({size},)" if columns == 1 else f"({size}, {columns})"
        raise errors.make("SIZE", f"{what} has the shape {shape}; expected {rows} on set {of.name}")
    return np.ascontiguousarray(values).reshape(size, columns)


def _own(data: Any, values: Optional[Values], soa: bool) -> None:
    """May the library work in it? It must be the very array that was given."""
    if not isinstance(data, np.ndarray) or values is None or not np.shares_memory(data, values):
        raise errors.make("ARGUMENT", "a view needs a NumPy array of the dat's own type, contiguous, which it stays in")
    if not data.flags.c_contiguous or not data.flags.writeable:
        raise errors.make("ARGUMENT", "the array of a view is not contiguous, or cannot be written")


def _same(array: Values, dat: Dat, what: str) -> None:
    if array.dtype != dat.dtype:
        raise errors.make("TYPE", f"{what} has values of type {array.dtype}; expected {dat.dtype} for dat {dat.name}")
    if array.size != int(np.prod(dat.shape)):
        raise errors.make("SIZE", f"{what} has the shape {array.shape}; expected {dat.shape} for dat {dat.name}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise errors.make(
            "ARGUMENT", f"{what} is not contiguous, or cannot be written; numpy.ascontiguousarray makes a copy"
        )
