"""Sets, subsets, data sets and maps as PyOP2 has them."""

from __future__ import annotations

from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from .. import life, mesh
from .._library import Values
from .errors import (
    ArityTypeError,
    DataTypeError,
    DataValueError,
    DimTypeError,
    MapValueError,
    NotHereError,
    SetTypeError,
    SetValueError,
    SizeTypeError,
    SubsetIndexOutOfBounds,
)


def init(comm: Any = None, log_level: Any = None, **options: Any) -> None:
    """Start the library, once; PyOP2's options that it does not know are left out."""
    del log_level
    if not life.state.open:
        known = ("backend", "threads", "cache", "tune", "fp", "check", "log")
        life.init(comm, **{name: value for name, value in options.items() if name in known})


class Own(mesh.Set):
    """The common part of sets and subsets. Copies of other ranks' elements are the library's own, and not here."""

    #: Elements before `size` that a program called core, and behind it that it called halo: arrays have room for these.
    _core: Optional[int] = None
    _halo = 0

    core_size = property(lambda self: self.size if self._core is None else self._core, doc="How many it called core.")
    total_size = property(lambda self: self.size + self._halo, doc="Rows of arrays with halos.")
    sizes = property(lambda self: (self.core_size, self.size, self.total_size), doc="These three sizes.")
    core_part = property(lambda self: slice(0, self.core_size), doc="The elements that it called core.")
    owned_part = property(lambda self: slice(self.core_size, self.size), doc="The others of this rank.")


class Set(Own):
    """``Set(size, name)``, or sizes (core, owned, total): loops run over `owned` elements, and arrays that are given may
    have `total` rows, of which the first ones count. ``set ** dim`` is a DataSet."""

    def __init__(self, size: Union[int, Sequence[int]], name: Optional[str] = None, comm: Any = None) -> None:
        init(comm)
        sizes = [size] if isinstance(size, (int, np.integer)) else list(size)
        if not 0 < len(sizes) < 4 or not all(isinstance(one, (int, np.integer)) for one in sizes):
            raise SizeTypeError(f"the size of a set is {size!r}; expected a whole number, or up to three: core, owned, total")
        if sizes != sorted(sizes) or sizes[0] < 0:
            raise SetValueError(f"the sizes of a set are {size!r}; expected core <= owned <= total")
        super().__init__(int(sizes[min(1, len(sizes) - 1)]), name)
        self._core, self._halo = int(sizes[0]) if len(sizes) > 1 else None, int(sizes[-1]) - self.size

    @property
    def indices(self) -> Values:
        """The numbers of its elements."""
        return np.arange(self.size)

    def intersection(self, other: Union["Set", "Subset"]) -> Union["Set", "Subset"]:
        """The other one, which is this set or a subset of it."""
        return self._same(other)

    def union(self, other: Union["Set", "Subset"]) -> "Set":
        """Itself."""
        self._same(other)
        return self

    def difference(self, other: Union["Set", "Subset"]) -> "Subset":
        """The elements that are not in a subset."""
        return Subset(self, np.setdiff1d(self.indices, self._same(other).indices))

    symmetric_difference = difference

    def _same(self, other: Union["Set", "Subset"]) -> Union["Set", "Subset"]:
        if other is not self and getattr(other, "superset", None) is not self:
            raise TypeError(f"{other!r} is neither set {self.name} nor one of its subsets")
        return other

    def __pow__(self, dim: Union[int, Tuple[int, ...]]) -> "DataSet":
        return DataSet(self, dim)

    def __call__(self, *indices: Any) -> "Subset":
        return Subset(self, indices[0] if len(indices) == 1 and not isinstance(indices[0], int) else indices)

    def __iter__(self) -> Iterator["Set"]:
        yield self

    def __len__(self) -> int:
        return 1  # as PyOP2's, which has mixed sets as well

    def __bool__(self) -> bool:
        return True


