"""Run by test_petsc.py on several ranks: vectors are in the memory of dats, with room for copies behind; loops work in that
of PETSc's vectors; a matrix is solved with by both ways."""

import numpy as np
import test_petsc

import op2jit

with op2jit.runtime(diags=0):
    chain = test_petsc.Chain()
    chain.assemble()
    with chain.x.vec as v, v.localForm() as with_copies:
        assert with_copies.getLocalSize() > v.getLocalSize() == test_petsc.N // op2jit.rank_count()
    expected = np.linalg.solve(chain.dense(), np.sin(np.arange(test_petsc.N)))
    test_petsc.solve_by(test_petsc.Product(chain), chain)
    assert np.allclose(chain.x.fetch(), expected[: chain.nodes.size], rtol=1e-9)
    chain.x.put(0.0)
    chain.k.solve(chain.b, chain.x)
    assert np.allclose(chain.x.fetch(), expected[: chain.nodes.size], rtol=1e-3)
    offsets, columns, values = chain.k.fetch()
    assert len(offsets) == chain.nodes.size + 1 and (len(values) > 0) == op2jit.is_root()
    chain.k.free()
print("rank done", flush=True)
