"""The C library as ctypes sees it: where it is, what it exports, and how its errors become exceptions."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_char, c_char_p, c_double, c_int, c_longlong, c_short, c_void_p
from pathlib import Path
from typing import Any, List, Optional

import numpy as np
from numpy.typing import NDArray

from . import errors

#: An array of NumPy.
Values = NDArray[Any]

READ, WRITE, RW, INC, MIN, MAX, WORK = range(7)
#: An access that is to be found by looking at the kernel.
UNSAID = -1
ACCESS_NAMES = ["READ", "WRITE", "RW", "INC", "MIN", "MAX", "WORK"]


class Argument(Structure):
    """op_arg of op2jit.h: made by the library, and only carried about here."""

    _fields_ = [
        ("data", c_void_p),
        ("dat", c_void_p),
        ("map", c_void_p),
        ("form", c_int),
        ("idx", c_int),
        ("dim", c_int),
        ("type", c_int),
        ("access", c_int),
        ("present", c_int),
        ("ref", c_int),
        ("said_length", c_int),
        ("said", c_char * 24),
        ("pointed", c_int),
        ("soa", c_short),
        ("may_meet", c_short),
        ("reserved", c_longlong * 1),
    ]


class ErrorRecord(Structure):
    """op_error of op2jit.h."""

    _fields_ = [("code", c_int), ("name", c_char_p), ("message", c_char_p)]


COUNTERS = (
    "loops records compiles cache_hits plans plan_hits trials bytes_to_device bytes_from_device bytes_converted "
    "exchanges messages bytes_sent flushes checks tiled waiting bytes_of_views "
    "fused unstored graphs waits tasked"
).split()


class Counters(Structure):
    """op_counters_t of op2jit.h."""

    _fields_ = [(name, c_longlong) for name in COUNTERS] + [("reserved", c_longlong * 8)]


#: What each call takes and returns: i int, l long long, s text, p handle or memory, d double, v nothing, a argument,
#: e error, c counters.
CALLS = {
    "set_error_handler": "v pp",
    "last_error": "e ",
    "init": "i ipi",
    "init_comm": "i ipiis",
    "exit": "i ",
    "decl_set": "p is",
    "decl_subset": "p pips",
    "decl_subset_range": "p piis",
    "free_set": "i p",
    "free_map": "i p",
    "decl_map": "p ppips",
    "decl_map_long": "p ppips",
    "decl_map_ragged": "p pppps",
    "map_entries": "p p",
    "decl_map_ragged_hdf5": "p ppss",
    "decl_dat": "p pisps",
    "decl_dat_temp": "p pisps",
    "free_dat_temp": "i p",
    "decl_dat_view": "p pisps",
    "acquire": "p pi",
    "release": "i p",
    "decl_const": "i sisp",
    "update_const": "i sp",
    "decl_gbl": "p isps",
    "get_gbl": "i pp",
    "put_gbl": "i pp",
    "opt_arg_dat": "a ipipisi",
    "opt_arg_gbl": "a ipisi",
    "arg_global": "a pi",
    "arg_idx": "a ip",
    "arg_info": "a pisi",
    "arg_may_meet": "a a",
    "kernel_native": "p pp",
    "par_loop_array": "i sspipsi",
    "find_accesses": "i sspipsi",
    "fetch_data": "i pp",
    "put_data": "i pp",
    "get_size": "i p",
    "get_global_size": "l p",
    "renumber": "i p",
    "renumber_by": "i spp",
    "partition": "i ssppp",
    "rank": "i ",
    "rank_count": "i ",
    "barrier": "v ",
    "wtime": "d ",
    "timing_output": "v ",
    "diagnostic_output": "v ",
    "report_json": "i pp",
    "counters": "c ",
    "plan_check": "i i",
    "decl_set_hdf5": "p ss",
    "decl_map_hdf5": "p ppiss",
    "decl_dat_hdf5": "p pisss",
    "dump_to_hdf5": "i s",
    "fetch_data_hdf5_file_path": "i pss",
    "get_const_hdf5": "i sisps",
    "write_const_hdf5": "i sisps",
    "write_vtk": "i siip",
    "write_vtk_at": "i sidip",
}
KINDS = {
    "i": c_int,
    "l": c_longlong,
    "s": c_char_p,
    "p": c_void_p,
    "d": c_double,
    "v": None,
    "a": Argument,
    "e": POINTER(ErrorRecord),
    "c": POINTER(Counters),
}


def find_library() -> Path:
    """The library's file: named by OP2JIT_LIBRARY, carried by the wheel, built in the tree, or the system's."""
    named = os.environ.get("OP2JIT_LIBRARY")
    here = Path(__file__).resolve().parent
    built = here.parent.parent / "build" / "libop2jit.so"
    for path in [Path(named)] if named else [here / "lib" / "libop2jit.so.0", built]:
        if path.exists():
            return path
    if named:
        raise errors.make("FILE", f"OP2JIT_LIBRARY names {named}, which is not there")
    return Path("libop2jit.so.0")


def open_library() -> ctypes.CDLL:
    """Opens it and declares its calls."""
    path = find_library()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as problem:
        raise errors.make(
            "FILE",
            f"libop2jit cannot be opened: {problem}; install the wheel that carries it, or name its file in "
            "OP2JIT_LIBRARY",
        ) from problem
    for name, kinds in CALLS.items():
        function = getattr(library, "op2jit_" + name)
        function.restype = KINDS[kinds[0]]
        function.argtypes = [KINDS[kind] for kind in kinds[2:]]
    library.op2jit_set_error_handler(ctypes.cast(library.op2jit_errors_return, c_void_p), None)
    return library


lib: Any = open_library()
#: OP_ID: the map of an argument that is the loop's own element.
IDENTITY = c_void_p(ctypes.addressof(c_char.in_dll(lib, "op2jit_identity_map")))

#: Types by NumPy's names, as the library and as C spell them.
TYPES = {
    "float64": "double",
    "float32": "float",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "bool": "bool",
    "int8": "char",
    "int16": "short",
}
DTYPES = {spelling: np.dtype(name) for name, spelling in TYPES.items()}


def type_of(dtype: Any) -> str:
    """The library's name of a NumPy type."""
    name = np.dtype(dtype).name
    if name not in TYPES:
        raise errors.make(
            "TYPE", f"values of NumPy's type {name} cannot be in a dat; expected one of {', '.join(TYPES)}"
        )
    return TYPES[name]


#: Exceptions of kernels that ran in Python: the library cannot carry them.
raised: List[BaseException] = []


def fail(place: Optional[errors.Place] = None) -> None:
    """Raises what the last call of this thread says."""
    record = lib.op2jit_last_error().contents
    if raised:
        problem = raised.pop()
        raised.clear()
        raise problem
    if record.code:
        message = record.message.decode(errors="replace")
        raise errors.Error(record.code, record.name.decode(), message, place or errors.caller())


def check(code: int) -> None:
    """Raises if a call failed."""
    if code:
        fail()


def handle(result: Optional[int]) -> int:
    """The handle that a call returned; raises if there is none."""
    if not result:
        fail()
        raise errors.make("INTERNAL", "a call returned no handle and no error")
    return result


def text(words: Any) -> bytes:
    """A text for C."""
    found: str = words if isinstance(words, str) else os.fspath(words)
    return found.encode()
