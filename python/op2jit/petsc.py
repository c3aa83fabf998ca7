"""PETSc's objects in Python: matrices and dats as those of petsc4py, by the plugin of op_solve. Nothing is copied."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np

from . import errors
from ._library import READ, check, handle, lib, text
from .life import state

#: The start of the library for which the plugin is open.
_opened = [-1]


def _module(what: str) -> Any:
    """petsc4py.PETSc. It begins PETSc when it is imported first, with the words of the command line."""
    try:
        if "petsc4py.PETSc" not in sys.modules:
            importlib.import_module("petsc4py")
            check(lib.op2jit_solver_ready(text(what)))  # PETSc's beginning waits for all ranks, without a word
            importlib.import_module("petsc4py").init(sys.argv)
        found = importlib.import_module("petsc4py.PETSc")
    except ImportError as missing:
        raise errors.make(
            "NOT_BUILT",
            f"{what} is an object of petsc4py, which is not installed (Debian: python3-petsc4py); "
            "solve of a matrix needs none",
        ) from missing
    if _opened[0] != state.generation:
        there = ctypes.c_void_p.in_dll(ctypes.CDLL(found.__file__), "PETSC_COMM_WORLD")
        check(lib.op2jit_solver_open(ctypes.addressof(there)))
        _opened[0] = state.generation
    return found


def begin() -> None:
    """Let petsc4py, where it is there, begin PETSc before a solver. PETSc then stays, as Python's objects may."""
    if "petsc4py.PETSc" in sys.modules or importlib.util.find_spec("petsc4py"):
        try:
            _module("solve")
        except errors.Error:
            pass  # petsc4py is of another PETSc: then the plugin is alone


def _wrapped(module: Any, kind: str, address: int) -> Any:
    """An object of petsc4py that holds on to one of PETSc, by what petsc4py has for other modules."""
    capsule = module.__pyx_capi__[f"PyPetsc{kind}_New"]
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(pointer(capsule, name(capsule)) or 0)
    return make(address)


def matrix(found: int, name: str) -> Any:
    """A ``PETSc.Mat`` of a matrix."""
    module = _module(f"petsc of matrix {name}")
    return _wrapped(module, "Mat", handle(lib.op2jit_solver_mat(found)))


def _check_type(dat: Any, what: str) -> None:
    if dat.dtype != np.float64:
        words = f"{what} of dat {dat.name}: its values are of type {dat.dtype}, and those of PETSc float64"
        raise errors.make("TYPE", words)


@contextmanager
def lent(dat: Any, access: int, what: str) -> Iterator[Any]:
    """A ``PETSc.Vec`` in the dat's memory, for a block."""
    _check_type(dat, what)
    module = _module(f"{what} of dat {dat.name}")
    made = _wrapped(module, "Vec", handle(lib.op2jit_solver_vec(dat.handle, access)))
    code = 0
    before = made.stateGet()  # which goes up with each change
    try:
        yield made
    finally:
        changed = access == READ and made.stateGet() != before
        code = lib.op2jit_solver_end(dat.handle)
        # A program that kept it would change the dat unseen: it becomes a vector that is nothing yet, whose calls fail.
        made.destroy()
        made.create(module.COMM_SELF)
    check(code)
    if changed:  # a PETSc that is built for debugging refuses it where it happens
        raise errors.make("ACCESS", f"{what} of dat {dat.name} is only to read, and was written in the block; take vec")


@contextmanager
def placed(dat: Any, vec: Any, access: int) -> Iterator[None]:
    """The dat in the memory of a ``PETSc.Vec``, for a block."""
    _check_type(dat, "placed")
    if not isinstance(vec, _module(f"the vector for dat {dat.name}").Vec):
        raise errors.make("ARGUMENT", f"dat {dat.name} is placed in a PETSc.Vec of petsc4py, and this is {vec!r}")
    check(lib.op2jit_solver_place(dat.handle, vec.handle, access))
    code = 0
    try:
        yield
    finally:
        code = lib.op2jit_solver_end(dat.handle)
    check(code)
