"""Transport of a scalar by a flow on triangles, by finite volumes with a limiter, as transport.c has it."""

import argparse
import math
import sys

import numpy as np

import op2jit
from op2jit import INC, MAX, MIN, READ, RW, WRITE, Dat, Global, Map, Set, par_loop

WALL, INFLOW, OUTFLOW = range(3)


def stream(at):
    return at[0] * at[1]


def inflow(at):
    return 1 + 0.5 * math.sin(2 * math.pi * stream(at))


def exact(at, gone):
    x, y = at[0] * math.exp(-gone), at[1] * math.exp(gone)
    r = math.hypot(x - 0.35, y - 0.6) / 0.3
    bump = math.cos(0.5 * math.pi * r) ** 2
    return inflow(at) + (bump * bump if r < 1 else 0.0)


def at_middle(a, b, centre, c, gradient):
    """The value of a cell at the middle of the side from a to b."""
    return c[0] + gradient[0] * (0.5 * (a[0] + b[0]) - centre[0]) + gradient[1] * (0.5 * (a[1] + b[1]) - centre[1])


@op2jit.kernel
def geometry(x, centre, area):
    centre[0] = (x[0][0] + x[1][0] + x[2][0]) / 3
    centre[1] = (x[0][1] + x[1][1] + x[2][1]) / 3
    area[0] = 0.5 * ((x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[1][1] - x[0][1]) * (x[2][0] - x[0][0]))


@op2jit.kernel
def fill(centre, c):
    c[0] = exact(centre, 0.0)


@op2jit.kernel
def courant(x, area, strength, rate):
    """How often a second the flow replaces what is in a cell."""
    out = 0.0
    for side in range(3):
        out += max(strength[0] * (stream(x[(side + 1) % 3]) - stream(x[side])), 0.0)
    rate[0] = max(rate[0], out / area[0])


@op2jit.kernel
def weigh(x, centre, moments):
    for k in range(3):
        dx, dy = centre[0] - x[k][0], centre[1] - x[k][1]
        moments[k][0] += 1
        moments[k][1] += dx
        moments[k][2] += dy
        moments[k][3] += dx * dx
        moments[k][4] += dx * dy
        moments[k][5] += dy * dy


@op2jit.kernel
def forget(sums):
    sums[0], sums[1], sums[2] = 0, 0, 0


@op2jit.kernel
def gather(x, centre, c, sums):
    for k in range(3):
        sums[k][0] += c[0]
        sums[k][1] += c[0] * (centre[0] - x[k][0])
        sums[k][2] += c[0] * (centre[1] - x[k][1])


@op2jit.kernel
def extremes(c, near, bounds):
    bounds[0] = min(c[0], near[0][0], near[1][0], near[2][0])
    bounds[1] = max(c[0], near[0][0], near[1][0], near[2][0])


@op2jit.kernel
def reconstruct(x, m, s, centre, c, bounds, gradient):
    """The gradient, and as much of it as makes no value at the middle of a side that is beyond all values around."""
    xx, xy, yy, xc, yc, share = 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    for k in range(3):
        px, py = x[k][0] - centre[0], x[k][1] - centre[1]
        xx += m[k][3] + 2 * px * m[k][1] + m[k][0] * px * px
        xy += m[k][4] + px * m[k][2] + py * m[k][1] + m[k][0] * px * py
        yy += m[k][5] + 2 * py * m[k][2] + m[k][0] * py * py
        xc += s[k][1] + px * s[k][0] - c[0] * (m[k][1] + m[k][0] * px)
        yc += s[k][2] + py * s[k][0] - c[0] * (m[k][2] + m[k][0] * py)
    inverse = 1 / (xx * yy - xy * xy)
    gradient[0] = inverse * (yy * xc - xy * yc)
    gradient[1] = inverse * (xx * yc - xy * xc)
    least, most = min(bounds[0][0], bounds[1][0], bounds[2][0]), max(bounds[0][1], bounds[1][1], bounds[2][1])
    for side in range(3):
        rise = at_middle(x[side], x[(side + 1) % 3], centre, c, gradient) - c[0]
        room = most - c[0] if rise > 0 else least - c[0]
        if abs(rise) > abs(room):
            share = min(share, room / rise)
    gradient[0] *= share
    gradient[1] *= share


