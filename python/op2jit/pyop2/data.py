"""Dats and globals as PyOP2 has them: with arithmetic, norms, and arrays that stay the truth between loops."""

from __future__ import annotations

import math
import weakref
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

import numpy as np

from .. import dats, globals, mesh
from .._library import RW, Values, WRITE, type_of
from .errors import (
    DataSetTypeError,
    DataTypeError,
    DataValueError,
    IndexValueError,
    MapTypeError,
    MapValueError,
    NotHereError,
)
from .sets import DataSet, Map, Set
from ..whole import Expression


class Argument:
    """An argument of a loop of PyOP2."""

    def __init__(self, arg: mesh.Arg, packed: int = 0, part: int = -1, path: Optional[mesh.Map] = None) -> None:
        self.arg, self.packed, self.part, self.map = arg, packed, part, path

    @property
    def key(self) -> Tuple[str, int, int, int, int]:
        """The facts that the kernel's form depends on."""
        return self.arg.owner.type, self.arg.owner.dim, self.arg.access, self.packed, self.part


def real(dtype: Any) -> None:
    """Refuse complex numbers."""
    if dtype is not None and np.dtype(dtype).kind == "c":
        raise NotHereError("complex values are not in op2jit.pyop2; use two dats, of real and imaginary parts")


def given(data: Any, dtype: Any, shape: Tuple[int, ...], what: str) -> Values:
    """Data as PyOP2 takes it: of that type, whatever it was."""
    try:
        found = np.asarray(data, dtype)
    except (TypeError, ValueError) as problem:
        raise DataTypeError(f"the data of {what} cannot be of type {np.dtype(dtype)}: {problem}") from None
    real(found.dtype)
    try:
        return found.reshape(shape)
    except ValueError:
        raise DataValueError(f"the data of {what} have the shape {found.shape}; expected {shape}") from None


class One:
    """A dat or a global that is no part of a larger one: PyOP2 has mixed ones as well."""

    @property
    def split(self) -> Tuple[Any, ...]:
        """Itself."""
        return (self,)

    def __iter__(self) -> Iterator[Any]:
        yield self

    @property
    def ctype(self) -> str:
        """The type of its values in C."""
        return type_of(self.dtype)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        if index != 0:
            raise IndexValueError(f"there is no part {index}: this is one dat or global, and not a mixed one")
        return self

    # Arithmetic: what is new is made by duplicate, and changed by _change.

    def duplicate(self) -> Any:
        """Another one with the same values."""
        raise NotImplementedError

    def _change(self, sign: str, other: Any) -> Any:
        raise NotImplementedError

    def _with(self, sign: str, other: Any) -> Any:
        if isinstance(self, Global) and isinstance(other, (Dat, DatView)):
            return NotImplemented  # a dat is made of them, by the dat
        return self.duplicate()._change(sign, other)

    def __add__(self, other: Any) -> Any:
        return self._with("+", other)

    def __sub__(self, other: Any) -> Any:
        return self._with("-", other)

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Any:
        return self.duplicate()._change("*", -1)

    def __pos__(self) -> Any:
        return self.duplicate()

    def __rsub__(self, other: Any) -> Any:
        return (-self)._change("+", other)

    def __iadd__(self, other: Any) -> Any:
        return self._change("+", other)

    def __isub__(self, other: Any) -> Any:
        return self._change("-", other)

    def __imul__(self, other: Any) -> Any:
        return self._change("*", other)

    def __itruediv__(self, other: Any) -> Any:
        return self._change("/", other)


