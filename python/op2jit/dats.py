"""Data on sets, from NumPy arrays."""

from __future__ import annotations

from contextlib import contextmanager
from ctypes import c_void_p
from functools import lru_cache, partial
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

import numpy as np

from . import errors, petsc, show
from ._library import DTYPES, IDENTITY, READ, RW, WRITE, Values
from ._library import check, fail, handle, lib, text, type_of
from .given import Handle, array, whole
from .life import rank_count, state
from .mesh import Arg, Set, argument_words, rows_of
from .store import Store, dropped, sweep, written
from .whole import Whole


class Dat(Whole, Handle):
    """``dim`` values of one type on each element of a set, copied from an array of as many rows; None means zeros.

    The dat is freed when it is garbage; with several ranks at exit, or by ``free``. ``soa`` asks the library to keep
    components apart, which changes nothing else. With ``view`` the array stays yours: the library works in it where it
    can, ``access`` then copies nothing, and the array must not be touched outside of ``access``.

    ``dat(READ)``, ``dat(READ, map[0])``, and ``dat(READ, map)`` for all targets are arguments of loops. Without an
    access, what the kernel does decides. ``present=False``: the kernel must not use it.

    ``a += 2 * b``, ``a.assign(b + c)``, ``a @ b`` and ``a.norm()`` are loops over all of them.
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
            values = rows_of(values, of, dim, "the data of a dat")
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
        return self._store.set  # type: ignore[no-any-return]

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

    @property
    def bar(self) -> "Dat":
        """The bar: how much each value counts for the outputs of a tape."""
        return self._companion("bar", lib.op2jit_bar)

    @property
    def dot(self) -> "Dat":
        """The dot: how much each value moves, where loops carry tangents along."""
        return self._companion("dot", lib.op2jit_dot)

    def _companion(self, what: str, find: Callable[[int], Optional[int]]) -> "Dat":
        if what + " made" not in self.__dict__:
            made = Dat._of(self.set, self.dim, self.dtype, handle(find(self.handle)), f"{what} of {self.name}")
            made.__dict__["companion_of"] = self._store  # which has to live as long
            self.__dict__[what + " made"] = made
        return self.__dict__[what + " made"]  # type: ignore[no-any-return]

    def fetch(self, out: Optional[Values] = None) -> Values:
        """A copy of the values, or into ``out``, in the order in which the program numbered the elements."""
        if out is None:
            out = np.empty(self.shape, self.dtype)
        _same(out, self, "out")
        check(lib.op2jit_fetch_data(self.handle, out.ctypes.data))
        return out

    def put(self, values: Any) -> None:
        """New values for all elements: a row for each, or one number for all values."""
        what = f"what is put into dat {self.name}"
        given = array(values, self.dtype, what)
        rows = rows_of(given, self.set, self.dim, what) if given.ndim else np.full(self.shape, given, self.dtype)
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

    @property
    def vec(self) -> Any:
        """``with dat.vec as v:`` a ``PETSc.Vec`` of petsc4py in the dat's own memory, to read and write in the block.

        No loop may use the dat in the block.
        """
        return petsc.lent(self, RW, "vec")

    @property
    def vec_ro(self) -> Any:
        """``vec``, only to read."""
        return petsc.lent(self, READ, "vec_ro")

    @property
    def vec_wo(self) -> Any:
        """``vec``, to write all of it."""
        return petsc.lent(self, WRITE, "vec_wo")

    def placed(self, vec: Any, access: int) -> Any:
        """``with dat.placed(v, READ):`` the dat works in the memory of a ``PETSc.Vec``: for loops of PETSc's callbacks."""
        return petsc.placed(self, vec, access)

    def __array__(self, dtype: Any = None) -> Values:
        return self.fetch() if dtype is None else self.fetch().astype(dtype)

    def free(self) -> None:
        """Free it now, on all ranks. It must not be used any more."""
        found = self._store.handle
        check(lib.op2jit_free_dat_temp(found))  # a dat that cannot be freed now is as it was
        self._store.handle = 0
        self.__call__.cache_clear()  # type: ignore[attr-defined]
        dropped.extend(self._store.keys)
        state.views.pop(found, None)

    @show.kept
    def __repr__(self) -> str:
        kind = self._store.type if self.dtype.names else self.dtype
        return f"<Dat {self.name}: {self.dim} of {kind} on each of {self.set.name}>"

    @show.kept
    def _repr_html_(self) -> str:
        facts: Dict[str, Any] = {"set": self.set.name, "dim": self.dim, "type": self.dtype.name}
        if rank_count() == 1 and self.set.size and not self.dtype.names:
            values = self.fetch()
            facts.update({"least": values.min(), "largest": values.max()})
        return show.table("Dat", self.name, facts)


def _dat_argument(store: Store, *words: Any, present: bool = True) -> Arg:
    access, column = argument_words(words)
    idx = column.idx if column else -1
    way = c_void_p(column.map.handle) if column else IDENTITY
    raw = lib.op2jit_opt_arg_dat(present, store.handle, idx, way, store.dim, text(store.type), access)
    made = Arg("dat", store, column, access, raw)
    made.present = present
    return made


def _own(data: Any, values: Optional[Values], soa: bool) -> None:
    """Whether the library may work in the array: it must be the very one that was given."""
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