@op2jit.kernel
def flux(a, b, centre1, centre2, c1, c2, gradient1, gradient2, strength, gain1, gain2):
    volume = strength[0] * (stream(b) - stream(a))
    value1, value2 = at_middle(a, b, centre1, c1, gradient1), at_middle(a, b, centre2, c2, gradient2)
    gain1[0] -= volume * (value1 if volume > 0 else value2)
    gain2[0] += volume * (value1 if volume > 0 else value2)


@op2jit.kernel
def boundary(kind, a, b, centre, c, gradient, strength, gain, left):
    volume = strength[0] * (stream(b) - stream(a))
    if kind[0] == WALL:
        return
    middle = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]
    moved = volume * (inflow(middle) if kind[0] == INFLOW else at_middle(a, b, centre, c, gradient))
    gain[0] -= moved
    left[0] += moved


@op2jit.kernel
def advance(old, area, dt, weight, c, gain):
    c[0] = (1 - weight[0]) * old[0] + weight[0] * (c[0] + dt[0] * gain[0] / area[0])
    gain[0] = 0


@op2jit.kernel
def save(c, old):
    old[0] = c[0]


@op2jit.kernel
def measure(c, centre, area, gone, mass, error, least, most):
    mass[0] += area[0] * c[0]
    error[0] += area[0] * abs(c[0] - exact(centre, gone[0]))
    least[0] = min(least[0], c[0])
    most[0] = max(most[0], c[0])


def make_mesh(n):
    """n x n squares, each cut into two triangles, with the points inside moved a little."""
    k = np.arange((n + 1) ** 2)
    i, j = k % (n + 1), k // (n + 1)
    inside = 0.2 * ((i > 0) & (i < n) & (j > 0) & (j < n))
    x = np.stack([(i + inside * np.sin(12.9898 * k)) / n, (j + inside * np.sin(78.233 * k)) / n], axis=1)
    sw = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    se, nw, ne = sw + 1, sw + n + 1, sw + n + 2
    falling = ((np.arange(n)[:, None] + np.arange(n)) % 2 == 1).ravel()[:, None]
    corners = np.where(falling, np.c_[sw, se, nw, se, ne, nw], np.c_[sw, se, ne, sw, ne, nw]).reshape(-1, 3)
    a, b, cell = corners.ravel(), np.roll(corners, -1, axis=1).ravel(), np.repeat(np.arange(len(corners)), 3)
    side_of = {(p, q): s for s, (p, q) in enumerate(zip(a.tolist(), b.tolist()))}
    other = np.array([side_of.get((q, p), -1) for p, q in zip(a.tolist(), b.tolist())])
    inner, outer = np.flatnonzero((other >= 0) & (other < np.arange(len(a)))), np.flatnonzero(other < 0)
    near = np.where(other >= 0, cell[other], cell).reshape(-1, 3)
    middle = 0.5 * (x[a[outer]] + x[b[outer]])
    kind = np.where(middle[:, 1] == 1, INFLOW, np.where(middle[:, 0] == 1, OUTFLOW, WALL)).astype(np.int32)
    return x, corners, near, np.c_[a, b][inner], np.c_[cell, cell[other]][inner], np.c_[a, b][outer], cell[outer], kind