class Dat(One):
    """``Dat(set ** dim, data, dtype, name)``. ``data`` is an array to change, ``data_ro`` one to look at."""

    __array_priority__ = 1000

    def __init__(
        self, dataset: Union[DataSet, Set, "Dat"], data: Any = None, dtype: Any = None, name: Optional[str] = None
    ) -> None:
        if isinstance(dataset, Dat):
            data, dtype, dataset = dataset.data_ro_with_halos, dtype or dataset.dtype, dataset.dataset
        if not isinstance(dataset, (DataSet, Set)):
            raise DataSetTypeError(f"a dat is on a DataSet or a Set, and not on {dataset!r}")
        self.dataset: DataSet = dataset if isinstance(dataset, DataSet) else DataSet(dataset)
        real(dtype)
        of, what = self.dataset.set, f"dat {name or ''}".rstrip()
        behind: Optional[Values] = None
        if data is not None:
            rows = of.total_size if np.size(data) == of.total_size * self.cdim else of.size
            data = given(data, dtype, (rows, self.cdim), what)
            data, behind = data[: of.size], data[of.size :]
        self._dat = dats.Dat(of, data, self.cdim, dtype, name)
        #: All rows that the program has, with those of halos behind the own; None as long as it has none.
        self._view: Optional[Values] = None
        if behind is not None and len(behind):
            self.data_with_halos[of.size :] = behind.reshape(-1, *self.shape[1:])
        self._args: Dict[Any, Argument] = {}
        seen[self._dat._store.handle] = self

    dtype = property(lambda self: self._dat.dtype, doc="The type of its values.")
    name = property(lambda self: self._dat.name, doc="Its name.")
    dim = property(lambda self: self.dataset.dim, doc="The shape of the values of an element.")
    cdim = property(lambda self: self.dataset.cdim, doc="Values of an element.")
    nbytes = property(lambda self: self._dat.dtype.itemsize * self.cdim * self.dataset.set.size, doc="Its bytes.")

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of its arrays."""
        return (self.dataset.set.size,) + (() if self.dataset.dim == (1,) else self.dataset.dim)

    @property
    def data_ro(self) -> Values:
        """The values, which cannot be changed in this array."""
        self.give_back()
        found = self._fetch()
        found.flags.writeable = False
        return found

    @property
    def data(self) -> Values:
        """The values; what is changed in the array is there for the next loop."""
        return self.data_with_halos[: self.dataset.set.size]

    @property
    def data_with_halos(self) -> Values:
        """The values, and behind them the rows of halos that the sizes of the set say; no loop sees these rows."""
        if self._view is None:
            self._view = np.zeros((self.dataset.set.total_size, *self.shape[1:]), self.dtype)
            self.take()
        return self._view

    @property
    def data_ro_with_halos(self) -> Values:
        """The values with rows of halos, in an array that cannot be changed."""
        self.give_back()
        found = self.data_with_halos.copy() if self.dataset.set._halo else self._fetch()
        found.flags.writeable = False
        return found

    data_wo, data_wo_with_halos = data, data_with_halos

    def _fetch(self) -> Values:
        return self._dat.fetch().reshape(self.shape)

    def give_back(self) -> None:
        """Before a loop: the array that the program has is the truth."""
        if self._view is not None:
            self._dat.put(self._view[: self.dataset.set.size].reshape(self._dat.shape))

    def take(self) -> None:
        """After a loop: the array gets what is new."""
        if self._view is not None:
            self._view[: self.dataset.set.size] = self._fetch()

    @property
    def vec(self) -> Any:
        """``with dat.vec as v:`` a ``PETSc.Vec`` in the dat's memory, to read and write."""
        return self._lent(self._dat.vec)

    @property
    def vec_ro(self) -> Any:
        """``vec``, only to read."""
        return self._lent(self._dat.vec_ro)

    @property
    def vec_wo(self) -> Any:
        """``vec``, to write all of it."""
        return self._lent(self._dat.vec_wo)

    @contextmanager
    def _lent(self, vec: Any) -> Iterator[Any]:
        self.give_back()
        try:
            with vec as lent:
                yield lent
        finally:  # what was written before an exception is in the dat, too
            self.take()

    def zero(self, subset: Optional[mesh.Set] = None) -> None:
        """All values become 0, or those on a subset."""
        self._put(np.zeros(self.shape, self.dtype), subset)
        if self._view is not None and subset is None:
            self._view[...] = 0

    def copy(self, other: "Dat", subset: Optional[mesh.Set] = None) -> None:
        """The values of this one into another one, all or those on a subset."""
        if other.dataset.set is not self.dataset.set or other.cdim != self.cdim:
            raise DataValueError(f"dat {other.name} has another set or dim than dat {self.name}")
        other._put(self.data_ro, subset)

    def _put(self, values: Values, subset: Any) -> None:
        self.give_back()
        rows = values if subset is None else self._fetch()
        if subset is not None:
            rows[subset.indices] = values[subset.indices]
        self._dat.put(rows.reshape(self._dat.shape).astype(self.dtype))
        self.take()

    def duplicate(self) -> "Dat":
        """Another one with the same values."""
        return Dat(self.dataset, self.data_ro_with_halos, self.dtype, self.name)

    def _change(self, sign: str, other: Any) -> "Dat":
        self.give_back()
        if isinstance(other, Dat):
            if other.dataset.set is not self.dataset.set or other.dataset.cdim not in (1, self.dataset.cdim):
                raise ValueError(f"dats {self.name} and {other.name} have other sets or dims")
            other.give_back()
            other = other._dat
        elif isinstance(other, Global):
            if other.data.size != 1:
                raise ValueError(f"a global of {other.data.size} values meets dat {self.name}")
            other = other.data.item()
        elif not np.isscalar(other):
            raise TypeError(f"a dat meets a dat, a global or a number, and not {other!r}")
        self._dat.assign(Expression(sign, self._dat, other))
        self.take()
        return self

    def axpy(self, alpha: float, other: "Dat") -> None:
        """This one becomes this one plus alpha times the other one."""
        self.give_back()
        other.give_back()
        self._dat += alpha * other._dat
        self.take()

    def inner(self, other: "Dat") -> float:
        """The sum of the products of all values, of all ranks."""
        self.give_back()
        other.give_back()
        return self._dat @ other._dat

    dot = inner

    @property
    def norm(self) -> float:
        """The square root of the sum of all squares, of all ranks."""
        return math.sqrt(self.inner(self))

    def __call__(self, access: int, path: Union[Map, mesh.Column, None] = None) -> Argument:
        found = self._args.get((access, path))
        if found is None:
            found = self._args[access, path] = argument(self, access, path, -1)
        return found

    def __repr__(self) -> str:
        return f"Dat({self.dataset!r}, None, {self.dtype}, {self.name!r})"


