"""PyOP2's way of saying things, on this library: ``from op2jit import pyop2 as op2``.

Sets, maps, dats, globals, kernels in C and ``par_loop(kernel, set, dat(READ, map))`` as PyOP2 documents them. Through a
map of arity n a kernel gets the rows of all targets packed, ``double x[n * dim]``; ``map[i]`` passes one row.
Parameters of what is only read need no const. Matrices are assembled by loops and handed to PETSc; boundary rows are
fixed before the loops, by ``mat.fix``, and not in a matrix that is assembled.
"""

from __future__ import annotations

import re
import weakref
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import dats, errors, globals, kernels, life, loops, matrices, mesh
from ._library import Values, INC, MAX, MIN, READ, RW, UNSAID, WRITE

__all__ = [
    "DataSet", "Dat", "Global", "INC", "Kernel", "MAX", "MIN", "Map", "Mat", "READ", "RW", "Set", "Sparsity", "WRITE", "exit", "init",
    "par_loop",
]  # fmt: skip


def init(comm: Any = None, log_level: Any = None, **options: Any) -> None:
    """Start the library, once; PyOP2's options that it does not know are left out."""
    del log_level
    if not life.state.open:
        known = ("backend", "threads", "cache", "tune", "fp", "check", "log")
        life.init(comm, **{name: value for name, value in options.items() if name in known})


def exit() -> None:
    """End it."""
    if life.state.open:
        life.exit()


class Set(mesh.Set):
    """``Set(size, name)``; of a tuple (core, owned, ...) of sizes the second counts. ``set ** dim`` is a DataSet."""

    def __init__(self, size: Union[int, Sequence[int]], name: Optional[str] = None, comm: Any = None) -> None:
        init(comm)
        sizes = [size] if isinstance(size, int) else list(size)
        super().__init__(int(sizes[min(1, len(sizes) - 1)]), name)

    def __pow__(self, dim: Union[int, Tuple[int, ...]]) -> "DataSet":
        return DataSet(self, dim)

    @property
    def sizes(self) -> Tuple[int, int, int]:
        """All its elements are the rank's own."""
        return self.size, self.size, self.size


class DataSet:
    """A set and how many values an element has."""

    def __init__(self, of: Set, dim: Union[int, Tuple[int, ...]] = 1, name: Optional[str] = None) -> None:
        self.set = of
        self.dim = (dim,) if isinstance(dim, int) else tuple(dim)
        self.cdim = int(np.prod(self.dim))
        self.name = name or of.name


class Map(mesh.Map):
    """``Map(iterset, toset, arity, values, name)``."""

    def __init__(self, iterset: Set, toset: Set, arity: int, values: Any = None, name: Optional[str] = None) -> None:
        table = np.zeros((iterset.size, arity), np.int32) if values is None else np.asarray(values)
        super().__init__(iterset, toset, table, name, arity)
        self.iterset, self.toset = iterset, toset

    @property
    def values(self) -> Values:
        """A copy of its table."""
        return self.table


class _Argument:
    """What a loop of PyOP2 gets."""

    def __init__(self, arg: mesh.Arg, packed: int = 0) -> None:
        self.arg, self.packed = arg, packed


