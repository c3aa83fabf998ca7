"""Aero: compressible potential flow by bilinear finite elements, Newton and conjugate gradients, as aero.c has it."""

import argparse
import math
import sys

import numpy as np

import op2jit
from op2jit import INC, READ, RW, WRITE

mach2, gm1, amplitude = 0.4 * 0.4, 0.4, 0.1
CORNER_S, CORNER_T, GAUSS = [-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0], 0.57735026918962576451


def load_at(px, py):
    """The source, from the given potential x + a sin(pi x) sin(pi y)."""
    pi, a = math.pi, amplitude
    ux = 1 + a * pi * math.cos(pi * px) * math.sin(pi * py)
    uy = a * pi * math.sin(pi * px) * math.cos(pi * py)
    uxx = -a * pi * pi * math.sin(pi * px) * math.sin(pi * py)
    uxy = a * pi * pi * math.cos(pi * px) * math.cos(pi * py)
    base = 1 - 0.5 * gm1 * mach2 * (ux * ux + uy * uy - 1)
    rho = base ** (1 / gm1)
    slope = -0.5 * mach2 * rho / base
    return -(rho * 2 * uxx + 2 * slope * ((ux * ux + uy * uy) * uxx + 2 * ux * uy * uxy))


@op2jit.kernel
def assemble(x, phi, k, residual):
    """Element matrix and residual, by four integration points."""
    total, shape, ds, dt, dx, dy = np.zeros(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    for ij in range(16):
        k[ij] = 0
    for g in range(4):
        s, t = GAUSS * CORNER_S[g], GAUSS * CORNER_T[g]
        xs, xt, ys, yt, px, py, gx, gy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(4):
            shape[i] = 0.25 * (1 + CORNER_S[i] * s) * (1 + CORNER_T[i] * t)
            ds[i] = 0.25 * CORNER_S[i] * (1 + CORNER_T[i] * t)
            dt[i] = 0.25 * CORNER_T[i] * (1 + CORNER_S[i] * s)
            xs += ds[i] * x[i][0]
            xt += dt[i] * x[i][0]
            ys += ds[i] * x[i][1]
            yt += dt[i] * x[i][1]
            px += shape[i] * x[i][0]
            py += shape[i] * x[i][1]
        det = xs * yt - xt * ys
        for i in range(4):
            dx[i] = (ds[i] * yt - dt[i] * ys) / det
            dy[i] = (dt[i] * xs - ds[i] * xt) / det
            gx += dx[i] * phi[i][0]
            gy += dy[i] * phi[i][0]
        base = 1 - 0.5 * gm1 * mach2 * (gx * gx + gy * gy - 1)
        rho = base ** (1 / gm1)
        slope, load = -0.5 * mach2 * rho / base, load_at(px, py)
        for i in range(4):
            along = dx[i] * gx + dy[i] * gy
            total[i] += det * (rho * along - load * shape[i])
            for j in range(4):
                across = dx[j] * gx + dy[j] * gy
                k[4 * i + j] += det * (rho * (dx[i] * dx[j] + dy[i] * dy[j]) + 2 * slope * along * across)
    for i in range(4):
        residual[i][0] += total[i]


@op2jit.kernel
def fix(x):
    x[0] = 0


@op2jit.kernel
def start_gradient(residual, u, v, p, r, rr):
    u[0], v[0], p[0], r[0] = 0, 0, residual[0], residual[0]
    rr[0] += residual[0] * residual[0]
    residual[0] = 0


@op2jit.kernel
def multiply(k, p, v):
    for i in range(4):
        v[i][0] += k[4 * i] * p[0][0] + k[4 * i + 1] * p[1][0] + k[4 * i + 2] * p[2][0] + k[4 * i + 3] * p[3][0]


@op2jit.kernel
def product(p, v, pv):
    pv[0] += p[0] * v[0]


@op2jit.kernel
def advance(p, v, u, r, alpha, rr):
    u[0] += alpha[0] * p[0]
    r[0] -= alpha[0] * v[0]
    v[0] = 0
    rr[0] += r[0] * r[0]


@op2jit.kernel
def turn(r, p, beta):
    p[0] = r[0] + beta[0] * p[0]


@op2jit.kernel
def correct(u, phi):
    phi[0] -= u[0]


def run(n, vtk=None):
    """Newton steps until the residual is below 1e-11, each by conjugate gradients that shrink it by 1e-8."""
    s, t = np.arange((n + 1) ** 2) % (n + 1) / n, np.arange((n + 1) ** 2) // (n + 1) / n
    bend = 0.04 * np.sin(2 * math.pi * s) * np.sin(2 * math.pi * t)
    place = np.stack([s + bend, t - bend], axis=1)
    exact = place[:, 0] + amplitude * np.sin(math.pi * place[:, 0]) * np.sin(math.pi * place[:, 1])
    edge = np.flatnonzero((s == 0) | (t == 0) | (s == 1) | (t == 1))
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    quads = np.stack([corner, corner + 1, corner + n + 2, corner + n + 1], axis=1)
    start = place[:, 0].copy()
    start[edge] = exact[edge]
    if not op2jit.is_root():
        place, edge, quads, start = place[:0], edge[:0], quads[:0], start[:0]
    nodes, cells, fixed = (op2jit.Set(len(part)) for part in (place, quads, edge))
    corners, ends = op2jit.Map(cells, nodes, quads, "cell_nodes", 4), op2jit.Map(fixed, nodes, edge, "fixed_node", 1)
    x, phi = op2jit.Dat(nodes, place, name="x"), op2jit.Dat(nodes, start, name="phi")
    k = op2jit.Dat(cells, dim=16, name="k")
    residual, u, v, p, r = (op2jit.Dat(nodes, name=name) for name in ("residual", "u", "v", "p", "r"))
    alpha, beta, rr, pv = (op2jit.Global(0.0, name=name) for name in ("alpha", "beta", "rr", "pv"))
    op2jit.partition("block", cells)
    count, last = nodes.global_size, math.inf
    for step in range(20):
        rr.value = 0
        op2jit.par_loop(assemble, cells, x(READ, corners), phi(READ, corners), k(WRITE), residual(INC, corners))
        op2jit.par_loop(fix, fixed, residual(WRITE, ends[0]))
        op2jit.par_loop(start_gradient, nodes, residual(RW), u(WRITE), v(WRITE), p(WRITE), r(WRITE), rr(INC))
        now, enough, iterations, last = rr.value, rr.value * 1e-16, 0, math.sqrt(rr.value / count)
        if last <= 1e-11:
            break
        while now > enough and iterations < 100 * n:
            pv.value = rr.value = 0
            op2jit.par_loop(multiply, cells, k(READ), p(READ, corners), v(INC, corners))
            op2jit.par_loop(fix, fixed, v(WRITE, ends[0]))
            op2jit.par_loop(product, nodes, p(READ), v(READ), pv(INC))
            alpha.value = now / pv.value
            op2jit.par_loop(advance, nodes, p(READ), v(RW), u(RW), r(RW), alpha(READ), rr(INC))
            beta.value, now = rr.value / now, rr.value
            op2jit.par_loop(turn, nodes, r(READ), p(RW), beta(READ))
            iterations += 1
        op2jit.par_loop(correct, nodes, u(READ), phi(RW))
        op2jit.say(f"  step {step}: residual {last:.5e}, {iterations} iterations of conjugate gradients")
    if vtk:
        op2jit.write_vtk(vtk, x, phi)
    found = phi.fetch()
    op2jit.say(f"{n} x {n} elements: residual after the last step {last:.5e}")
    return np.abs(found - exact).max() if op2jit.is_root() else 0.0, last


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--n", type=int, default=64)
    words.add_argument("--vtk", metavar="NAME")
    options = words.parse_known_args()[0]
    n = options.n
    with op2jit.runtime():
        (coarse, one), (fine, other) = run(n // 2), run(n, options.vtk)
        good = max(one, other) <= 1e-11 and (not op2jit.is_root() or abs(math.log2(coarse / fine) - 2) <= 0.2)
        op2jit.say(f"largest error {coarse:.6e} on {n // 2} x {n // 2} elements, {fine:.6e} on {n} x {n}")
        op2jit.say("aero:", "PASSED" if good else "FAILED")
    sys.exit(not good)
