"""PyOP2's exceptions, by their names, and what of PyOP2 is not here."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator

from .. import errors


class Mistake(errors.Error):
    """An error of the library that has PyOP2's name as well."""

    def __init__(self, message: str) -> None:
        made = errors.make("ARGUMENT", message)
        super().__init__(made.code, made.name, made.message, made.place)


class DataTypeError(Mistake, TypeError):
    """The type of data."""


class DimTypeError(Mistake, TypeError):
    """The type of a dim."""


class ArityTypeError(Mistake, TypeError):
    """The type of an arity."""


class IndexTypeError(Mistake, TypeError):
    """The type of an index."""


class NameTypeError(Mistake, TypeError):
    """The type of a name, or a name that nothing has."""


class SetTypeError(Mistake, TypeError):
    """Something that is no set."""


class SizeTypeError(Mistake, TypeError):
    """The type of a size."""


class SubsetIndexOutOfBounds(Mistake, TypeError):
    """An element of a subset that its set does not have."""


class MapTypeError(Mistake, TypeError):
    """Something that is no map."""


class DataSetTypeError(Mistake, TypeError):
    """Something that is no data set."""


class DatTypeError(Mistake, TypeError):
    """Something that is no dat."""


class KernelTypeError(Mistake, TypeError):
    """Something that is no kernel."""


class DataValueError(Mistake, ValueError):
    """Data of a wrong size."""


class IndexValueError(Mistake, ValueError):
    """An index that is not there."""


class ModeValueError(Mistake, ValueError):
    """An access that is not possible."""


class MapValueError(Mistake, ValueError):
    """A map that does not fit."""


class SparsityTypeError(Mistake, TypeError):
    """Something that is no sparsity."""


class MatTypeError(Mistake, TypeError):
    """Something that is no matrix, or a matrix of another type."""


class SparsityFormatError(Mistake, ValueError):
    """A sparsity of another form."""


class IterateValueError(Mistake, ValueError):
    """An order of elements that there is not."""


class SetValueError(Mistake, ValueError):
    """Sizes that a set cannot have."""


class ConfigurationError(Mistake, RuntimeError):
    """An option that cannot be."""


class CachingError(Mistake, ValueError):
    """An error of PyOP2's caches; nothing here raises it."""


class HashError(CachingError):
    """An error of PyOP2's caches; nothing here raises it."""


class CompilationError(errors.KernelError, RuntimeError):
    """A kernel that cannot become code, or does not fit its arguments."""


@contextmanager
def compiling() -> Iterator[None]:
    """Errors of kernels get PyOP2's class."""
    try:
        yield
    except errors.KernelError as problem:
        found = CompilationError(problem.code, problem.name, problem.message, problem.place)
        raise found.with_traceback(problem.__traceback__) from None


class NotHereError(Mistake, NotImplementedError):
    """A part of PyOP2 that this library lacks."""


_INSTEAD = {
    "MixedSet": "declare the sets, and pass their dats one by one",
    "MixedDataSet": "declare the data sets, and pass their dats one by one",
    "MixedMap": "declare the maps, and pass them with their dats one by one",
    "MixedDat": "declare the dats, and pass them one by one",
    "ExtrudedSet": "declare a set of all cells of the columns, and maps of these",
    "ComposedMap": "make one table of both: second.values[first.values]",
    "PermutedMap": "permute the columns of the table: Map(..., values[:, order])",
}


def missing(name: str) -> Any:
    """A stand-in for a class that is not here. A call of it is an error that says what to do."""
    if name not in _INSTEAD:
        raise AttributeError(f"op2jit.pyop2 has no {name}")

    def refuse(*args: Any, **options: Any) -> Any:
        raise NotHereError(f"{name} is not in op2jit.pyop2: {_INSTEAD[name]}")

    return refuse
