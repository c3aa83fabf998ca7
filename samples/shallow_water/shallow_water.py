"""Shallow water: the benchmark of the National Center for Atmospheric Research, as shallow_water.c has it."""

import argparse
import math
import sys

import numpy as np

import op2jit
from op2jit import READ, RW, WRITE

MEAN = 50000.0
DT, DX, SMOOTHING = 90.0, 1e5, 0.001
EAST, WEST, NORTH, SOUTH, NORTH_WEST, SOUTH_EAST, SOUTH_WEST = range(7)
OFFSETS = [(1, 0), (-1, 0), (0, 1), (0, -1), (-1, 1), (1, -1), (-1, -1)]
#: rms of p - 50000, and u at (n/4, n/4), of the benchmark on n x n points.
KNOWN = {
    (64, 1): (2.409571558691376e-01, 9.608196604636533e-02),
    (64, 100): (2.440642611721077e-01, 9.592004549360561e-02),
    (64, 4000): (2.396412450552056e-01, 9.621939642604713e-02),
    (128, 100): (6.028021275361733e-02, 2.410065519092905e-02),
    (1024, 200): (9.412290067640175e-04, 3.765179967365940e-04),
}


@op2jit.kernel
def fluxes(p, p_w, p_s, p_sw, u, u_s, u_e, v, v_w, v_n, cu, cv, z, h, fsdx, fsdy):
    cu[0] = 0.5 * (p[0] + p_w[0]) * u[0]
    cv[0] = 0.5 * (p[0] + p_s[0]) * v[0]
    z[0] = (fsdx[0] * (v[0] - v_w[0]) - fsdy[0] * (u[0] - u_s[0])) / (p_sw[0] + p_s[0] + p[0] + p_w[0])
    h[0] = p[0] + 0.25 * (u_e[0] * u_e[0] + u[0] * u[0] + v_n[0] * v_n[0] + v[0] * v[0])


@op2jit.kernel
def leap(z, z_n, z_e, cv, cv_n, cv_nw, cv_w, cu, cu_e, cu_s, cu_se, h, h_w, h_s, uold, vold, pold, unew, vnew, pnew,
         t8, tx, ty):  # fmt: skip
    unew[0] = uold[0] + t8[0] * (z_n[0] + z[0]) * (cv_n[0] + cv_nw[0] + cv_w[0] + cv[0]) - tx[0] * (h[0] - h_w[0])
    vnew[0] = vold[0] - t8[0] * (z_e[0] + z[0]) * (cu_e[0] + cu[0] + cu_s[0] + cu_se[0]) - ty[0] * (h[0] - h_s[0])
    pnew[0] = pold[0] - tx[0] * (cu_e[0] - cu[0]) - ty[0] * (cv_n[0] - cv[0])


@op2jit.kernel
def smooth(u, v, p, uold, vold, pold, unew, vnew, pnew, alpha):
    uold[0] = u[0] + alpha[0] * (unew[0] - 2 * u[0] + uold[0])
    vold[0] = v[0] + alpha[0] * (vnew[0] - 2 * v[0] + vold[0])
    pold[0] = p[0] + alpha[0] * (pnew[0] - 2 * p[0] + pold[0])
    u[0], v[0], p[0] = unew[0], vnew[0], pnew[0]


def initial(m, n):
    """Velocities are differences of a stream function. The benchmark's pi is a single-precision number."""
    a, pi = 1e6, 4 * float(np.arctan(np.float32(1)))
    di, dj = 2 * pi / m, 2 * pi / n
    i, j = np.arange(m + 1)[:, None], np.arange(n + 1)
    psi = a * np.sin((i + 0.5) * di) * np.sin((j + 0.5) * dj)
    p = pi * pi * a * a / (n * DX) ** 2 * (np.cos(2 * i[:-1] * di) + np.cos(2 * j[:-1] * dj)) + MEAN
    u = np.roll(-(psi[1:, 1:] - psi[1:, :-1]) / DX, 1, axis=0)
    v = np.roll((psi[1:, 1:] - psi[:-1, 1:]) / DX, 1, axis=1)
    return u, v, p


