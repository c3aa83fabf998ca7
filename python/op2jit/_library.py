"""The C library as ctypes sees it: where it is, what it exports, and how its errors become exceptions."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import POINTER, Structure, c_char, c_char_p, c_double, c_int, c_longlong, c_short, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np
from numpy.typing import NDArray

from . import errors, words

#: An array of NumPy.
Values = NDArray[Any]


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
    """Open the library. Errors come back, and loops may wait for one another."""
    path = find_library()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as problem:
        raise errors.make(
            "FILE",
            f"libop2jit cannot be opened: {problem}; in a clone, build it (./dev build); elsewhere install the wheel that "
            "carries it, or name its file in OP2JIT_LIBRARY",
        ) from problem
    library.op2jit_declarations.restype = c_char_p
    library.op2jit_set_error_handler(ctypes.cast(library.op2jit_errors_later, c_void_p), None)
    return library


lib: Any = open_library()
#: Declarations of the headers, as the library knows them: calls, structs, numbers.
DECLARED: Dict[str, Dict[str, Any]] = json.loads(lib.op2jit_declarations())
errors.codes.update(DECLARED["numbers"])

ACCESS_NAMES: List[str] = [name[len("OP_") :] for name in DECLARED["enums"]["op_access"]]
READ, WRITE, RW, INC, MIN, MAX, WORK = (DECLARED["numbers"]["OP_" + name] for name in ACCESS_NAMES)
#: An access that is to be found by looking at the kernel.
UNSAID: int = DECLARED["numbers"]["OP_UNSAID"]

#: Kinds of results, arguments and members, as ctypes has them.
KINDS: Dict[str, Any] = {
    "int": c_int,
    "long long": c_longlong,
    "short": c_short,
    "char": c_char,
    "double": c_double,
    "size_t": c_size_t,
    "text": c_char_p,
    "pointer": c_void_p,
    "void": None,
}
for _name, _members in DECLARED["structs"].items():
    _fields = [(member, KINDS[kind] * count if count > 1 else KINDS[kind]) for member, kind, count in _members]
    KINDS[_name] = type(_name, (Structure,), {"_fields_": _fields})
    KINDS[_name + " *"] = POINTER(KINDS[_name])
for _name, (_result, *_arguments) in DECLARED["calls"].items():
    _function = getattr(lib, "op2jit_" + _name)
    _function.restype = c_void_p if _result == "text" else KINDS[_result]  # of a text the address counts
    _function.argtypes = [KINDS[kind] for kind in _arguments]

#: An argument of a loop: made by the library, and only carried about here.
Argument: Any = KINDS["op_arg"]
COUNTERS: List[str] = [member for member, _, _ in DECLARED["structs"]["op_counters_t"] if member != "reserved"]
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
    if np.dtype(dtype).names:
        from .records import declared

        return declared(np.dtype(dtype))
    name = np.dtype(dtype).name
    if name not in TYPES:
        raise errors.make(
            "TYPE", f"values of NumPy's type {name} cannot be in a dat; expected one of {', '.join(TYPES)}"
        )
    return TYPES[name]


#: Exceptions of kernels that ran in Python: the library cannot carry them.
raised: List[BaseException] = []


def fail(place: Optional[errors.Place] = None, said: Optional[errors.Place] = None) -> None:
    """Raises what the last call of this thread says; ``said`` is the place that the library was told, if it is another."""
    record = lib.op2jit_last_error().contents
    if raised:
        problem = raised.pop()
        raised.clear()
        raise problem
    if record.code:
        name = record.name.decode()
        message = words.in_python(name, record.message.decode(errors="replace"))
        if place and said and message.startswith("%s:%d: " % said):
            message = "%s:%d: " % place + message[len("%s:%d: " % said) :]
        raise errors.made(record.code, name, message, place)


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
