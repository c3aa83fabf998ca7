"""op2jit: loops over unstructured meshes, compiled while the program runs. docs/python.md is the manual."""

from __future__ import annotations

from ._library import INC, MAX, MIN, READ, RW, WORK, WRITE
from .errors import Error, KernelError
from .files import dump, write_vtk
from .kernels import Kernel, kernel
from .loops import Loop, par_loop
from .mesh import Arg, Map, Set, index
from .globals import Const, Global, info
from .dats import Dat
from .matrices import Mat, Sparsity
from .records import record
from .tasks import EVERY_RANK, Graph, Resource, Task
from .whole import dot
from .adjoint import Tape, adjoint_of, freeze, tangents, tape
from .order import partition, renumber
from .terminal import progress
from .reports import report
from .drawing import plot
from .life import (
    barrier, checkpoint, checkpoint_facts, checkpoint_keep, counters, exit, init, is_root, plan_check, rank, rank_count, runtime,
    say, timing_output,
)  # fmt: skip

__version__ = "0.1.0"
__all__ = [
    "Arg", "Const", "Dat", "EVERY_RANK", "Error", "Global", "Graph", "INC", "Kernel", "KernelError", "Loop", "MAX", "MIN", "Map", "Mat", "READ", "RW",
    "Resource", "Set", "Sparsity", "Tape", "Task",
    "WORK", "WRITE", "adjoint_of", "barrier", "checkpoint", "checkpoint_facts", "checkpoint_keep", "counters", "dot", "dump", "exit", "freeze", "index", "info", "init", "is_root", "kernel", "par_loop",
    "partition", "plan_check", "plot", "progress", "rank", "rank_count", "record", "renumber", "report", "runtime", "say",
    "tangents", "tape", "timing_output", "write_vtk",
]  # fmt: skip