def numbering(mesh, m, n):
    """number[i, j] is the point at (i, j): by rows, at random, or in rows of hexagons."""
    if mesh == "hexagons":
        i, j = np.arange(m)[:, None], np.arange(n)
        return j * m + (i + j // 2) % m
    count = np.arange(m * n)
    return (np.random.default_rng(1).permutation(count) if mesh == "shuffled" else count).reshape(m, n)


class Water:
    def __init__(self, mesh, m, n):
        self.number = numbering(mesh, m, n)
        count = m * n if op2jit.is_root() else 0
        table = np.empty((m * n, len(OFFSETS)), np.int32)
        for k, (di, dj) in enumerate(OFFSETS):
            table[self.number, k] = np.roll(self.number, (-di, -dj), axis=(0, 1))
        self.points = op2jit.Set(count, "points")
        self.to = op2jit.Map(self.points, self.points, table[:count], "neighbours", len(OFFSETS))
        u, v, p = initial(m, n)
        fields = {"u": u, "v": v, "p": p, "uold": u, "vold": v, "pold": p}
        for name in "u v p uold vold pold unew vnew pnew cu cv z h".split():
            row = np.zeros(m * n)
            row[self.number] = fields.get(name, 0)
            setattr(self, name, op2jit.Dat(self.points, row[:count], name=name))
        self.factors = {name: op2jit.Global(0.0) for name in ("fsdx", "t8", "tx", "alpha")}
        self.factors["fsdx"].value = 4 / DX
        op2jit.partition("block", self.points)

    def step(self, first):
        leaping, f = DT if first else 2 * DT, self.factors
        f["t8"].value, f["tx"].value, f["alpha"].value = leaping / 8, leaping / DX, 0 if first else SMOOTHING

        def at(dat, *sides):
            return [dat(READ, self.to[side]) for side in sides]

        u, v, p, z, h, cu, cv = self.u, self.v, self.p, self.z, self.h, self.cu, self.cv
        op2jit.par_loop(
            fluxes, self.points, p(READ), *at(p, WEST, SOUTH, SOUTH_WEST), u(READ), *at(u, SOUTH, EAST), v(READ),
            *at(v, WEST, NORTH), *[dat(WRITE) for dat in (cu, cv, z, h)], f["fsdx"](READ), f["fsdx"](READ),
        )  # fmt: skip
        op2jit.par_loop(
            leap, self.points, z(READ), *at(z, NORTH, EAST), cv(READ), *at(cv, NORTH, NORTH_WEST, WEST), cu(READ),
            *at(cu, EAST, SOUTH, SOUTH_EAST), h(READ), *at(h, WEST, SOUTH), self.uold(READ), self.vold(READ),
            self.pold(READ), *[dat(WRITE) for dat in (self.unew, self.vnew, self.pnew)], f["t8"](READ), f["tx"](READ),
            f["tx"](READ),
        )  # fmt: skip
        op2jit.par_loop(
            smooth, self.points, *[dat(RW) for dat in (u, v, p, self.uold, self.vold, self.pold)],
            *[dat(READ) for dat in (self.unew, self.vnew, self.pnew)], f["alpha"](READ),
        )  # fmt: skip

    def field(self, dat):
        return dat.fetch()[self.number]


def expect(what, error, most):
    op2jit.say(f"  {what:48} {error:10.3e}, at most {most:8.1e}: {'yes' if 0 <= error <= most else 'NO'}")
    return 0 <= error <= most


def main(mesh, m, n, steps, write):
    water = Water(mesh, m, n)
    for step in range(steps):
        water.step(step == 0)
    if write:
        op2jit.dump(write, water.u, water.v, water.p)
    if not op2jit.is_root():
        water.u.fetch(), water.p.fetch()
        return True
    u, p, start = water.field(water.u), water.field(water.p), initial(m, n)[2]
    rms = math.sqrt(np.mean((p - MEAN) ** 2))
    print(f"{m} x {n} points, {mesh}, {steps} steps: rms of p - 50000 {rms:.15e}, of u {math.sqrt(np.mean(u**2)):.15e}")
    good = expect("mean of p: relative change", abs(np.mean(p - MEAN) - np.mean(start - MEAN)) / MEAN, 1e-14)
    if m == n and (m, steps) in KNOWN:
        good = expect("rms of p - 50000 against the benchmark", abs(rms - KNOWN[m, steps][0]), 1e-8) and good
        good = expect("u at a point against the benchmark", abs(u[m // 4, m // 4] - KNOWN[m, steps][1]), 1e-10) and good
    return good


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--m", type=int, default=64)
    words.add_argument("--n", type=int, default=0)
    words.add_argument("--steps", type=int, default=100)
    words.add_argument("--mesh", choices=["rows", "shuffled", "hexagons"], default="rows")
    words.add_argument("--write", metavar="FILE.h5")
    options, _ = words.parse_known_args()
    n = options.n or options.m * (1 + (options.mesh == "hexagons"))
    with op2jit.runtime():
        good = main(options.mesh, options.m, n, options.steps, options.write)
        op2jit.say("shallow_water:", "PASSED" if good else "FAILED")
    sys.exit(not good)
