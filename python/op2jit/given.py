"""Whole numbers and arrays of programs, checked before C takes them with fewer bits."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from . import errors
from ._library import Values


class Handle:
    """An object of the library. What it stands for is in the library, so that no copy of it can be made."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} of op2jit cannot be copied or pickled: its values are in the library; "
            "take these by fetch(), value or table, and declare a new one"
        )


def whole(number: Any, what: str, word: str) -> int:
    """A whole number that C's int can hold."""
    try:
        found = operator.index(number)
    except TypeError:
        raise errors.make("TYPE", f"{what} is {number!r}; expected a whole number") from None
    if not -(2**31) <= found < 2**31:
        raise errors.make(word, f"{what} is {found}; at most {2**31 - 1} is possible")
    return found


def array(values: Any, dtype: Any, what: str) -> Values:
    """The values as an array of that type, or of their own, in this machine's order of bytes.

    Whole numbers stay what they are: a number that does not fit, or has a fraction, is refused.
    """
    found = np.asarray(values)
    if found.dtype.names or (dtype is not None and np.dtype(dtype).names):
        return _records(found, np.dtype(dtype or found.dtype), what)
    wanted = found.dtype.newbyteorder("=") if dtype is None else np.dtype(dtype).newbyteorder("=")
    if found.dtype == wanted:
        return found
    if found.dtype.kind not in "biuf":
        raise errors.make("TYPE", f"{what} has values of type {found.dtype}; expected {wanted}")
    with np.errstate(invalid="ignore"):
        made = found.astype(wanted)
    if wanted.kind in "biu" and not np.can_cast(found.dtype, wanted, "safe"):
        lost = found[made != found].reshape(-1)
        if lost.size:
            raise errors.make("TYPE", f"{what} has the value {lost[0]}, which {wanted} cannot hold")
    return made


def _records(found: Values, said: Any, what: str) -> Values:
    """The array of records, which lie as C's structs do."""
    from .records import aligned

    wanted = aligned(said)
    if found.dtype == wanted:
        return found
    if found.dtype.names != wanted.names:
        raise errors.make("TYPE", f"{what} has {_fields(found.dtype)}; expected {_fields(wanted)}")
    made = np.empty(found.shape, wanted)
    for name in wanted.names:
        of, shape = wanted[name].base, wanted[name].shape
        if found.dtype[name].shape != shape:
            here = found.dtype[name].shape
            raise errors.make("SIZE", f"field {name} of {what} has the shape {here}; expected {shape}")
        made[name] = array(found[name], of, f"field {name} of {what}")
    return made


def _fields(dtype: Any) -> str:
    return f"the fields {', '.join(dtype.names)}" if dtype.names else f"values of type {dtype}"
