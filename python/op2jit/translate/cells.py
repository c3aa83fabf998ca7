"""Rows as kernels have them that run in Python: their values are Python's numbers, rounded where they are stored."""

from __future__ import annotations

import operator
from typing import Any, Callable, Iterator, List, Sequence, Tuple

import numpy as np

#: The names that memoryview has for the types of NumPy.
FORMATS = {"float64": "d", "float32": "f", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q"}
FORMATS.update({"bool": "?", "int8": "b", "int16": "h"})
_BITS = {"b": 8, "h": 16, "i": 32, "q": 64, "I": -32, "Q": -64}


def whole(value: Any, form: str) -> int:
    """A whole number with as many bits as its type has, as C stores it."""
    bits, found = abs(_BITS[form]), int(value)
    below = 0 if _BITS[form] < 0 else 1 << (bits - 1)
    return ((found + below) & ((1 << bits) - 1)) - below


class Cells:
    """A row, or a matrix. Arithmetic goes element by element and gives values that are not rounded."""

    __slots__ = ("memory", "shape", "start", "form")

    def __init__(self, memory: Any, shape: Tuple[int, ...], start: int = 0, form: str = "") -> None:
        self.memory, self.shape, self.start, self.form = memory, shape, start, form

    @classmethod
    def made(cls, shape: Any, fill: int = 0, form: str = "d") -> "Cells":
        """One of a function's own."""
        sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        memory = memoryview(bytearray(np.dtype(form).itemsize * int(np.prod(sizes)))).cast(form)
        found = cls(memory, sizes, 0, form)
        for place in range(len(memory)):
            memory[place] = fill
        return found

    @classmethod
    def of(cls, nested: Any) -> "Cells":
        """A vector of numbers, or of rows."""
        rows = [part.tolist() if isinstance(part, Cells) else part for part in nested]
        array = np.asarray(rows, object)
        return cls([value for value in array.ravel().tolist()], array.shape)

    def _place(self, index: Any) -> Tuple[int, Tuple[int, ...]]:
        """The place where an element or a row begins, and its shape."""
        indices = index if isinstance(index, tuple) else (index,)
        start, shape = self.start, self.shape
        if len(indices) > len(shape):
            raise IndexError("too many indices")
        for one in indices:
            if isinstance(one, slice):
                first, last, _ = one.indices(shape[0])
                return start + first * _size(shape[1:]), (last - first, *shape[1:])
            number = operator.index(one)
            if not -shape[0] <= number < shape[0]:
                raise IndexError(f"the index {number} is outside of a row of {shape[0]}")
            start, shape = start + number % shape[0] * _size(shape[1:]), shape[1:]
        return start, shape

    def __getitem__(self, index: Any) -> Any:
        start, shape = self._place(index)
        return Cells(self.memory, shape, start, self.form) if shape else self.memory[start]

    def __setitem__(self, index: Any, value: Any) -> None:
        start, shape = self._place(index)
        if not shape:
            self._store(start, value)
            return
        given = Cells(self.memory, shape, start).spread(value)
        for place, one in enumerate(given):
            self._store(start + place, one)

    def _store(self, place: int, value: Any) -> None:
        form = self.form
        if form in _BITS:
            value = whole(value, form)
        elif form == "f":
            with np.errstate(all="ignore"):
                value = float(np.float32(value))
        elif form:
            value = bool(value) if form == "?" else float(value)
        self.memory[place] = value

    def spread(self, value: Any) -> List[Any]:
        """The value for each element of this row: a row's values, or one number for all."""
        if isinstance(value, (list, tuple)):
            value = Cells.of(value)
        if not isinstance(value, Cells):
            return [value] * _size(self.shape)
        if value.shape != self.shape:
            raise ValueError(f"rows of the shapes {value.shape} and {self.shape} meet")
        return value.flat()

    def flat(self) -> List[Any]:
        """Its values."""
        return list(self.memory[self.start : self.start + _size(self.shape)])

    def tolist(self) -> Any:
        """Its values as lists of lists."""
        return [row.tolist() if isinstance(row, Cells) else row for row in self]

    def each(self, make: Callable[..., Any], *others: Any) -> "Cells":
        """Something made of each value, and of those that others have there."""
        rows = [self.flat(), *[self.spread(other) for other in others]]
        return Cells([make(*values) for values in zip(*rows)], self.shape)

    def assign(self, values: Any) -> "Cells":
        """New values in this place."""
        self[:] = values
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(self.shape[0]))

    def __repr__(self) -> str:
        return repr(self.tolist())

    def __neg__(self) -> "Cells":
        return self.each(operator.neg)

    @property
    def size(self) -> int:
        """The number of its values."""
        return _size(self.shape)

    @property
    def T(self) -> "Cells":
        """With rows and columns exchanged."""
        return Cells.of(list(zip(*self.tolist()))) if len(self.shape) == 2 else self

    def copy(self) -> "Cells":
        """Another one with these values."""
        return Cells(self.flat(), self.shape)

    def dot(self, other: "Cells") -> Any:
        """The product, each sum from left to right."""
        rows = self.tolist() if len(self.shape) == 2 else [self.tolist()]
        columns = list(zip(*other.tolist())) if len(other.shape) == 2 else [other.tolist()]
        found = [[_total([a * b for a, b in zip(row, column)]) for column in columns] for row in rows]
        if len(other.shape) == 1:
            return Cells([row[0] for row in found], (len(rows),)) if len(self.shape) == 2 else found[0][0]
        return Cells.of(found if len(self.shape) == 2 else found[0])

    def sum(self) -> Any:
        """The sum, from left to right."""
        return _total(self.flat())

    def min(self) -> Any:
        """The least value."""
        return least(self.flat())

    def max(self) -> Any:
        """The largest value."""
        return largest(self.flat())