class Transport:
    def __init__(self, n):
        parts = make_mesh(n)
        x, corners, near, edge, both, side, inside, kind = parts if op2jit.is_root() else [part[:0] for part in parts]
        self.nodes, self.cells, self.edges, self.sides = (Set(len(part)) for part in (x, corners, edge, side))
        self.cn, self.cc = Map(self.cells, self.nodes, corners), Map(self.cells, self.cells, near)
        self.en, self.ec = Map(self.edges, self.nodes, edge), Map(self.edges, self.cells, both)
        self.sn, self.sc = Map(self.sides, self.nodes, side), Map(self.sides, self.cells, inside, arity=1)
        self.x, self.kind = Dat(self.nodes, x, name="x"), Dat(self.sides, kind, name="kind")
        self.moments, self.sums = Dat(self.nodes, dim=6), Dat(self.nodes, dim=3)
        self.centre, self.bounds, self.gradient = (Dat(self.cells, dim=2) for _ in range(3))
        self.c, self.area, self.gain, self.old = (Dat(self.cells, name=name) for name in ("c", "area", "gain", "old"))
        self.strength, self.left, self.rate, self.dt, self.weight = (Global(0.0) for _ in range(5))
        op2jit.partition("rcb", self.cells, self.cn, self.x)
        par_loop(geometry, self.cells, self.x(READ, self.cn), self.centre(WRITE), self.area(WRITE))
        par_loop(weigh, self.cells, self.x(READ, self.cn), self.centre(READ), self.moments(INC, self.cn))
        par_loop(fill, self.cells, self.centre(READ), self.c(WRITE))

    def rates(self, time, dt, weight):
        """A stage: what flows in and out of all cells; returns what leaves the square in a second."""
        x, c, centre, gradient, f, gain = self.x, self.c, self.centre, self.gradient, self.strength, self.gain
        cells, cn, cc, en, ec, sn, sc = self.cells, self.cn, self.cc, self.en, self.ec, self.sn, self.sc
        self.strength.value, self.left.value, self.dt.value, self.weight.value = strength_at(time), 0, dt, weight
        par_loop(forget, self.nodes, self.sums(WRITE))
        par_loop(gather, cells, x(READ, cn), centre(READ), c(READ), self.sums(INC, cn))
        par_loop(extremes, cells, c(READ), c(READ, cc), self.bounds(WRITE))
        par_loop(reconstruct, cells, x(READ, cn), self.moments(READ, cn), self.sums(READ, cn), centre(READ), c(READ),
                 self.bounds(READ, cc), gradient(WRITE))  # fmt: skip
        two = [dat(READ, ec[side]) for dat in (centre, c, gradient) for side in range(2)]
        par_loop(flux, self.edges, x(READ, en[0]), x(READ, en[1]), *two, f(READ), *[gain(INC, ec[k]) for k in (0, 1)])
        par_loop(boundary, self.sides, self.kind(READ), x(READ, sn[0]), x(READ, sn[1]), centre(READ, sc[0]),
                 c(READ, sc[0]), gradient(READ, sc[0]), f(READ), gain(INC, sc[0]), self.left(INC))  # fmt: skip
        par_loop(advance, cells, self.old(READ), self.area(READ), self.dt(READ), self.weight(READ), c(RW), gain(RW))
        return self.left.value

    def step(self, time, end):
        """By Heun's method; returns its length, and what left the square."""
        self.rate.value, self.strength.value = 0, strength_at(time)
        par_loop(courant, self.cells, self.x(READ, self.cn), self.area(READ), self.strength(READ), self.rate(MAX))
        dt = min(0.3 / self.rate.value, end - time)
        par_loop(save, self.cells, self.c(READ), self.old(WRITE))
        return dt, 0.5 * dt * (self.rates(time, dt, 1) + self.rates(time + dt, dt, 0.5))

    def measure(self, gone):
        found = [Global(value) for value in (gone, 0.0, 0.0, math.inf, -math.inf)]
        par_loop(measure, self.cells, self.c(READ), self.centre(READ), self.area(READ),
                 *[of(access) for of, access in zip(found, (READ, INC, INC, MIN, MAX))])  # fmt: skip
        return [of.value for of in found[1:]]


def strength_at(time):
    return 1 + 0.5 * math.sin(2 * math.pi * time)


def check(what, value, low, high):
    op2jit.say(f"  {what:46} {value:12.5e} in {low:9.2e} .. {high:9.2e}: {'yes' if low <= value <= high else 'NO'}")
    return low <= value <= high


def main(n, end, vtk):
    flow, time, left, steps = Transport(n), 0.0, 0.0, 0
    mass = flow.measure(0.0)[0]
    while time < end:
        dt, out = flow.step(time, end)
        time, left, steps = (time + dt if dt < end - time else end), left + out, steps + 1
        if vtk and steps % 10 == 0:
            op2jit.write_vtk(vtk, flow.x, flow.c, step=steps // 10, time=time)
    now, error, least, most = flow.measure(time + 0.25 / math.pi * (1 - math.cos(2 * math.pi * time)))
    op2jit.say(f"  {steps} steps, mass {now:.12f}, error {error:.3e}")
    good = check("mass that is not accounted for", abs(now + left - mass), 0, 1e-11)
    good = check("mean error against the exact solution, in h*h", error * flow.cells.global_size, 0, 12) and good
    return check("least value", least, 0.5, 1.5) and check("largest value", most, 1, 2.5) and good


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    for name, kind, default in (("--n", int, 60), ("--end", float, 0.4), ("--vtk", str, None)):
        words.add_argument(name, type=kind, default=default)
    with op2jit.runtime():
        good = main(**vars(words.parse_known_args()[0]))
        op2jit.say("transport:", "PASSED" if good else "FAILED")
    sys.exit(not good)
