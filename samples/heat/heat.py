"""The heat equation on a square plate, by explicit steps, as heat.c has it, with the same two checks."""

import argparse
import math
import sys

import numpy as np

import op2jit
from op2jit import INC, MAX, READ, WRITE

ALPHA, LENGTH = 0.1, 1000.0


@op2jit.kernel
def diffuse(u, near, following, r):
    following[0] = (1 - 4 * r[0]) * u[0] + r[0] * (near[0][0] + near[1][0] + near[2][0] + near[3][0])


@op2jit.kernel
def deviation(u, expected, squares, largest):
    difference = abs(u[0] - expected[0])
    squares[0] += difference * difference
    largest[0] = max(largest[0], difference)


class Plate:
    """n x n points, and one more that stands for all outside: it is its own neighbour, and stays at zero."""

    def __init__(self, n):
        self.n, self.dx = n, LENGTH / (n + 1)
        number = np.full((n + 2, n + 2), n * n, np.int32)
        number[1:-1, 1:-1] = np.arange(n * n, dtype=np.int32).reshape(n, n)
        sides = [number[1:-1, 2:], number[1:-1, :-2], number[2:, 1:-1], number[:-2, 1:-1]]
        near = np.stack([np.append(side, n * n) for side in sides], axis=1)
        count = len(near) if op2jit.is_root() else 0
        self.points = op2jit.Set(count, "points")
        self.near = op2jit.Map(self.points, self.points, near[:count], "near", 4)
        self.u, self.following = op2jit.Dat(self.points, self.hill(1), name="u"), op2jit.Dat(self.points, name="next")
        op2jit.partition("block", self.points)

    def hill(self, factor):
        wave = np.sin(math.pi * np.arange(1, self.n + 1) / (self.n + 1))
        return np.append(factor * np.outer(wave, wave), 0)[: self.points.size]

    def run(self, steps, r):
        factor = op2jit.Global(r)
        for _ in range(steps):
            near = self.u(READ, self.near)
            op2jit.par_loop(diffuse, self.points, self.u(READ), near, self.following(WRITE), factor(READ))
            self.u, self.following = self.following, self.u

    def error(self, factor):
        expected = op2jit.Dat(self.points, self.hill(factor))
        squares, largest = op2jit.Global(0.0), op2jit.Global(-math.inf)
        op2jit.par_loop(deviation, self.points, self.u(READ), expected(READ), squares(INC), largest(MAX))
        return math.sqrt(squares.value), math.nan if math.isnan(squares.value) else largest.value


def decay(time):
    return math.exp(-2 * ALPHA * math.pi**2 * time / LENGTH**2)


def expect(what, error, most):
    op2jit.say(f"  {what:48} {error:10.3e}, at most {most:8.1e}: {'yes' if 0 <= error <= most else 'NO'}")
    return 0 <= error <= most


def main(n, steps, dt, write):
    plate, dt = Plate(n), dt or 0.5 / steps
    r = ALPHA * dt / plate.dx**2
    plate.run(steps, r)
    op2jit.say(f"{n} x {n} points, {steps} steps of {dt:g}, r = {r:.4g}")
    op2jit.say("  against the solution of the equation: L2 %.6e, largest %.6e" % plate.error(decay(steps * dt)))
    discrete = math.exp(steps * math.log1p(-8 * r * math.sin(math.pi * plate.dx / (2 * LENGTH)) ** 2))
    good = expect("largest error against the discrete solution", plate.error(discrete)[1], 1e-12)
    if write:
        op2jit.files.save(plate.u, write, "u")
    before = 0.0
    for cells, steps in ((25, 50), (50, 200), (100, 800)):  # the error falls by four
        plate, dt = Plate(cells - 1), 160000 / steps
        plate.run(steps, ALPHA * dt / plate.dx**2)
        largest = plate.error(decay(160000))[1]
        if before:
            good = expect("order of convergence, from two", abs(math.log2(before / largest) - 2), 0.05) and good
        before = largest
    return good


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--n", type=int, default=1000)
    words.add_argument("--steps", type=int, default=10)
    words.add_argument("--dt", type=float, default=0.0)
    words.add_argument("--write", metavar="FILE.h5")
    options, _ = words.parse_known_args()
    with op2jit.runtime():
        good = main(options.n, options.steps, options.dt, options.write)
        op2jit.say("heat:", "PASSED" if good else "FAILED")
    sys.exit(not good)
