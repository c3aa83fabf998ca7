"""The library's dats and matrices behind those of Python, and when they are freed."""

from __future__ import annotations

from typing import Any, List, Optional, Set

from ._library import Values, check, lib
from .life import rank_count, state


class Store:
    """The library's dat or matrix, freed with the last object that can reach it. An argument keeps it, and not the Dat."""

    release: Any = staticmethod(lib.op2jit_free_dat_temp)
    __slots__ = ("handle", "generation", "set", "dim", "type", "name", "keys", "array", "__weakref__")

    def __init__(self, found: int, of: Any, dim: int, spelling: str, name: str) -> None:
        self.handle = found
        self.generation = state.generation
        self.set = of
        self.dim = dim
        self.type = spelling
        self.name = name
        self.keys: Set[Any] = set()  # of loops that were made for it
        self.array: Optional[Values] = None  # of a view

    def __repr__(self) -> str:
        return self.name

    def __del__(self) -> None:
        # Any thread may be here, at any time: the next call of the library frees it. Ranks collect garbage at
        # different times, so there everything stays until exit.
        if self.generation == state.generation and self.handle:
            state.garbage.append((self.release, self.handle))
            dropped.extend(self.keys)


#: Handles of dats that ``access`` is writing to: results of loops in them would be lost.
written: List[int] = []
state.at_exit.append(written.clear)
#: Loops whose dats are gone.
dropped: List[Any] = []


def sweep() -> None:
    """Free the dats and matrices that nobody has any more. Called before something new is declared."""
    while state.garbage and state.open and rank_count() == 1:
        release, found = state.garbage.pop()
        check(release(found))
        state.views.pop(found, None)
