"""Arithmetic on whole dats: ``a += 2 * b`` is one loop over the set of ``a``, however long the right side is."""

from __future__ import annotations

import linecache
import math
from typing import Any, Dict, List, Sequence, Tuple, Union

import numpy as np

from . import errors
from ._library import INC, MAX, MIN, READ, RW, WRITE
from .given import array

Number = Union[int, float]
_NUMBERS = (int, float, np.integer, np.floating)
#: Kernels by their texts, with the globals that bring numbers of these types to them.
_kernels: Dict[Tuple[str, Tuple[str, ...]], Tuple[Any, List[Any]]] = {}


class Arithmetic:
    """The arithmetic that dats and expressions of dats have in common."""

    __slots__ = ()
    #: NumPy's numbers leave an operation to us.
    __array_priority__ = 1000

    def __add__(self, other: Any) -> "Expression":
        return Expression("+", self, other)

    def __radd__(self, other: Any) -> "Expression":
        return Expression("+", other, self)

    def __sub__(self, other: Any) -> "Expression":
        return Expression("-", self, other)

    def __rsub__(self, other: Any) -> "Expression":
        return Expression("-", other, self)

    def __mul__(self, other: Any) -> "Expression":
        return Expression("*", self, other)

    def __rmul__(self, other: Any) -> "Expression":
        return Expression("*", other, self)

    def __truediv__(self, other: Any) -> "Expression":
        return Expression("/", self, other)

    def __rtruediv__(self, other: Any) -> "Expression":
        return Expression("/", other, self)

    def __neg__(self) -> "Expression":
        return Expression("*", -1, self)


class Expression(Arithmetic):
    """Something that is computed of dats and numbers, when a dat gets it: ``a.assign(b + c)``, ``a += 2 * b``."""

    __slots__ = ("sign", "left", "right")

    def __init__(self, sign: str, left: Any, right: Any) -> None:
        for side in (left, right):
            if not isinstance(side, (Arithmetic, *_NUMBERS)):
                raise errors.make("ARGUMENT", f"arithmetic on dats has dats and numbers, and this is {side!r}")
            if isinstance(side, Whole):
                _numbers(side)
        self.sign, self.left, self.right = sign, left, right

    def __repr__(self) -> str:
        return f"({_shown(self.left)} {self.sign} {_shown(self.right)})"


class Whole(Arithmetic):
    """Operations on whole dats. Each runs a loop, so all ranks call it."""

    __slots__ = ()

    def assign(self, what: Any) -> Any:
        """New values: those of an expression of dats and numbers, in one loop."""
        _run(self, what)
        return self

    def __iadd__(self, other: Any) -> Any:
        return self.assign(Expression("+", self, other))

    def __isub__(self, other: Any) -> Any:
        return self.assign(Expression("-", self, other))

    def __imul__(self, other: Any) -> Any:
        return self.assign(Expression("*", self, other))

    def __itruediv__(self, other: Any) -> Any:
        return self.assign(Expression("/", self, other))

    def __matmul__(self, other: Any) -> float:
        return dot(self, other)

    def norm(self) -> float:
        """The square root of the sum of all squares, of all ranks."""
        return math.sqrt(dot(self, self))

    def sum(self) -> Number:
        """The sum of all values, of all ranks."""
        return _reduced(self, "r[0] += a[k]", INC, 0)

    def min(self) -> Number:
        """The least value, of all ranks; NaN if there is one, as NumPy has it."""
        return _reduced(self, "r[0] = min(r[0], a[k])", MIN, _limits(self)[1])

    def max(self) -> Number:
        """The largest value, of all ranks; NaN if there is one."""
        return _reduced(self, "r[0] = max(r[0], a[k])", MAX, _limits(self)[0])

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.linalg.norm:
            raise errors.make("ARGUMENT", f"np.linalg.norm would see this rank's values alone; write {_shown(self)}.norm()")
        if function in (np.dot, np.vdot, np.inner):
            raise errors.make("ARGUMENT", f"np.{function.__name__} would see this rank's values alone; write a @ b")
        plain = [arg.fetch() if isinstance(arg, Whole) else arg for arg in args]  # type: ignore[attr-defined]
        return function(*plain, **kwargs)


def dot(a: Any, b: Any) -> float:
    """The sum of the products of all values of two dats, of all ranks; ``a @ b`` is the same."""
    from .globals import Global

    for side in (a, b):
        if side.__class__.__mro__.count(Whole) == 0:
            raise errors.make("ARGUMENT", f"a product of a dat is one with a dat, and this is {side!r}")
        _numbers(side)
    _same_set(a, b)
    if a.dim != b.dim:
        raise errors.make("DIM", f"{_shown(a)} and {_shown(b)} have {a.dim} and {b.dim} values on an element")
    # A product of whole numbers may have more bits than their type, and one of float32 be beyond it.
    names, right = ("a, r", "a") if a is b else ("a, b, r", "b")
    kernel, (total,) = _made(names, f"for k in range({a.dim}):\n        r[0] += float(a[k]) * {right}[k]", ["float64"])
    assert isinstance(total, Global)
    total.value = 0
    _loop(kernel, a, *[side(READ) for side in ([a] if a is b else [a, b])], total(INC))
    return float(total.value)


def _shown(side: Any) -> str:
    return str(side.name) if isinstance(side, Whole) else repr(side)  # type: ignore[attr-defined]


