"""A chain of tasks through the ranks, of a graph that each rank makes whole, or its part of."""

import sys

import numpy as np

import op2jit

STEPS = 9
op2jit.init()
mine, count, form = op2jit.rank(), op2jit.rank_count(), sys.argv[1]
for run in range(2):
    number, found = np.zeros(1), []
    graph = op2jit.Graph("chain", ranks=form)
    box = graph.resource("box", number, owner=0)

    def step(which, place=number):
        assert place[0] == which, (place, which)
        place[0] += 1

    task = None
    for i in range(STEPS):
        if form == "whole":
            task = graph.task(step, i, locks=[box], after=[task] if task else [], rank=i)
        elif i % count == mine:
            graph.task(step, i, locks=[box], key=i, after_keys=[i - 1] if i else [])
    if form == "whole":
        graph.task(lambda: found.append(number[0]), uses=[box], after=[task], rank=op2jit.EVERY_RANK)
    graph.run()
    assert graph.facts["ranks"] == count and (form == "parts" or found == [STEPS])
    assert mine or number[0] == STEPS, number
    if form == "whole":
        assert graph.simulate_ranks(3, 2, 1e-6, 1e9) > 0
    else:
        try:
            graph.task(step, 0, rank=mine + 1)
        except op2jit.Error as problem:
            assert "is to run on rank" in str(problem)
        else:
            raise AssertionError("a part took a task of another rank")
    graph.free()
    bad = op2jit.Graph("bad", ranks=form)

    def fail(times=[]):
        times.append(1)
        if len(times) % 2:
            raise ValueError("on one rank")

    if form == "whole" or mine == 1:
        bad.task(fail, rank=1)
    try:
        bad.run()
    except (ValueError if mine == 1 else op2jit.errors.CheckError) as problem:
        assert str(problem).endswith("on one rank"), problem
        assert mine == 1 or "ValueError" in str(problem)
    else:
        raise AssertionError("an exception of a task was not told on all ranks")
    bad.run()  # it may run again
    bad.free()
op2jit.exit()
print("done")
