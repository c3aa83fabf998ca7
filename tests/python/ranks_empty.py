"""Run by test_ranks.py on several ranks: the first one declares all, the others nothing."""

from mpi4py import MPI

import op2jit
from op2jit import INC, READ, RW

with op2jit.runtime(comm=MPI.COMM_WORLD, diags=0):
    root = op2jit.is_root()
    nodes, edges = op2jit.Set(4 if root else 0), op2jit.Set(3 if root else 0)
    ends = op2jit.Map(edges, nodes, [[0, 1], [1, 2], [2, 3]] if root else [], "ends", arity=2)
    @op2jit.kernel
    def count(w, a, b):
        a[0] += w[0]
        b[0] += w[0]

    w, x = op2jit.Dat(edges, [1.0, 2, 3] if root else []), op2jit.Dat(nodes)
    op2jit.par_loop(count, edges, w(READ), x(INC, ends[0]), x(INC, ends[1]))
    assert x.fetch().tolist() == ([1, 3, 5, 3] if root else [])
    x += 1
    assert x.norm() == (4 + 16 + 36 + 16) ** 0.5
    g = op2jit.Global(0.0)
    for i in range(60):  # the report of rank 0 needs more room than that of the others, which ask again as well
        few = op2jit.Set(10 if root else 0, f"set {i}")
        op2jit.par_loop(count, few, op2jit.Dat(few)(READ), g(INC), op2jit.Dat(few)(RW))
    op2jit.report()
    op2jit.barrier()
    op2jit.say("done")