class Dat:
    """``Dat(set ** dim, data, dtype, name)``. ``data`` is an array to change, ``data_ro`` one to look at."""

    def __init__(
        self, dataset: Union[DataSet, Set, "Dat"], data: Any = None, dtype: Any = None, name: Optional[str] = None
    ) -> None:
        if isinstance(dataset, Dat):
            data, dtype = dataset.data_ro, dataset.dtype
            dataset = dataset.dataset
        self.dataset: DataSet = dataset if isinstance(dataset, DataSet) else DataSet(dataset)
        if data is not None:
            data = np.asarray(data, dtype).reshape(self.dataset.set.size, self.dataset.cdim)
        self._dat = dats.Dat(self.dataset.set, data, self.dataset.cdim, dtype, name)
        self._view: Optional[Values] = None
        self._args: Dict[Any, _Argument] = {}
        _seen[self._dat._store.handle] = self

    @property
    def dtype(self) -> Any:
        """The type of its values."""
        return self._dat.dtype

    @property
    def name(self) -> str:
        """Its name."""
        return self._dat.name

    @property
    def cdim(self) -> int:
        """Values of an element."""
        return self.dataset.cdim

    @property
    def data_ro(self) -> Values:
        """The values, which cannot be changed in this array."""
        self._give_back()
        found = self._fetch()
        found.flags.writeable = False
        return found

    @property
    def data(self) -> Values:
        """The values; what is changed in the array is there for the next loop."""
        if self._view is None:
            self._view = self._fetch()
        return self._view

    data_with_halos = data
    data_ro_with_halos = data_ro

    def _fetch(self) -> Values:
        dim = self.dataset.dim
        return self._dat.fetch().reshape((self.dataset.set.size,) + (() if dim == (1,) else dim))

    def _give_back(self) -> None:
        if self._view is not None:
            self._dat.put(self._view.reshape(self._dat.shape))

    def zero(self) -> None:
        """All values become 0."""
        self._view = None
        self._dat.put(0)

    @property
    def vec(self) -> Any:
        """``with dat.vec as v:`` a ``PETSc.Vec`` in the dat's memory, to read and write."""
        return self._lent(self._dat.vec)

    @property
    def vec_ro(self) -> Any:
        """The same, only to read."""
        return self._lent(self._dat.vec_ro)

    @property
    def vec_wo(self) -> Any:
        """The same, to write all of it."""
        return self._lent(self._dat.vec_wo)

    @contextmanager
    def _lent(self, vec: Any) -> Iterator[Any]:
        self._give_back()
        with vec as lent:
            yield lent
        self._take()

    def _take(self) -> None:
        """What the library changed is in the array that the program has."""
        if self._view is not None:
            self._view[...] = self._fetch()

    def __call__(self, access: int, path: Union[Map, mesh.Column, None] = None) -> _Argument:
        found = self._args.get((access, path))
        if found is None:
            packed = path.arity if isinstance(path, Map) else 0
            found = self._args[access, path] = _Argument(self._dat(access, path), packed)
        return found


#: Dats by their handles: those whose arrays the program has hold the truth between loops.
_seen: "weakref.WeakValueDictionary[int, Dat]" = weakref.WeakValueDictionary()


class Global:
    """``Global(dim, data, dtype, name)``."""

    def __init__(
        self,
        dim: Union[int, Tuple[int, ...]],
        data: Any = None,
        dtype: Any = None,
        name: Optional[str] = None,
        comm: Any = None,
    ) -> None:
        init(comm)
        shape = (dim,) if isinstance(dim, int) else tuple(dim)
        wanted: Any = dtype or (np.asarray(data).dtype if data is not None else np.float64)
        kind = np.dtype(wanted)
        self._global = globals.Global(np.broadcast_to(np.asarray(0 if data is None else data, kind), shape), kind, name)
        self.dim, self._shape = shape, shape
        self.cdim = int(np.prod(shape))

    @property
    def data(self) -> Values:
        """The values, in place."""
        return self._global.data.reshape(self._shape)

    @data.setter
    def data(self, value: Any) -> None:
        self._global.data[:] = np.ravel(value)

    data_ro = data

    def __call__(self, access: int, path: None = None) -> _Argument:
        return _Argument(self._global(access))


def _several(given: Any, kinds: Any) -> List[Any]:
    """One thing, or several."""
    return [given] if isinstance(given, kinds) else list(given)


class Sparsity:
    """``Sparsity((rows, columns), [(map, map)])``: data sets of rows and columns, and pairs of maps to them."""

    def __init__(self, dsets: Any, maps: Any, name: Optional[str] = None, **options: Any) -> None:
        del options
        both = [found if isinstance(found, DataSet) else DataSet(found) for found in _several(dsets, (Set, DataSet))]
        self.dsets = (both[0], both[-1])
        pairs = [(maps, maps)] if isinstance(maps, Map) else [maps] if isinstance(maps[0], Map) else list(maps)
        self.name = name
        self.sparsity = matrices.Sparsity(*pairs)
        for dset, found in zip(self.dsets, (self.sparsity.row_set, self.sparsity.column_set)):
            if dset.set is not found:
                raise errors.make("MAP_SET", f"a map of the sparsity leads to {found.name}; expected {dset.set.name}")

    @property
    def dims(self) -> Tuple[int, int]:
        """Components of a row and of a column."""
        return self.dsets[0].cdim, self.dsets[1].cdim