class DatView(One):
    """One component of a dat: ``DatView(dat, 0)``, or ``(0, 1)`` of a dat whose dim has two numbers."""

    def __init__(self, dat: Dat, index: Union[int, Tuple[int, ...]]) -> None:
        self.index = (index,) if isinstance(index, int) else tuple(index)
        if len(self.index) != len(dat.dim) or any(not 0 <= i < size for i, size in zip(self.index, dat.dim)):
            raise IndexValueError(f"dat {dat.name} has components up to {dat.dim}, and no {index}")
        self._parent = dat
        self._part = int(np.ravel_multi_index(self.index, dat.dim))
        self.dim, self.cdim, self.dtype, self.name = (1,), 1, dat.dtype, f"view[{index}]({dat.name})"
        self.dataset = DataSet(dat.dataset.set, 1)

    @property
    def data(self) -> Values:
        """The component; what is changed in the array is there for the next loop."""
        return self._parent.data.reshape(-1, self._parent.cdim)[:, self._part]

    @property
    def data_ro(self) -> Values:
        """The component, to look at."""
        return self._parent.data_ro.reshape(-1, self._parent.cdim)[:, self._part]

    @property
    def data_with_halos(self) -> Values:
        """The component, and behind it the rows of halos."""
        return self._parent.data_with_halos.reshape(-1, self._parent.cdim)[:, self._part]

    @property
    def data_ro_with_halos(self) -> Values:
        """The component with rows of halos, to look at."""
        return self._parent.data_ro_with_halos.reshape(-1, self._parent.cdim)[:, self._part]

    data_wo, data_wo_with_halos = data, data_with_halos
    shape = property(lambda self: (self.dataset.set.size,), doc="The shape of its arrays.")
    nbytes = property(lambda self: self.dtype.itemsize * self.dataset.set.size, doc="Its bytes.")

    def zero(self, subset: Optional[mesh.Set] = None) -> None:
        """All values become 0, or those on a subset."""
        self.data[slice(None) if subset is None else subset.indices] = 0  # type: ignore[attr-defined]

    def copy(self, other: Dat, subset: Optional[mesh.Set] = None) -> None:
        """The values of this one into a dat, all or those on a subset."""
        self.duplicate().copy(other, subset)

    def inner(self, other: Any) -> float:
        """The sum of the products of all values, of all ranks."""
        return self.duplicate().inner(other.duplicate() if isinstance(other, DatView) else other)

    @property
    def norm(self) -> float:
        """The square root of the sum of all squares, of all ranks."""
        return self.duplicate().norm

    def duplicate(self) -> Dat:
        """A dat of its values."""
        return Dat(self.dataset, self.data_ro, self.dtype)

    def _change(self, sign: str, other: Any) -> "DatView":
        found = self.duplicate()._change(sign, other.duplicate() if isinstance(other, DatView) else other)
        self.data[:] = found.data_ro
        return self

    def __call__(self, access: int, path: Union[Map, mesh.Column, None] = None) -> Argument:
        return argument(self._parent, access, path, self._part)