def _limits(dat: Any) -> Tuple[Number, Number]:
    if dat.dtype.kind == "f":
        return -math.inf, math.inf
    return (0, 1) if dat.dtype.kind == "b" else (int(np.iinfo(dat.dtype).min), int(np.iinfo(dat.dtype).max))


def _same_set(a: Any, b: Any) -> None:
    if a.set is not b.set:
        raise errors.make("MAP_SET", f"{_shown(a)} is on set {a.set.name} and {_shown(b)} on {b.set.name}")


def _loop(kernel: Any, dat: Any, *args: Any) -> None:
    from .loops import par_loop

    par_loop(kernel, dat.set, *args)


def _made(parameters: str, body: str, kinds: Sequence[str]) -> Tuple[Any, List[Any]]:
    """The kernel of a text, made once, with globals for its numbers."""
    from .globals import Global
    from .kernels import kernel

    text = f"def whole({parameters}):\n    {body}\n"
    key = text, tuple(kinds)
    if key not in _kernels:
        file = f"<arithmetic on whole dats {len(_kernels)}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        space: Dict[str, Any] = {}
        exec(compile(text, file, "exec"), space)
        _kernels[key] = kernel(space["whole"]), [Global(0, np.dtype(kind)) for kind in kinds]
    return _kernels[key]


def _reduced(dat: Any, body: str, access: int, start: Number) -> Number:
    kind = str(dat.dtype)
    if access == INC:  # the sum of many has more bits
        kind = {"f": "float64", "u": "uint64"}.get(dat.dtype.kind, "int64")
    _numbers(dat)
    watched = access != INC and dat.dtype.kind == "f"  # minima and maxima of threads and ranks pass a NaN by
    body = f"for k in range({dat.dim}):\n        {body}" + "\n        n[0] += a[k] != a[k]" * watched
    kernel, (result, *missing) = _made("a, r, n" if watched else "a, r", body, [kind, "int64"][: 1 + watched])
    result.value = start
    for count in missing:
        count.value = 0
    _loop(kernel, dat, dat(READ), result(access), *[count(INC) for count in missing])
    found: Number = result.value
    return math.nan if missing and missing[0].value else found


def _numbers(dat: Any) -> None:
    if dat.dtype.names:
        raise errors.make("TYPE", f"{_shown(dat)} has records, and no numbers to compute with; write a kernel")


def _kinds(dat: Any, inputs: Sequence[Any], numbers: Sequence[Number], signs: str) -> List[str]:
    """The types that numbers have beside these dats: whole ones stay so among whole ones, where 64 bits hold them."""
    dtypes = [one.dtype for one in (dat, *inputs)]
    wide = "uint64" if np.dtype("uint64") in dtypes else "int64"
    limits = np.iinfo(wide)
    exact = all(dtype.kind != "f" for dtype in dtypes) and (wide == "int64" or not set(signs) & set("-"))
    whole = [exact and isinstance(number, (int, np.integer)) for number in numbers]
    if wide == "uint64" and any(number < 0 for number in numbers):
        whole = [False] * len(numbers)
    for number, is_whole in zip(numbers, whole):
        if is_whole and not limits.min <= number <= limits.max:
            raise errors.make("RANGE", f"arithmetic on dats of whole numbers has 64 bits, and this is {number}")
    return [wide if is_whole else "float64" for is_whole in whole]


def _run(dat: Any, what: Any) -> None:
    """The loop of dat = what."""
    inputs: List[Any] = []
    numbers: List[Number] = []
    signs: List[str] = []

    def text(side: Any) -> str:
        if isinstance(side, Expression):
            signs.append(side.sign)
            return f"({text(side.left)} {side.sign} {text(side.right)})"
        if not isinstance(side, Whole):
            numbers.append(side)
            return f"c{len(numbers) - 1}[0]"
        if side is dat:
            return "o[k]"
        other: Any = side
        _same_set(dat, other)
        if other.dim not in (1, dat.dim):
            expected = "1" if dat.dim == 1 else f"1 or {dat.dim}"
            raise errors.make("DIM", f"{_shown(side)} has {other.dim} values on an element; expected {expected}")
        if not any(one is side for one in inputs):
            inputs.append(side)
        place = [one is side for one in inputs].index(True)
        return f"a{place}[{'k' if other.dim > 1 else '0'}]"

    if not isinstance(what, (Arithmetic, *_NUMBERS)):
        raise errors.make("ARGUMENT", f"a dat gets dats and numbers, and this is {what!r}; an array goes by put(array)")
    _numbers(dat)
    right = text(what)
    names = [f"a{number}" for number in range(len(inputs))] + [f"c{number}" for number in range(len(numbers))]
    body = f"for k in range({dat.dim}):\n        o[k] = {right}"
    kinds = _kinds(dat, inputs, numbers, "".join(signs))
    if not isinstance(what, Arithmetic):
        array(what, dat.dtype, f"what is assigned to {_shown(dat)}")
    kernel, globals_ = _made(", ".join(["o", *names]), body, kinds)
    for place, number, kind in zip(globals_, numbers, kinds):
        place.value = float(number) if kind == "float64" else int(number)
    access = RW if "o[k]" in right else WRITE
    _loop(kernel, dat, dat(access), *[one(READ) for one in inputs], *[place(READ) for place in globals_])
