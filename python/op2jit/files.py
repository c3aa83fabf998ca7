"""Files: HDF5 in OP2's layout, and ParaView's."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Optional, Union

import numpy as np


from ._library import Values, check, handle, lib, text, type_of
from .dats import Dat
from .mesh import Map, Set

Path = Union[str, "os.PathLike[str]"]


def load_set(file: Path, name: str) -> Set:
    """The set whose size the dataset ``name`` says."""
    return Set._of(handle(lib.op2jit_decl_set_hdf5(text(file), text(name))), name)


def load_map(source: Set, target: Set, arity: int, file: Path, name: str) -> Map:
    """The map of the table ``name``."""
    found = handle(lib.op2jit_decl_map_hdf5(source.handle, target.handle, arity, text(file), text(name)))
    return Map._of(source, target, arity, found, name)


def load_dat(of: Set, dim: int, dtype: Any, file: Path, name: str) -> Dat:
    """The dat of the table ``name``."""
    found = handle(lib.op2jit_decl_dat_hdf5(of.handle, dim, text(type_of(dtype)), text(file), text(name)))
    return Dat._of(of, dim, dtype, found, name)


def load_const(file: Path, name: str, dim: int = 1, dtype: Any = np.float64) -> Values:
    """The values of ``name``."""
    out = np.empty(dim, dtype)
    check(lib.op2jit_get_const_hdf5(text(name), dim, text(type_of(dtype)), out.ctypes.data, text(file)))
    return out


def save_const(file: Path, name: str, value: Any) -> None:
    """Values into a new file or one that is there."""
    array = np.ascontiguousarray(value)
    kind = text(type_of(array.dtype))
    check(lib.op2jit_write_const_hdf5(text(name), array.size, kind, array.ctypes.data, text(file)))


def save(dat: Dat, file: Path, name: Optional[str] = None) -> None:
    """A dat into a new file or one that is there."""
    check(lib.op2jit_fetch_data_hdf5_file_path(dat.handle, text(file), text(name or dat.name)))


def dump(file: Path, *dats: Dat) -> None:
    """All sets and maps, and these dats, into a new file."""
    check(lib.op2jit_dump_to_hdf5(text(file)))
    for dat in dats:
        save(dat, file)


def write_vtk(path: Path, *dats: Dat, step: int = -1, time: Optional[float] = None) -> None:
    """Dats for ParaView, which opens PATH.xdmf; the first holds the coordinates of the points."""
    handles = (ctypes.c_void_p * len(dats))(*[dat.handle for dat in dats])
    if time is None:
        check(lib.op2jit_write_vtk(text(path), step, len(dats), handles))
    else:
        check(lib.op2jit_write_vtk_at(text(path), step, time, len(dats), handles))
