"""Records: NumPy's types with fields, which are structs for kernels."""

from __future__ import annotations

import keyword
import zlib
from typing import Any, Dict, List, Set

import numpy as np

from . import errors
from ._library import DTYPES, KINDS, check, lib, text, type_of
from .life import state

#: Names that a program gave to layouts.
_named: Dict[Any, str] = {}
#: Names of records that the library knows since its last start.
_told: Set[str] = set()
state.at_exit.append(_told.clear)


def record(name: str, fields: Any) -> Any:
    """A NumPy type of values with names, such as ``record("state", [("rho", float), ("u", float, 2)])``.

    Dats and globals of it have a struct of that name for kernels in C, ``struct state *w``; a kernel in Python writes
    ``w[0].rho`` or ``w[0]["rho"]``. Without ``record`` any NumPy type with fields will do for Python. The values lie as
    those of a struct of C do.
    """
    found = aligned(np.dtype(fields))
    if not name.isidentifier() or keyword.iskeyword(name):
        raise errors.make("ARGUMENT", f"{name!r} is no name for a record; expected one like state")
    if not found.names:
        raise errors.make("TYPE", f"a record has fields with names, such as [('rho', float), ('u', float, 2)], not {found}")
    _named[found] = name
    return found


def aligned(dtype: Any) -> Any:
    """The type with its fields where C has them in a struct."""
    if not dtype.names:
        return dtype
    fields = []
    for name in dtype.names:
        of = dtype.fields[name][0]
        kind, shape = of.subdtype or (of, ())
        fields.append((name, kind.newbyteorder("="), shape) if shape else (name, kind.newbyteorder("=")))
    return np.dtype(fields, align=True)


def declared(dtype: Any) -> str:
    """The library's name of such a type, which it knows from now on."""
    from .translate.body import c_name

    found = aligned(dtype)
    rows: List[str] = []
    members = (KINDS["op2jit_member"] * len(found.names))()
    for member, field in zip(members, found.names):
        of, offset = found.fields[field][:2]
        kind, shape = of.subdtype or (of, ())
        if kind.names or len(shape) > 2:
            raise errors.make("TYPE", f"field {field} of a record is {of}; expected numbers, in up to two dimensions")
        spelling, word = type_of(kind), c_name(field)
        rows.append(f"{spelling} {word}{''.join(f'[{size}]' for size in shape)};")
        plain = spelling if len(shape) < 2 else ""  # of a second dimension the library knows the bytes
        member.name, member.type, member.offset, member.size = text(word), text(plain), offset, of.itemsize
    body = " ".join(rows)
    name: str = "struct " + (_named.get(found) or f"record_{zlib.crc32(body.encode()):08x}")
    if name not in _told:
        check(lib.op2jit_decl_type(text(name), found.itemsize, len(members), members))
        check(lib.op2jit_decl_prelude(text(f"{name} {{ {body} }};\n")))
        DTYPES[name] = found
        _told.add(name)
    return name
