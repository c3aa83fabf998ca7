"""Sets, maps between sets, and what arguments of loops have in common."""

from __future__ import annotations

import itertools
from ctypes import c_void_p
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

from .. import errors, show
from .._library import ACCESS_NAMES, DECLARED, IDENTITY, UNSAID, Values
from .._library import check, fail, handle, lib, text
from ..given import Handle, whole
from ..life import rank_count, state
from ..store import sweep

#: The column of a ragged map: all targets, as many as there are.
_ALL: int = DECLARED["numbers"]["OP_ALL"]
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
        """The number of elements that this rank declared."""
        return _count(lib.op2jit_get_size(self.handle))

    @property
    def global_size(self) -> int:
        """The number of elements that all ranks declared."""
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
        """Free it now, on all ranks. Its maps, dats and subsets are freed first."""
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
    """One column of a map, ``map[0]``, or all of them, ``map`` itself."""

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
        last = len(self) - 1
        if last < 0:
            words = f"map {self.name} is ragged, so that not each element has a target {idx}: pass dat(READ, {self.name})"
            raise errors.make("INDEX", words + ", for all of them")
        raise errors.make(
            "INDEX", f"map {self.name} has the targets 0 .. {last}; there is no {idx}: write {self.name}[0]"
            + (f" to {self.name}[{last}]" if last else "")
        )


class Map(Handle):
    """For each element of ``source`` a row of ``arity`` elements of ``target``, from a table of whole numbers.

    ``map[0]`` is its first column. A loop that gets the map itself passes all targets to the kernel as a vector.
    """

    #: Each map has a function of its own that runs no line of Python: loops ask for columns in each of their calls.
    __slots__ = ("__getitem__", "__dict__", "__weakref__")
    __getitem__: Callable[[int], Column]

    def __init__(self, source: Set, target: Set, table: Any, name: Optional[str] = None, arity: int = 0) -> None:
        values = np.asarray(table)
        if values.size == 0 and values.dtype.kind == "f":
            values = values.astype(np.int32)
        if values.dtype.kind not in "iu":
            raise errors.make("TYPE", f"the table of a map has values of type {values.dtype}; expected whole numbers")
        arity = whole(arity, "the arity of a map", "DIM")
        if values.size == 0 and values.ndim < 2 and not arity:
            raise errors.make("SIZE", f"the table of map {name or ''} is empty here: say Map(..., arity=...)")
        values = rows_of(values, source, arity, "the table of a map")
        arity = arity or values.shape[1]
        if values.dtype != np.int32 or rank_count() > 1:  # all ranks make the same call, whatever their tables are
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
        self.all = Column(self, -arity or _ALL)
        self.offsets: Optional[Values] = None
        self._entries: Optional[Set] = None

    @classmethod
    def _of(cls, source: Set, target: Set, arity: int, found: int, name: str) -> "Map":
        made = cls.__new__(cls)
        made.name = name
        made._set_up(source, target, arity, found)
        made._table = None
        return made

    @classmethod
    def ragged(cls, source: Set, target: Set, targets: Any, offsets: Any = None, name: Optional[str] = None) -> "Map":
        """For each element as many targets as it has: ``Map.ragged(nodes, nodes, [[1, 2], [0], []])``.

        With ``offsets``, such as ``indptr`` of SciPy's matrices, ``targets`` has all rows one after the other, and row e
        goes from ``offsets[e]`` to the one before ``offsets[e + 1]``. A loop passes ``dat(READ, map)``; in the kernel
        ``len(x)`` is how many rows ``x[k]`` there are. ``entries`` is a set with an element for each target.
        """
        word, what, size = name or "map", f"map {name}" if name else "the map", source.size
        if offsets is None:
            rows = _rows(targets, what)
            if len(rows) != size:
                words = f"expected one for each of the {size} elements of set {source.name}, [] where it has no target"
                raise errors.make("SIZE", f"{what} has {len(rows)} rows; {words}")
            offsets, targets = np.cumsum([0, *[row.size for row in rows]]), np.concatenate([np.zeros(0, np.int64), *rows])
        begins, flat = _numbers(offsets, f"the offsets of {what}"), _numbers(targets, f"the targets of {what}")
        if begins.size != size + 1 or begins[0] != 0 or begins[-1] != flat.size:
            raise errors.make(
                "ARGUMENT",
                f"the offsets of {what} are {size + 1} numbers from 0 up to the {flat.size} targets, each at least the "
                f"one before; here are {begins.size}" + (f", {begins[0]} to {begins[-1]}" if begins.size else ""),
            )
        for place in np.flatnonzero(np.diff(begins) < 0)[:1]:
            words = f"offset {place + 1} is {begins[place + 1]}, and the one before is {begins[place]}"
            raise errors.make("ARGUMENT", f"the offsets of {what} go back: {words}")
        for place in np.flatnonzero((flat < 0) | (flat >= 2**31))[:1]:
            element = int(np.searchsorted(begins, place, "right")) - 1
            words = f"target {place - begins[element]} of element {element} of set {source.name} is {flat[place]}"
            raise errors.make("MAP_RANGE", f"{what}: {words}; elements of set {target.name} count from 0")
        flat = flat.astype(np.int32)
        places = begins.ctypes.data, flat.ctypes.data or None
        found = lib.op2jit_decl_map_ragged(source.handle, target.handle, *places, text(word))
        made = cls._of(source, target, 0, handle(found), word)
        made.offsets, made._table = begins.copy(), flat.copy()
        return made

    @property
    def entries(self) -> Set:
        """The set of the entries of a ragged map: an element for each target, for dats on them."""
        if self._entries is None:
            self._entries = Set._of(handle(lib.op2jit_map_entries(self.handle)), f"{self.name} entries")
        return self._entries

    @property
    def table(self) -> Values:
        """A copy of its table, of this rank's elements; of a ragged map all rows, one after the other.

        A map from a file does not have it.
        """
        if self._table is None:
            raise errors.make("ARGUMENT", f"map {self.name} is from a file: its table is not kept")
        return self._table.copy()

    def free(self) -> None:
        """Free it now, on all ranks. No loop may use it any more."""
        sweep()
        check(lib.op2jit_free_map(self.handle))
        self.handle = 0

    def __len__(self) -> int:
        return self.arity

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        count = self.arity or "any number"
        return f"<Map {self.name}: {count} of {self.target.name} for each of {self.source.name}>"

    def _repr_html_(self) -> str:
        return show.table("Map", self.name, {"from": self.source.name, "to": self.target.name, "arity": self.arity or "ragged"})


