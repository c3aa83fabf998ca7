"""Run by test_ranks.py on several ranks: COMM is world or half."""

import os
import sys

import numpy as np
from mpi4py import MPI

import op2jit
from op2jit import INC, MAX, READ, RW

world = MPI.COMM_WORLD
comm = world if sys.argv[1] == "world" else world.Split(world.rank % 2, world.rank)


@op2jit.kernel
def spread(value, a, b):
    a[0] += value[0]
    b[0] += 2 * value[0]


@op2jit.kernel
def look(x, number, largest, where, total):
    total[0] += x[0]
    if x[0] > largest[0]:
        largest[0] = x[0]
        where[0] = number[0]


def part(size, rank, ranks):
    return size * rank // ranks, size * (rank + 1) // ranks


with op2jit.runtime(comm=comm, diags=0):
    assert (op2jit.rank(), op2jit.rank_count()) == (comm.rank, comm.size)
    n = 101
    low, high = part(n, comm.rank, comm.size)
    nodes, edges = op2jit.Set(high - low, "nodes"), op2jit.Set(high - low, "edges")
    assert nodes.global_size == n and nodes.size == high - low
    mine = np.arange(low, high)
    ends = op2jit.Map(edges, nodes, np.stack([mine, (mine * 7 + 1) % n], axis=1), "ends")
    weights = np.sin(np.arange(n))
    x = op2jit.Dat(nodes, name="x")
    weight = op2jit.Dat(edges, weights[low:high], name="weight")
    op2jit.partition("block", nodes)
    for _ in range(3):
        temporary = op2jit.Dat(edges, weights[low:high])  # garbage at different times on different ranks
        if comm.rank == 0:
            del temporary
        op2jit.par_loop(spread, edges, weight(READ), x(INC, ends[0]), x(INC, ends[1]))
    expected = np.zeros(n)
    for _ in range(3):
        np.add.at(expected, np.arange(n), weights)
        np.add.at(expected, (np.arange(n) * 7 + 1) % n, 2 * weights)
    assert np.allclose(x.fetch(), expected[low:high], rtol=1e-13, atol=1e-13)
    largest, where, total = op2jit.Global(-1e9), op2jit.Global(-1), op2jit.Global(0.0)
    op2jit.par_loop(look, nodes, x(READ), op2jit.index(), largest(MAX), op2jit.info(where, largest), total(INC))
    assert where.value == expected.argmax() and np.isclose(total.value, expected.sum())
    temporary = op2jit.Dat(nodes)
    temporary.free()
    if os.environ.get("OP2_BACKEND") != "native":
        loop = op2jit.Loop(look, nodes, x, op2jit.index(), largest, op2jit.info(where, largest), total)
        assert loop.accesses[2] == "MAX" and loop.accesses[4] == "INC"
    try:
        op2jit.Map(edges, nodes, np.full((high - low, 1), n if comm.rank == comm.size - 1 else 0))
        assert False, "a map with a wrong entry on one rank was accepted"
    except op2jit.Error as error:
        assert error.name == "OP_ERR_MAP_RANGE", error  # on all ranks
    assert op2jit.report().data["ranks"] == comm.size
    if sys.argv[2:] == ["mismatch"] and comm.rank == 0:
        op2jit.Set(-1)  # the other ranks declare nothing, and wait at the barrier
    if sys.argv[2:] == ["fail"] and comm.rank == 0:
        raise ValueError("of one rank alone")
    op2jit.barrier()
print("rank", world.rank, "done", flush=True)
