"""Sparsities and matrices as PyOP2 has them: assembled by loops and handed to PETSc."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from .. import errors, matrices
from .._library import Values
from .data import Argument
from .errors import MatTypeError, SparsityTypeError
from .sets import DataSet, Map, Set


def _several(given: Any, kinds: Any) -> List[Any]:
    """A list of one thing, or of several."""
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
        if not isinstance(sparsity, Sparsity):
            raise SparsityTypeError(f"a matrix is made of a Sparsity, and not of {sparsity!r}")
        if np.dtype(dtype or np.float64) != np.float64:
            raise MatTypeError(f"a matrix has numbers of type float64, not {np.dtype(dtype)}")
        self.sparsity, self.dims = sparsity, sparsity.dims
        self._mat = matrices.Mat(sparsity.sparsity, sparsity.dims, name or sparsity.name)

    @property
    def name(self) -> str:
        """Its name."""
        return self._mat.name

    dtype = property(lambda self: np.dtype(np.float64), doc="The type of its numbers.")
    nrows = property(lambda self: self._mat.shape[0], doc="Its rows on this rank.")
    ncols = property(lambda self: self._mat.shape[1], doc="Its columns.")

    def zero(self) -> None:
        """All entries become 0."""
        self._mat.zero()

    def fix(self, rows: Any, columns: Any = None, diagonal: float = 1.0) -> None:
        """Fix rows and columns before the loops, in place of ``lgmaps`` and ``zero_rows``: dats of int32 or arrays."""
        of_rows, of_columns = (getattr(flags, "_dat", flags) for flags in (rows, columns))
        self._mat.fix(of_rows, of_columns, diagonal)

    def assemble(self) -> None:
        """Do nothing: a matrix is always assembled."""

    @property
    def handle(self) -> Any:
        """The matrix as PETSc's ``Mat``."""
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

    def __call__(self, access: int, path: Tuple[Map, Map], lgmaps: None = None) -> Argument:
        if lgmaps is not None:
            raise errors.make("ARGUMENT", f"lgmaps of matrix {self.name} are not taken; call its fix before the loop")
        return Argument(self._mat(access, tuple(path)), path=path[0])
