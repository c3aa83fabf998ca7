"""The order of elements, and who owns them."""

from __future__ import annotations

from typing import Optional

from ._library import check, lib, text
from .dats import Dat
from .mesh import Map, Set


def renumber(base: Map, method: str = "rcm", coords: Optional[Dat] = None) -> None:
    """Bring neighbours near in memory: "rcm", "hilbert" or "rcb". The program keeps its own numbers."""
    check(lib.op2jit_renumber_by(text(method), base.handle, coords.handle if coords else None))


def partition(
    library: str, prime: Set, map: Optional[Map] = None, coords: Optional[Dat] = None, method: str = ""
) -> None:
    """Share all sets out over the ranks: "ptscotch", "rcb", "inertial", "diffusive", "block", "random", "external"."""
    way, where = map.handle if map else None, coords.handle if coords else None
    check(lib.op2jit_partition(text(library), text(method), prime.handle, way, where))
