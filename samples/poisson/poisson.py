"""Poisson's equation on tetrahedra, as poisson.c has it, with the solver in Python's hands: petsc4py's, if it is there.

A loop over tetrahedra makes the matrix, and petsc4py's conjugate gradients with multigrid solve with it, in the memory
of the dats. Options choose others: -poisson_pc_type hypre. Without petsc4py there is no answer, and the status is 77.
"""

import argparse
import itertools
import math
import os
import sys

import numpy as np

import op2jit
from op2jit import INC, MAX, READ, RW, WRITE


def solution(p):
    """The solution that is known: -laplace u = 4 u, and du/dz = u."""
    return math.sin(2 * p[0]) * math.cos(p[1]) * math.exp(p[2])


@op2jit.kernel
def start(x, fixed, given, u):
    given[0] = solution(x) if fixed[0] else 0.0
    u[0] = given[0]


@op2jit.kernel
def assemble(x, given, k, b):
    """A tetrahedron's matrix and right-hand side, linear functions. What given values contribute is on the right."""
    edge, slope, load = np.empty((3, 3)), np.zeros((4, 3)), np.empty(4)
    for i in range(9):
        edge[i // 3, i % 3] = x[i // 3 + 1, i % 3] - x[0, i % 3]
    for i in range(3):
        for d in range(3):
            p, q, r, s = (i + 1) % 3, (i + 2) % 3, (d + 1) % 3, (d + 2) % 3
            slope[i + 1, d] = edge[p, r] * edge[q, s] - edge[p, s] * edge[q, r]
    det = edge[0, 0] * slope[1, 0] + edge[0, 1] * slope[1, 1] + edge[0, 2] * slope[1, 2]
    for d in range(3):
        for i in range(1, 4):
            slope[i, d] /= det
            slope[0, d] -= slope[i, d]
    volume, total = abs(det) / 6, 0.0
    for i in range(4):
        load[i] = 4 * solution(x[i])
        total += load[i]
    for i in range(4):
        b[i, 0] += volume / 20 * (total + load[i])
        for j in range(4):
            k[i, j] = volume * (slope[i, 0] * slope[j, 0] + slope[i, 1] * slope[j, 1] + slope[i, 2] * slope[j, 2])
            b[i, 0] -= k[i, j] * given[j, 0]


@op2jit.kernel
def flow(x, b):
    area = abs((x[1, 0] - x[0, 0]) * (x[2, 1] - x[0, 1]) - (x[1, 1] - x[0, 1]) * (x[2, 0] - x[0, 0])) / 2
    sign, total = 1.0 if x[0, 2] > 0.5 else -1.0, solution(x[0]) + solution(x[1]) + solution(x[2])
    for i in range(3):
        b[i, 0] += sign * area / 12 * (total + solution(x[i]))


@op2jit.kernel
def put_given(fixed, given, b):
    if fixed[0]:
        b[0] = given[0]


@op2jit.kernel
def compare(x, u, error):
    error[0] = max(error[0], abs(u[0] - solution(x)))


def make_mesh(n):
    """Places of nodes; tetrahedra, six in each cube; triangles of the floor and the ceiling; nodes of the walls."""
    k, j, i = np.mgrid[: n + 1, : n + 1, : n + 1].reshape(3, -1)
    steps, flat = [1, n + 1, (n + 1) ** 2], np.add.outer(np.arange(n) * (n + 1), np.arange(n)).ravel()
    first = np.add.outer(np.arange(n) * steps[2], flat).ravel()
    cells = [np.add.outer(first, np.cumsum([0, *order])) for order in itertools.permutations(steps)]
    faces = [flat[:, None] + k * steps[2] + [0, s, n + 2] for k in (0, n) for s in steps[:2]]
    return np.stack([i, j, k], 1) / n, np.concatenate(cells), np.concatenate(faces), np.int32(i % n * (j % n) == 0)


def solve(n, PETSc):
    """The largest error, and the iterations. The first process declares everything, and partition shares it out."""
    place, tetrahedra, triangles, walls = (part if op2jit.is_root() else part[:0] for part in make_mesh(n))
    nodes, cells, faces = (op2jit.Set(len(part)) for part in (place, tetrahedra, triangles))
    cell, face = op2jit.Map(cells, nodes, tetrahedra, "cell", 4), op2jit.Map(faces, nodes, triangles, "face", 3)
    x, fixed = op2jit.Dat(nodes, place, 3, name="x"), op2jit.Dat(nodes, walls, name="fixed")
    given, b, u = (op2jit.Dat(nodes, name=name) for name in ("given", "b", "u"))
    op2jit.partition("rcb", cells, coords=x)
    k, error = op2jit.Mat((cell, cell), name="k"), op2jit.Global(0.0)
    k.fix(fixed, fixed)
    op2jit.par_loop(start, nodes, x(READ), fixed(READ), given(WRITE), u(WRITE))
    op2jit.par_loop(assemble, cells, x(READ, cell), given(READ, cell), k(INC, (cell, cell)), b(INC, cell))
    op2jit.par_loop(flow, faces, x(READ, face), b(INC, face))
    op2jit.par_loop(put_given, nodes, fixed(READ), given(READ), b(RW))
    solver = PETSc.KSP().create(k.petsc.comm)
    solver.setOperators(k.petsc)
    solver.setOptionsPrefix("poisson_")
    solver.setInitialGuessNonzero(True)
    solver.setFromOptions()
    with b.vec_ro as right, u.vec as left:
        solver.solve(right, left)
    op2jit.par_loop(compare, nodes, x(READ), u(READ), error(MAX))
    e, found = error.value, solver.getIterationNumber()
    op2jit.say(f"{6 * n**3} tetrahedra, {(n + 1) ** 3} nodes: largest error {e:.5e}, {found} iterations")
    return e, found


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--n", type=int, default=16)
    n = words.parse_known_args()[0].n
    os.environ.setdefault("PETSC_OPTIONS", "-poisson_ksp_type cg -poisson_pc_type gamg -poisson_ksp_rtol 1e-9")
    try:
        import petsc4py

        petsc4py.init(sys.argv)
        from petsc4py import PETSc
    except ImportError:
        print("poisson needs petsc4py (Debian: python3-petsc4py)")
        sys.exit(77)
    with op2jit.runtime():
        (coarse, few), (fine, many) = solve(n // 2, PETSc), solve(n, PETSc)
        order = math.log2(coarse / fine)
        good = abs(order - 2) <= 0.2 and many <= 1.7 * few
        op2jit.say(f"order of convergence {order:.3f}, from 1.8 to 2.2; iterations {many} by {few}, at most 1.7 times")
        op2jit.say("poisson:", "PASSED" if good else "FAILED")
    sys.exit(not good)