class Mat:
    """``Mat(sparsity, dtype, name)``: ``mat(INC, (rows, columns))`` passes an element's matrix, its rows one after the
    other."""

    def __init__(self, sparsity: Sparsity, dtype: Any = None, name: Optional[str] = None) -> None:
        if np.dtype(dtype or np.float64) != np.float64:
            raise errors.make("TYPE", f"a matrix has numbers of type float64, not {np.dtype(dtype)}")
        self.sparsity, self.dims = sparsity, sparsity.dims
        self._mat = matrices.Mat(sparsity.sparsity, sparsity.dims, name or sparsity.name)

    @property
    def name(self) -> str:
        """Its name."""
        return self._mat.name

    def zero(self) -> None:
        """All entries become 0."""
        self._mat.zero()

    def fix(self, rows: Any, columns: Any = None, diagonal: float = 1.0) -> None:
        """Before the loops: what ``lgmaps`` and ``zero_rows`` are for there. A dat of int32, or an array, for each."""
        of_rows, of_columns = (getattr(flags, "_dat", flags) for flags in (rows, columns))
        self._mat.fix(of_rows, of_columns, diagonal)

    def assemble(self) -> None:
        """It always is."""

    @property
    def handle(self) -> Any:
        """As PETSc's ``Mat``."""
        return self._mat.petsc

    @property
    def nnz(self) -> int:
        """Its entries on this rank."""
        return int(self._mat.fetch()[0][-1])

    @property
    def values(self) -> Values:
        """All of it as a table, with zeros: for small ones."""
        offsets, columns, values = self._mat.fetch()
        found = np.zeros(self._mat.shape)
        found[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), columns] = values
        return found

    def __call__(self, access: int, path: Tuple[Map, Map], lgmaps: None = None) -> _Argument:
        if lgmaps is not None:
            raise errors.make("ARGUMENT", f"lgmaps of matrix {self.name} are not taken; call its fix before the loop")
        return _Argument(self._mat(access, tuple(path)))


class Kernel:
    """``Kernel(code, name)``: C text with a function of that name."""

    def __init__(self, code: str, name: str, **options: Any) -> None:
        del options
        self.code, self.name = code, name
        self._wrapped: Dict[Tuple[Any, ...], kernels.Kernel] = {}

    def wrapped(self, arguments: Sequence[_Argument]) -> kernels.Kernel:
        """The kernel as this library calls it: it packs rows, calls the user's function, and unpacks them."""
        key = tuple(
            (argument.arg.owner.type, argument.arg.owner.dim, argument.arg.access, argument.packed)
            for argument in arguments
        )
        if key not in self._wrapped:
            self._wrapped[key] = kernels.Kernel(_wrap(self.code, self.name, key), f"wrap_{self.name}")
        return self._wrapped[key]


def _wrap(code: str, name: str, key: Sequence[Tuple[str, int, int, int]]) -> str:
    heads, before, words, after = [], [], [], []
    for number, (kind, dim, access, packed) in enumerate(key):
        const, p, t = "const " if access == READ else "", f"p{number}", f"t{number}"
        heads.append(f"{const}{kind} *{p}" + (f"[{packed}]" if packed else ""))
        if not packed and access != READ:
            words.append(p)
            continue
        rows, place = packed or 1, f"{p}[i][k]" if packed else f"{p}[k]"
        turn = f"for (int i = 0; i < {rows}; i++) for (int k = 0; k < {dim}; k++)"
        before.append(f"  {kind} {t}[{rows * dim}];")
        start = "0" if access in (INC, WRITE) else place
        before.append(f"  {turn} {t}[i * {dim} + k] = {start};")
        if access != READ:
            after.append(f"  {turn} {place} {'+=' if access == INC else '='} {t}[i * {dim} + k];")
        words.append(t)
    text = re.sub(r"^[ \t]*#include.*$", "", code, flags=re.MULTILINE)
    call = f"  {name}({', '.join(words)});"
    return "\n".join([text, f"static void wrap_{name}({', '.join(heads)}) {{", *before, call, *after, "}", ""])


def par_loop(kernel: Kernel, iterset: Set, *arguments: _Argument) -> None:
    """Run the kernel for every element of the set."""
    for argument in arguments:
        if not isinstance(argument, _Argument):
            raise errors.make("ARGUMENT", f"{argument!r} is no argument: write dat(op2.READ, map)")
        if argument.arg.access == UNSAID:
            raise errors.make("ACCESS", "an argument of PyOP2 has an access")
    used = [_seen.get(argument.arg.owner.handle) for argument in arguments if argument.arg.kind == "dat"]
    for dat in used:
        if dat is not None:
            dat._give_back()
    loops.par_loop(kernel.wrapped(arguments), iterset, *[argument.arg for argument in arguments])
    for dat in used:
        if dat is not None:
            dat._take()
