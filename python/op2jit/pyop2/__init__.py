"""PyOP2's way of saying things, on this library: ``from op2jit import pyop2 as op2``.

Sets, maps, dats, globals, kernels in C and ``par_loop(kernel, set, dat(READ, map))`` as PyOP2 documents them. Through a
map of arity n a kernel gets the rows of all targets packed, ``double x[n * dim]``; ``map[i]`` passes one row.
Parameters of what is only read need no const. Matrices are assembled by loops and handed to PETSc; boundary rows are
fixed before the loops, by ``mat.fix``, and not in a matrix that is assembled. What PyOP2 has and this has not is an error that says what to do.
"""

from __future__ import annotations

from typing import Any, Union

from .. import life, loops
from .._library import INC, MAX, MIN, READ, RW, UNSAID, WRITE
from .data import Argument, Dat, DatView, Global, seen
from .errors import (
    ArityTypeError,
    CachingError,
    CompilationError,
    ConfigurationError,
    DataSetTypeError,
    DatTypeError,
    DataTypeError,
    DataValueError,
    DimTypeError,
    HashError,
    IndexTypeError,
    IndexValueError,
    IterateValueError,
    KernelTypeError,
    MapTypeError,
    MapValueError,
    MatTypeError,
    ModeValueError,
    NameTypeError,
    NotHereError,
    SetTypeError,
    SetValueError,
    SizeTypeError,
    SparsityFormatError,
    SparsityTypeError,
    SubsetIndexOutOfBounds,
    compiling,
    missing,
)
from .kernels import Kernel
from .matrices import Mat, Sparsity
from .sets import DataSet, Map, Set, Subset, init

__all__ = [
    "ArityTypeError", "CachingError", "CompilationError", "ConfigurationError", "HashError", "IterateValueError",
    "SetValueError", "SparsityFormatError", "DataSet", "DataSetTypeError", "DataTypeError", "DataValueError", "Dat", "DatTypeError",
    "DatView",
    "DimTypeError", "Global", "INC", "IndexTypeError", "IndexValueError", "Kernel", "KernelTypeError", "MAX", "MIN",
    "Map", "Mat",
    "MapTypeError", "MapValueError", "MatTypeError", "ModeValueError", "NameTypeError", "NotHereError", "ParLoop", "Parloop", "READ", "RW", "Set",
    "SetTypeError", "SizeTypeError", "Sparsity", "SparsityTypeError", "Subset", "SubsetIndexOutOfBounds", "WRITE", "exit", "init", "initialised", "par_loop", "parloop",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    return missing(name)


def exit() -> None:
    """End the library."""
    if life.state.open:
        life.exit()


def initialised() -> bool:
    """Whether the library was started, and not ended yet."""
    return life.state.open


class Parloop:
    """A loop that can be run again and again: ``Parloop(kernel, set, args...)``, then ``compute()`` or a call."""

    def __init__(self, kernel: Kernel, iterset: Union[Set, Subset], *arguments: Argument) -> None:
        if not isinstance(kernel, Kernel):
            raise KernelTypeError(f"{kernel!r} is no kernel: the kernel comes first, then the set")
        if not isinstance(iterset, (Set, Subset)):
            raise SetTypeError(f"{iterset!r} is no set: the kernel comes first, then the set")
        whole = iterset.superset if isinstance(iterset, Subset) else iterset
        for argument in arguments:
            if not isinstance(argument, Argument):
                raise DatTypeError(f"{argument!r} is no argument: write dat(op2.READ, map)")
            if argument.arg.access == UNSAID:
                raise ModeValueError("an argument of PyOP2 has an access: dat(op2.READ, map)")
            if argument.map is not None and argument.map.source is not whole:
                raise MapValueError(
                    f"map {argument.map.name} is of set {argument.map.source.name}, and the loop runs over {whole.name}"
                )
        self.kernel, self.iterset, self.arguments = kernel, iterset, arguments
        self.accesses = tuple(argument.arg.access for argument in arguments)
        self._wrapped = kernel.wrapped(tuple(argument.key for argument in arguments))

    def compute(self) -> None:
        """Run it."""
        used = [seen.get(argument.arg.owner.handle) for argument in self.arguments if argument.arg.kind == "dat"]
        for dat in used:
            if dat is not None:
                dat.give_back()
        with compiling():
            loops.par_loop(self._wrapped, self.iterset, *[argument.arg for argument in self.arguments])
        for dat in used:
            if dat is not None:
                dat.take()

    __call__ = compute


def par_loop(kernel: Kernel, iterset: Union[Set, Subset], *arguments: Argument) -> None:
    """Run the kernel for every element of the set."""
    Parloop(kernel, iterset, *arguments).compute()


parloop = par_loop
ParLoop = Parloop