class Rows(Cells):
    """The rows that a kernel gets through all columns of a map, each where it lies."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[Cells], shape: Tuple[int, ...] = ()) -> None:
        super().__init__([], (len(rows), *(rows[0].shape if rows else shape[1:])))
        self.rows = list(rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            row = self.rows[index[0]]
            return row[index[1:]] if index[1:] else row
        return Rows(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, tuple) and index[1:]:
            self.rows[index[0]][index[1:]] = value
        elif isinstance(index, slice):
            rows = Rows(self.rows[index])
            given = rows.spread(value)
            width = len(given) // len(rows.rows)
            for number, row in enumerate(rows.rows):
                row[:] = given[number * width : (number + 1) * width]
        else:
            self.rows[index][:] = value

    def flat(self) -> List[Any]:
        """Its values."""
        return [value for row in self.rows for value in row.flat()]


class Record:
    """Values with names, in memory: ``w[0].rho`` or ``w[0]["rho"]``."""

    __slots__ = ("_memory_", "_dtype_")
    _memory_: Any
    _dtype_: Any

    def __init__(self, memory: Any, dtype: Any) -> None:
        object.__setattr__(self, "_memory_", memory)
        object.__setattr__(self, "_dtype_", dtype)

    def _field_(self, name: str) -> Tuple[Cells, bool]:
        if name not in self._dtype_.names:
            raise AttributeError(f"a record has the fields {', '.join(self._dtype_.names)}, and no {name}")
        of, offset = self._dtype_.fields[name][:2]
        kind, shape = of.subdtype or (of, ())
        form = FORMATS[kind.name]
        return Cells(self._memory_[offset : offset + of.itemsize].cast(form), shape or (1,), 0, form), bool(shape)

    def __getitem__(self, name: str) -> Any:
        found, several = self._field_(name)
        return found if several else found[0]

    def __setitem__(self, name: str, value: Any) -> None:
        self._field_(name)[0][:] = value

    __getattr__, __setattr__ = __getitem__, __setitem__


class Records(Cells):
    """A row of records."""

    __slots__ = ("dtype",)

    def __init__(self, memory: Any, shape: Tuple[int, ...], dtype: Any) -> None:
        super().__init__(memory, shape)
        self.dtype = dtype

    def __getitem__(self, index: Any) -> Record:
        start, size = self._place(index)[0], self.dtype.itemsize
        return Record(self.memory[start * size : (start + 1) * size], self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index]._memory_[:] = value._memory_


def _size(shape: Sequence[int]) -> int:
    found = 1
    for size in shape:
        found *= size
    return found


def _total(several: Sequence[Any]) -> Any:
    found = several[0]
    for one in several[1:]:
        found = found + one
    return found


def minimum(a: Any, b: Any) -> Any:
    """NumPy's minimum of two numbers: NaN wins."""
    return a if a < b or a != a else b


def maximum(a: Any, b: Any) -> Any:
    """NumPy's maximum of two numbers: NaN wins."""
    return a if a > b or a != a else b


def least(several: Sequence[Any]) -> Any:
    """NumPy's min of a row."""
    found = several[0]
    for one in several[1:]:
        found = minimum(found, one)
    return found


def largest(several: Sequence[Any]) -> Any:
    """NumPy's max of a row."""
    found = several[0]
    for one in several[1:]:
        found = maximum(found, one)
    return found