class Arg(Handle):
    """One argument of a loop. Made by ``dat(READ, map[0])`` and its like."""

    __slots__ = ("owner", "column", "access", "present", "raw", "key", "kind", "refers", "known")

    def __init__(self, kind: str, owner: Any, column: Any, access: int, raw: Any) -> None:
        self.kind = kind  # dat, global, index, info or matrix
        self.owner = owner
        self.column = column  # a Column, or None; of a matrix a pair of maps
        self.access = access
        self.raw = raw
        self.key = new_key()
        self.refers: Any = None
        self.present = True
        self.known: Optional[Arg] = None

    def may_meet(self) -> Arg:
        """This argument, for a loop whose elements may meet in what they write: their order does not matter."""
        if not self.known:
            made = Arg(self.kind, self.owner, self.column, self.access, lib.op2jit_arg_may_meet(self.raw))
            made.present, made.refers, made.known = self.present, self.refers, made
            self.known = made
        return self.known

    def __repr__(self) -> str:
        access = "access left out" if self.access == UNSAID else ACCESS_NAMES[self.access]
        return f"<argument {self.owner or self.kind} {self.column or ''} {access}>"


def index(column: Union[Column, Map, None] = None) -> Arg:
    """The number of the loop's own element, or of a target of a map: ``const int *`` for the kernel."""
    column = column.all if isinstance(column, Map) else column
    key = (state.generation, id(column))
    if key not in _indices:
        raw = lib.op2jit_arg_idx(column.idx if column else -1, c_void_p(column.map.handle) if column else IDENTITY)
        _indices[key] = column, Arg("index", None, column, 0, raw)
    return _indices[key][1]


#: Arguments that are numbers of elements, each made once: a loop that was called before is found by them.
_indices: Dict[Tuple[int, int], Tuple[Optional[Column], Arg]] = {}
state.at_exit.append(_indices.clear)


def _rows(targets: Any, what: str) -> List[Values]:
    """The rows of a ragged map, one for each element."""
    try:
        rows = list(targets)
    except TypeError:
        raise errors.make("TYPE", f"{what} has no rows but {targets!r}; expected a list with a row for each element") from None
    if rows and isinstance(rows[0], (int, np.integer)):
        raise errors.make("TYPE", f"{what} has numbers in place of rows: give a list of rows, or offsets as well")
    return [_numbers(row, f"the targets of element {element} of {what}") for element, row in enumerate(rows)]


def _numbers(values: Any, what: str) -> Values:
    """A row of whole numbers."""
    try:
        found = np.asarray(values)
    except ValueError:  # rows of different lengths
        found = np.zeros((0, 0))
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise errors.make("TYPE", f"{what} are no row of whole numbers")
    return np.ascontiguousarray(found, np.int64)


def _count(found: int) -> int:
    if found < 0:
        fail()
    return int(found)


def argument_words(words: Tuple[Any, ...]) -> Tuple[int, Optional[Column]]:
    """The access and the column that an argument was asked for with, in any order; both may be left out."""
    access, column = UNSAID, None
    for word in words:
        if isinstance(word, (Column, Map)):
            column = word.all if isinstance(word, Map) else word
        elif isinstance(word, int) and 0 <= word < len(ACCESS_NAMES) and access == UNSAID:
            access = int(word)
        elif word is not None:
            raise errors.make("ARGUMENT", f"{word!r} is no access and no map; expected for example dat(READ, map[0])")
    return access, column


def rows_of(values: Values, of: Set, dim: int, what: str) -> Values:
    """The values as size x dim, contiguous."""
    size = of.size
    if values.ndim == 1 and dim > 1 and values.size == size * dim:
        values = values.reshape(size, dim)
    shape = values.shape
    columns = dim or (int(np.prod(shape[1:])) if values.ndim > 1 else 1)
    if values.ndim == 0 or shape[0] != size or values.size != size * columns:
        rows = f"({size},)" if columns == 1 else f"({size}, {columns})"
        raise errors.make("SIZE", f"{what} has the shape {shape}; expected {rows} on set {of.name}")
    return np.ascontiguousarray(values).reshape(size, columns)