#: Dats by their handles: those whose arrays the program has hold the truth between loops.
seen: "weakref.WeakValueDictionary[int, Dat]" = weakref.WeakValueDictionary()


def argument(dat: Dat, access: int, path: Any, part: int) -> Argument:
    """An argument of a loop: what a kernel writes of one component leaves the others."""
    if path is not None and not isinstance(path, (Map, mesh.Column)):
        raise MapTypeError(f"a dat is reached through a map, and not through {path!r}")
    of = path.map if isinstance(path, mesh.Column) else path
    if of is not None and of.target is not dat.dataset.set:
        on = dat.dataset.set.name
        raise MapValueError(f"map {of.name} leads to set {of.target.name}, and dat {dat.name} is on set {on}")
    partial = part >= 0 and access == WRITE
    packed = path.arity if isinstance(path, Map) else 0
    return Argument(dat._dat(RW if partial else access, path), packed, part, of)


class Global(One):
    """``Global(dim, data, dtype, name)``."""

    def __init__(
        self,
        dim: Union[int, Tuple[int, ...], "Global"],
        data: Any = None,
        dtype: Any = None,
        name: Optional[str] = None,
        comm: Any = None,
    ) -> None:
        if isinstance(dim, Global):
            data, dtype, dim = dim.data, dim.dtype, dim.shape
        shape = (dim,) if isinstance(dim, int) else tuple(dim)
        wanted: Any = dtype or (np.asarray(data).dtype if data is not None else np.float64)
        real(wanted)
        values = np.zeros(shape, wanted) if data is None else np.asarray(data)
        values = np.broadcast_to(values, shape) if values.ndim == 0 else given(values, wanted, shape, "a global")
        self._global = globals.Global(values, np.dtype(wanted), name)
        self.dim: Tuple[int, ...] = shape
        self.shape: Tuple[int, ...] = shape
        self.cdim = int(np.prod(shape))

    name = property(lambda self: self._global.name, doc="Its name.")
    dtype = property(lambda self: self._global._data.dtype, doc="The type of its values.")
    nbytes = property(lambda self: self._global._data.nbytes, doc="Its bytes.")

    @property
    def data(self) -> Values:
        """The values, in place."""
        return self._global.data.reshape(self.shape)

    @data.setter
    def data(self, value: Any) -> None:
        self._global.data[:] = given(np.broadcast_to(value, self.shape), self.dtype, (self.cdim,), "a global")

    data_ro = data_wo = data_with_halos = data_ro_with_halos = data_wo_with_halos = data

    def __float__(self) -> float:
        return float(self.data.reshape(-1)[0])

    def zero(self) -> None:
        """All values become 0."""
        self.data[...] = 0

    def copy(self, other: "Global") -> None:
        """The values of this one into another one."""
        other.data = self.data

    def duplicate(self) -> "Global":
        """Another one with the same values."""
        return Global(self)

    def _change(self, sign: str, other: Any) -> "Global":
        right = other.data if isinstance(other, Global) else other
        real(np.asarray(right).dtype)
        operations: Dict[str, Callable[..., Any]] = {
            "+": np.add,
            "-": np.subtract,
            "*": np.multiply,
            "/": np.true_divide,
        }
        self.data[...] = operations[sign](self.data, right)
        return self

    def inner(self, other: "Global") -> float:
        """The sum of the products of all values."""
        return float(np.dot(self.data.reshape(-1), other.data.reshape(-1)))

    @property
    def norm(self) -> float:
        """The square root of the sum of all squares."""
        return math.sqrt(self.inner(self))

    def __call__(self, access: int, path: None = None) -> Argument:
        return Argument(self._global(access))

    def __repr__(self) -> str:
        return f"Global({self.dim}, {self.data.tolist()}, {self.dtype}, {self.name!r})"
