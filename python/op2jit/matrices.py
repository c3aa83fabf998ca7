"""Sparse matrices: loops fill them, and solvers take them. docs/matrices.md is the manual."""

from __future__ import annotations

from ctypes import byref, c_longlong, c_void_p
from functools import lru_cache, partial
from typing import Any, Callable, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import errors, petsc, show
from ._library import ACCESS_NAMES, IDENTITY, INC, WRITE, Values
from ._library import check, handle, lib, text
from .dats import Dat
from .given import Handle, whole
from .mesh import Arg, Map, Set
from .store import Store, dropped, sweep


class Pair(NamedTuple):
    """The maps to the rows and the columns of an element's own matrix. None: to the element itself."""

    rows: Optional[Map]
    columns: Optional[Map]

    def __repr__(self) -> str:
        return " x ".join(way.name if way else "itself" for way in self)

    @staticmethod
    def of(given: Any) -> "Pair":
        """A pair of what a program gave."""
        two = isinstance(given, tuple) and len(given) == 2
        if not two or not all(way is None or isinstance(way, Map) for way in given):
            raise errors.make(
                "ARGUMENT", f"{given!r} is no pair of maps; expected (rows, columns), and None for the element itself"
            )
        return Pair(*given)


def _end(one: Optional[Map], other: Optional[Map]) -> Set:
    """The set that a map of a pair leads to."""
    found = one.target if one else other.source if other else None
    if found is None:
        raise errors.make("ARGUMENT", "a pair has the element itself for rows and for columns; one of them is a map")
    return found


class Sparsity:
    """The entries of a matrix: ``Sparsity((cell, cell), (face, face))``.

    There is one wherever an element names a row by the first map of a pair, and a column by the second. Matrices of the
    same pairs and dims share what is known of it.
    """

    def __init__(self, *pairs: Tuple[Optional[Map], Optional[Map]]) -> None:
        if not pairs:
            raise errors.make("ARGUMENT", "a sparsity has no pairs of maps; expected such as Sparsity((cell, cell))")
        self.pairs = tuple(Pair.of(pair) for pair in pairs)
        first = self.pairs[0]
        self.row_set, self.column_set = _end(first.rows, first.columns), _end(first.columns, first.rows)

    def __repr__(self) -> str:
        return f"<Sparsity {', '.join(map(repr, self.pairs))}>"


class _Held(Store):
    """The library's matrix, freed as dats are."""

    __slots__ = ("pairs", "dims")
    release = staticmethod(lib.op2jit_free_mat)

    def __init__(self, found: int, name: str, pairs: Tuple[Pair, ...], dims: Tuple[int, int]) -> None:
        super().__init__(found, None, 1, "double", name)
        self.pairs, self.dims = pairs, dims


