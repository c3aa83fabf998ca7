"""The bottom of a basin, found from the waves on its surface.

Gauges saw how high the water stood while a wave went through the basin. Which bottom explains that? A tape gives the
gradient of the misfit by the depth at every point, and SciPy's L-BFGS goes down. Without SciPy there is no answer, and
the status is 77.

Long waves on triangles: the surface stands at the points, the water flows in the triangles.
"""

import argparse
import sys

import numpy as np

import op2jit
from op2jit import INC, READ, RW, WRITE, Dat, Global, Map, Set, par_loop

STEPS, SPACING, SMOOTHING = 100, 4, 1e-5


def twice_area(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def slope_x(a, b, c, of_a, of_b, of_c):
    return (of_a * (b[1] - c[1]) + of_b * (c[1] - a[1]) + of_c * (a[1] - b[1])) / twice_area(a, b, c)


def slope_y(a, b, c, of_a, of_b, of_c):
    return (of_a * (c[0] - b[0]) + of_b * (a[0] - c[0]) + of_c * (b[0] - a[0])) / twice_area(a, b, c)


@op2jit.kernel
def share_out(x, area):
    for k in range(3):
        area[k][0] += twice_area(x[0], x[1], x[2]) / 6


@op2jit.kernel
def forget(gain):
    gain[0] = 0


@op2jit.kernel
def drive(x, surface, dt, flow):
    """Water runs down the slope of its surface."""
    flow[0] -= dt[0] * slope_x(x[0], x[1], x[2], surface[0][0], surface[1][0], surface[2][0])
    flow[1] -= dt[0] * slope_y(x[0], x[1], x[2], surface[0][0], surface[1][0], surface[2][0])


@op2jit.kernel
def carry(x, depth, flow, gain):
    """The deeper the water, the more of it moves."""
    mean = (depth[0][0] + depth[1][0] + depth[2][0]) / 3
    for k in range(3):
        after, before = (k + 1) % 3, (k + 2) % 3
        gain[k][0] += 0.5 * mean * (flow[0] * (x[after][1] - x[before][1]) + flow[1] * (x[before][0] - x[after][0]))


@op2jit.kernel
def rise(gain, area, dt, surface):
    surface[0] += dt[0] * gain[0] / area[0]


@op2jit.kernel
def note(surface, moment, seen):
    seen[moment[0]] = surface[0]


@op2jit.kernel
def compare(surface, moment, seen, misfit):
    misfit[0] += (surface[0] - seen[moment[0]]) ** 2


@op2jit.kernel
def smoothness(x, depth, misfit):
    """Of two bottoms that explain what was seen, the smoother one is meant."""
    along = slope_x(x[0], x[1], x[2], depth[0][0], depth[1][0], depth[2][0])
    across = slope_y(x[0], x[1], x[2], depth[0][0], depth[1][0], depth[2][0])
    misfit[0] += SMOOTHING * twice_area(x[0], x[1], x[2]) * (along * along + across * across)


def make_mesh(n):
    """n x n squares, each cut into two triangles, with the points inside moved a little."""
    k = np.arange((n + 1) ** 2)
    i, j = k % (n + 1), k // (n + 1)
    inside = 0.15 * ((i > 0) & (i < n) & (j > 0) & (j < n))
    x = np.stack([(i + inside * np.sin(12.9898 * k)) / n, (j + inside * np.sin(78.233 * k)) / n], axis=1)
    sw = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    corners = np.c_[sw, sw + 1, sw + n + 2, sw, sw + n + 2, sw + n + 1].reshape(-1, 3)
    gauges = np.flatnonzero((i % SPACING == SPACING // 2) & (j % SPACING == SPACING // 2))
    return x, corners, gauges


def hill(x, at, width):
    return np.exp(-((x - at) ** 2).sum(axis=1) / width**2)


class Basin:
    """All of it is declared on the first rank, and shared out."""

    def __init__(self, n, memory):
        self.memory = memory
        self.x, self.corners, self.gauges = make_mesh(n)
        x, corners, gauges = [part if op2jit.is_root() else part[:0] for part in (self.x, self.corners, self.gauges)]
        self.points, self.cells = Set(len(x), "points"), Set(len(corners), "cells")
        self.places = Set(len(gauges), "gauges")
        self.cp = Map(self.cells, self.points, corners, "corners", 3)
        self.at = Map(self.places, self.points, gauges, "at", 1)
        self.start = hill(self.x, (0.25, 0.3), 0.1)
        self.coords, self.area = Dat(self.points, x, name="x"), Dat(self.points, name="area")
        self.depth, self.surface, self.gain = (Dat(self.points, name=name) for name in ("depth", "surface", "gain"))
        self.flow, self.seen = Dat(self.cells, dim=2, name="flow"), Dat(self.places, dim=STEPS, name="seen")
        self.dt, self.moment, self.misfit = Global(0.4 / n), Global(0), Global(0.0, kept=True, name="misfit")
        op2jit.partition("block", self.points)
        par_loop(share_out, self.cells, self.coords(READ, self.cp), self.area(INC, self.cp))

    def begin(self, depth):
        count = self.points.size
        self.depth.put(depth[:count])
        self.surface.put(self.start[:count])
        self.flow.put(np.zeros((self.cells.size, 2)))
        self.misfit.value = 0.0

    def step(self, moment):
        x, dt = self.coords(READ, self.cp), self.dt(READ)
        self.moment.value = moment
        par_loop(forget, self.points, self.gain(WRITE))
        par_loop(drive, self.cells, x, self.surface(READ, self.cp), dt, self.flow(RW))
        par_loop(carry, self.cells, x, self.depth(READ, self.cp), self.flow(READ), self.gain(INC, self.cp))
        par_loop(rise, self.points, self.gain(READ), self.area(READ), dt, self.surface(RW))

    def observe(self, depth):
        """What the gauges see over this bottom."""
        self.begin(depth)
        for moment in range(STEPS):
            self.step(moment)
            par_loop(note, self.places, self.surface(READ, self.at[0]), self.moment(READ), self.seen(RW))

    def record(self, depth):
        self.begin(depth)
        with op2jit.tape(inputs=[self.depth], memory=self.memory) as tape:
            for moment in tape.steps(range(STEPS)):
                self.step(moment)
                seen = self.surface(READ, self.at[0]), self.moment(READ), self.seen(READ)
                par_loop(compare, self.places, *seen, self.misfit(INC))
            par_loop(smoothness, self.cells, self.coords(READ, self.cp), self.depth(READ, self.cp), self.misfit(INC))
        return tape

    def evaluate(self, depth):
        """The misfit of this bottom, and its gradient."""
        tape = self.record(depth)
        misfit, bar = self.misfit.value, self.depth.bar
        bar.put(np.zeros(self.points.size))
        self.misfit.bar.value = 1.0
        tape.reverse(last=True)
        tape.free()
        return misfit, of_first_rank(bar.fetch())


def of_first_rank(values):
    """SciPy runs on all ranks, with the same numbers: it takes the same steps everywhere."""
    if op2jit.rank_count() == 1:
        return values
    from mpi4py import MPI

    return MPI.COMM_WORLD.bcast(values)


def draw(basin, fields, file):
    """Depths beside one another."""
    import matplotlib.pyplot as pyplot

    levels = np.linspace(0.35, 1.25, 10)
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "bottom"})
    figure, axes = pyplot.subplots(1, len(fields), figsize=(3.2 * len(fields), 3.4), layout="constrained")
    for ax, (title, depth) in zip(axes, fields.items()):
        drawn = ax.tricontourf(*basin.x.T, basin.corners, depth, levels, cmap="YlGnBu", extend="both")
        ax.plot(*basin.x[basin.gauges].T, ".", color="black", markersize=2)
        ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    figure.colorbar(drawn, ax=axes, label="depth", ticks=levels[::3])
    figure.savefig(file, metadata={"Date": None} if file.endswith(".svg") else None)


def expect(what, value, most):
    op2jit.say(f"  {what:48} {value:10.3e}, at most {most:8.1e}: {'yes' if 0 <= value <= most else 'NO'}")
    return 0 <= value <= most


def check_gradient(basin, depth, gradient):
    """Along a line that no other number here knows of."""
    line, by = np.sin(7 * basin.x[:, 0]) + np.cos(5 * basin.x[:, 1]), 1e-4
    difference = (basin.evaluate(depth + by * line)[0] - basin.evaluate(depth - by * line)[0]) / (2 * by)
    return expect("gradient against a difference, relative", abs(gradient @ line - difference) / abs(difference), 1e-6)


def main(n, rounds, memory, file):
    from scipy.optimize import minimize

    basin = Basin(n, memory)
    true = 1 - 0.5 * hill(basin.x, (0.65, 0.6), 0.15) + 0.25 * hill(basin.x, (0.3, 0.75), 0.12)
    guess = np.ones(len(true))
    basin.observe(true)
    tape = basin.record(guess)
    good = expect("tangents against adjoints", tape.check(), 1e-12)
    op2jit.say("  the tape keeps {most} bytes at most, and ran {again} steps again".format(**tape.facts))
    tape.free()
    before, gradient = basin.evaluate(guess)
    good = check_gradient(basin, guess, gradient) and good
    found = minimize(basin.evaluate, guess, jac=True, method="L-BFGS-B", bounds=[(0.2, 2)] * len(guess),
                     options={"maxiter": rounds})  # fmt: skip
    op2jit.say(f"{len(guess)} depths from {len(basin.gauges)} gauges: misfit {before:.3e}, {found.fun:.3e} after "
               f"{found.nit} rounds with {found.nfev} gradients")  # fmt: skip
    good = expect("misfit, of that of the guess", found.fun / before, 1e-3) and good
    error = np.linalg.norm(found.x - true) / np.linalg.norm(guess - true)
    good = expect("error of the bottom, of that of the guess", error, 0.2) and good
    if file and op2jit.is_root():
        draw(basin, {"guess": guess, "found": found.x, "true": true}, file)
    return good


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--n", type=int, default=24, help="squares on a side")
    words.add_argument("--rounds", type=int, default=40, help="of L-BFGS")
    words.add_argument("--memory", help="of the tape, such as 500K; steps run again where it does not suffice")
    words.add_argument("--draw", metavar="FILE.svg")
    options, _ = words.parse_known_args()
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        print("skipped: there is no SciPy (Debian's python3-scipy)")
        sys.exit(77)
    with op2jit.runtime():
        good = main(options.n, options.rounds, options.memory, options.draw)
        op2jit.say("bottom:", "PASSED" if good else "FAILED")
    sys.exit(not good)
