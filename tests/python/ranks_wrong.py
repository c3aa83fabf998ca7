"""Run by test_ranks.py on two ranks: what goes wrong there has words of Python. WORD says what."""

import sys

import numpy as np
from mpi4py import MPI

import op2jit

with op2jit.runtime(comm=MPI.COMM_WORLD, diags=0):
    root = op2jit.is_root()
    nodes = op2jit.Set(3 if root else 0, "nodes")
    if sys.argv[1] == "arity":
        op2jit.Map(nodes, nodes, [[0], [1], [2]] if root else [], "next")
    x = op2jit.Dat(nodes, np.ones(nodes.size), name="x")
    if sys.argv[1] == "report" and root:
        op2jit.report()
    if sys.argv[1] == "petsc" and root:
        with x.vec:
            pass
    x.fetch()
    op2jit.barrier()