class Subset(Own):
    """``Subset(superset, indices)``, or ``superset(indices)``: some elements, for loops to run over."""

    superset: Set
    indices: Values

    def __init__(self, superset: Union[Set, "Subset"], indices: Any) -> None:
        if not isinstance(superset, (Set, Subset)):
            raise SetTypeError(f"a subset is of a Set, and not of {superset!r}")
        given = np.asarray(indices)
        if given.dtype == bool:  # a mask, as subsets of op2jit take it
            if given.shape != superset.indices.shape:
                raise SubsetIndexOutOfBounds(f"a mask of {given.size} elements for {superset.indices.size}")
            given = np.flatnonzero(given)
        numbers = np.unique(given.astype(np.int64))
        whole: Set
        if isinstance(superset, Subset):
            if numbers.size and not 0 <= numbers[0] <= numbers[-1] < superset.indices.size:
                raise SubsetIndexOutOfBounds(f"elements {numbers[0]} to {numbers[-1]} of {superset.indices.size}")
            whole, numbers = superset.superset, superset.indices[numbers]
        else:
            whole = superset
        if numbers.size and not 0 <= numbers[0] <= numbers[-1] < whole.size:
            raise SubsetIndexOutOfBounds(f"elements {numbers[0]} to {numbers[-1]} of a set of {whole.size}")
        made = whole.subset(numbers)
        self.name, self.key, self.handle = made.name, made.key, made.handle
        self.superset, self.indices = whole, numbers

    def __call__(self, *indices: Any) -> "Subset":
        return Subset(self, indices[0] if len(indices) == 1 and not isinstance(indices[0], int) else indices)

    def _other(self, other: Union[Set, "Subset"]) -> Values:
        if other is not self.superset and getattr(other, "superset", None) is not self.superset:
            raise TypeError("both are subsets of one set, or one is that set")
        return other.indices

    def intersection(self, other: Union[Set, "Subset"]) -> "Subset":
        """The elements of both."""
        return Subset(self.superset, np.intersect1d(self.indices, self._other(other)))

    def union(self, other: Union[Set, "Subset"]) -> "Subset":
        """The elements of one of them."""
        return Subset(self.superset, np.union1d(self.indices, self._other(other)))

    def difference(self, other: Union[Set, "Subset"]) -> "Subset":
        """The elements that are not in the other one."""
        return Subset(self.superset, np.setdiff1d(self.indices, self._other(other)))

    def symmetric_difference(self, other: Union[Set, "Subset"]) -> "Subset":
        """The elements of one of them alone."""
        return Subset(self.superset, np.setxor1d(self.indices, self._other(other)))


class DataSet:
    """A set and how many values an element has."""

    def __init__(self, iter_set: Set, dim: Union[int, Tuple[int, ...]] = 1, name: Optional[str] = None) -> None:
        if not isinstance(iter_set, Set):
            raise SetTypeError(f"a data set is on a Set, and not on {iter_set!r}")
        sizes = (dim,) if isinstance(dim, (int, np.integer)) else dim
        if not isinstance(sizes, (tuple, list)) or not all(isinstance(one, (int, np.integer)) for one in sizes):
            raise DimTypeError(f"a dim is {dim!r}; expected a whole number, or a tuple of them")
        self.set = iter_set
        self.dim = tuple(int(one) for one in sizes)
        self.cdim = int(np.prod(self.dim))
        self.name = name or iter_set.name

    shape = property(lambda self: self.dim, doc="The shape of the values of an element.")
    size = property(lambda self: self.set.size, doc="Elements of its set.")
    sizes = property(lambda self: self.set.sizes, doc="Elements of its set.")

    def __iter__(self) -> Iterator["DataSet"]:
        yield self

    def __len__(self) -> int:
        return 1

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, DataSet) and self.set is other.set and self.dim == other.dim

    def __hash__(self) -> int:
        return hash((id(self.set), self.dim))

    def __contains__(self, dat: Any) -> bool:
        return bool(dat.dataset == self)

    def __repr__(self) -> str:
        return f"DataSet({self.set!r}, {self.dim}, {self.name!r})"


class Map(mesh.Map):
    """``Map(iterset, toset, arity, values, name)``."""

    def __init__(
        self, iterset: Set, toset: Set, arity: int, values: Any = None, name: Optional[str] = None, offset: Any = None
    ) -> None:
        if offset is not None:
            raise NotHereError("offsets are of maps of extruded sets, which are not in op2jit.pyop2: name all targets")
        for one in (iterset, toset):
            if not isinstance(one, Set):
                raise SetTypeError(f"a map is between Sets, and this is {one!r}")
        what = f"map {name}" if name else "a map"
        if not isinstance(arity, (int, np.integer)) or isinstance(arity, bool):
            raise ArityTypeError(f"the arity of {what} is {arity!r}; expected a whole number")
        if arity < 1:
            raise MapValueError(f"the arity of {what} is {arity}; expected one target at least")
        if values is None:
            raise MapValueError(f"{what} has no values; here a map has them from its beginning")
        try:
            table = np.asarray(values, np.int64)  # floats too, as PyOP2 takes them
        except (TypeError, ValueError, OverflowError) as problem:
            raise DataTypeError(f"the values of {what} are no whole numbers: {problem}") from None
        if table.size not in (iterset.size * arity, iterset.total_size * arity):
            raise DataValueError(f"{what} has {table.size} values; expected {iterset.size} x {arity}")
        table = table.reshape(-1, arity)[: iterset.size]
        super().__init__(iterset, toset, table, name, int(arity))  # which looks at all 64 bits
        self.iterset, self.toset, self._table = iterset, toset, table.astype(np.int32)

    shape = property(lambda self: (self.iterset.size, self.arity), doc="The shape of its table.")
    dtype = property(lambda self: np.dtype(np.int32), doc="The type of its entries.")
    values = property(lambda self: self.table, doc="A copy of its table.")
    values_with_halo = property(lambda self: self.table, doc="A copy of its table.")
    arities = property(lambda self: (self.arity,), doc="Its arity.")

    @property
    def split(self) -> Tuple["Map", ...]:
        """Itself."""
        return (self,)

    def __iter__(self) -> Iterator["Map"]:
        yield self

    def __len__(self) -> int:
        return 1