class Mat(Handle):
    """A sparse matrix of zeros, in blocks of ``dims`` numbers: rows, columns. Loops add to it what each element gives.

    ``k(INC, (cell, cell))`` is an argument of a loop: the kernel gets the element's own matrix, zeros at first, as
    ``k[i, j]``. Without an access it is added (INC); without a pair it is that which the matrix has, if it has one.
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Arg]

    def __init__(
        self,
        sparsity: Union[Sparsity, Tuple[Optional[Map], Optional[Map]]],
        dims: Tuple[int, int] = (1, 1),
        name: Optional[str] = None,
    ) -> None:
        sweep()
        self.sparsity = sparsity if isinstance(sparsity, Sparsity) else Sparsity(sparsity)
        if not isinstance(dims, tuple) or len(dims) != 2:
            raise errors.make("DIM", f"the dims of a matrix are {dims!r}; expected those of rows and columns: (1, 1)")
        pairs = self.sparsity.pairs
        row_dim, column_dim = [whole(dim, "a dim of a matrix", "DIM") for dim in dims]
        maps = [(c_void_p * len(pairs))(*[_way(pair[side]).value for pair in pairs]) for side in (0, 1)]
        found = lib.op2jit_decl_mat(len(pairs), *maps, row_dim, column_dim, b"double", text(name or "mat"))
        self._store = _Held(handle(found), name or "mat", pairs, (row_dim, column_dim))
        self.__call__ = lru_cache(maxsize=None)(partial(_matrix_argument, self._store))

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self._store.name

    @property
    def dims(self) -> Tuple[int, int]:
        """Components of a row and of a column."""
        return self._store.dims

    @property
    def handle(self) -> int:
        """The library's handle."""
        return self._store.handle

    @property
    def shape(self) -> Tuple[int, int]:
        """Rows and columns that ``csr`` has: rows of the elements that this rank declared, all columns."""
        return (
            self.sparsity.row_set.size * self.dims[0],
            self.sparsity.column_set.global_size * self.dims[1],
        )

    def zero(self) -> None:
        """All entries are zero from now on. It costs nothing: no memory is written."""
        check(lib.op2jit_zero_mat(self.handle))

    def fix(self, rows: Any, columns: Any = None, diagonal: float = 1.0) -> None:
        """Loops from now on give nothing to fixed rows and columns; a fixed row has ``diagonal`` on its diagonal.

        Each is a dat of int32, or an array with a row for each element: 1 or True where something is fixed. None: no
        row, or no column, is fixed.
        """
        of_rows = _Flags(rows, self.sparsity.row_set, self.dims[0])
        of_columns = of_rows if columns is rows else _Flags(columns, self.sparsity.column_set, self.dims[1])
        try:
            check(lib.op2jit_fix_mat(self.handle, of_rows.handle, of_columns.handle, diagonal))
        finally:
            of_rows.free()
            of_columns.free()

    def fetch(self) -> Tuple[Values, Values, Values]:
        """The matrix by rows, in the program's own numbers: where each row begins, columns, values."""
        entries = c_longlong()
        check(lib.op2jit_fetch_mat(self.handle, byref(entries), None, None, None))
        offsets = np.empty(self.shape[0] + 1, np.int64)
        columns, values = np.empty(max(1, entries.value), np.int64), np.empty(max(1, entries.value))
        places = [found.ctypes.data for found in (offsets, columns, values)]
        check(lib.op2jit_fetch_mat(self.handle, byref(entries), *places))
        return offsets, columns[: entries.value], values[: entries.value]

    def csr(self) -> Any:
        """The matrix as a ``csr_matrix`` of SciPy: rows of the elements that this rank declared, all columns."""
        try:
            from scipy.sparse import csr_matrix
        except ImportError as missing:
            raise errors.make(
                "NOT_BUILT",
                f"csr of matrix {self.name} needs SciPy, which is not installed (Debian: python3-scipy); "
                "fetch gives the same as three arrays of NumPy",
            ) from missing
        offsets, columns, values = self.fetch()
        return csr_matrix((values, columns, offsets), shape=self.shape)

    def solve(self, b: Dat, x: Dat, prefix: str = "") -> None:
        """This matrix times ``x`` is ``b``: by PETSc, with its options of this prefix. ``x`` is the first guess.

        ``-PREFIXksp_type cg`` and such are words of the command line, or of PETSC_OPTIONS: docs/solvers.md.
        """
        for given, what in ((b, "right-hand side b"), (x, "solution x")):
            if not isinstance(given, Dat):
                shown = "an array of NumPy" if isinstance(given, np.ndarray) else repr(given)
                raise errors.make(
                    "ARGUMENT", f"the {what} of matrix {self.name} is {shown}; expected a dat: op2jit.Dat(set, array)"
                )
        petsc.begin()
        check(lib.op2jit_solve(self.handle, b.handle, x.handle, text(prefix)))

    @property
    def petsc(self) -> Any:
        """The matrix with all that loops gave it so far, as petsc4py has it: a ``PETSc.Mat``, the library's."""
        return petsc.matrix(self.handle, self.name)

    def free(self) -> None:
        """Free it now, on all ranks. It must not be used any more."""
        check(lib.op2jit_free_mat(self._store.handle))
        self._store.handle = 0
        self.__call__.cache_clear()  # type: ignore[attr-defined]
        dropped.extend(self._store.keys)

    def __repr__(self) -> str:
        return f"<Mat {self.name}: {self.dims[0]} x {self.dims[1]} by {', '.join(map(repr, self.sparsity.pairs))}>"

    def _repr_html_(self) -> str:
        pairs = ", ".join(map(repr, self.sparsity.pairs))
        return show.table("Mat", self.name, {"dims": f"{self.dims[0]} x {self.dims[1]}", "pairs": pairs})


def _way(map: Optional[Map]) -> c_void_p:
    return c_void_p(map.handle) if map else IDENTITY


def _matrix_argument(store: _Held, *words: Any) -> Arg:
    access, pair = INC, None
    for word in words:
        if isinstance(word, tuple):
            pair = Pair.of(word)
        elif isinstance(word, int) and 0 <= word < len(ACCESS_NAMES):
            access = int(word)
        else:
            raise errors.make(
                "ARGUMENT", f"{word!r} is no access and no pair of maps; expected such as {store}(INC, (rows, columns))"
            )
    if pair is None and len(store.pairs) > 1:
        raise errors.make("ARGUMENT", f"matrix {store} has several pairs; {store}(INC, (rows, columns)) says which")
    if access not in (INC, WRITE):
        raise errors.make("ACCESS", f"matrix {store} is passed with {ACCESS_NAMES[access]}; expected INC or WRITE")
    pair = pair or store.pairs[0]
    raw = lib.op2jit_arg_mat(store.handle, _way(pair.rows), _way(pair.columns), *store.dims, b"double", access)
    return Arg("matrix", store, pair, access, raw)


class _Flags:
    """A dat that says what is fixed: the program's own, or one for this call."""

    def __init__(self, given: Any, of: Set, dim: int) -> None:
        self.own: Optional[Dat] = None
        if given is not None and not isinstance(given, Dat):
            self.own = given = Dat(of, np.asarray(given), dim, np.int32, "fixed")
        self.handle = given.handle if given is not None else None

    def free(self) -> None:
        """Free the dat if it was made for this call."""
        if self.own:
            self.own.free()
            self.own = None
