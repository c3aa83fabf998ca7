"""Where does the heat come from? Burners under a square plate, found from thermometers on it.

The plate is that of heat.py. Under it are 5 x 5 burners, and nobody knows which are lit, and how strongly. They are one
global of the library, so a tape gives the gradient by all of them on every rank, and SciPy's L-BFGS-B finds them, none
below zero. Without SciPy there is no answer, and the status is 77.
"""

import argparse
import sys

import numpy as np
from heat import ALPHA, Plate, diffuse, expect

import op2jit
from op2jit import INC, READ, RW, WRITE, Dat, Global, Map, Set, par_loop

SIDE, STEPS, R = 5, 80, 0.2


@op2jit.kernel
def burn(burner, strength, u):
    """Burners have numbers from 0. What is above none has -1."""
    if burner[0] >= 0:
        u[0] += strength[burner[0]]


@op2jit.kernel
def compare(u, seen, misfit):
    misfit[0] += (u[0] - seen[0]) ** 2


class Stove(Plate):
    def __init__(self, n):
        super().__init__(n)
        i, j = np.arange(n * n) % n, np.arange(n * n) // n
        self.under = np.append(SIDE * (j * SIDE // n) + i * SIDE // n, -1).astype(np.int32)
        self.looked_at = np.flatnonzero((i % 3 == 1) & (j % 3 == 1))
        count = len(self.looked_at) if op2jit.is_root() else 0
        self.places = Set(count, "thermometers")
        self.at = Map(self.places, self.points, self.looked_at[:count], "at", 1)
        self.burner = Dat(self.points, self.under[: self.points.size], name="burner")
        self.seen = Dat(self.places, name="seen")
        self.r, self.misfit = Global(R), Global(0.0, kept=True, name="misfit")
        self.strength = Global(np.zeros(SIDE * SIDE), kept=True, name="strength")

    def heat_up(self, strength):
        """The plate is cold at first."""
        self.u.put(np.zeros(self.points.size))
        self.strength.value = strength
        self.misfit.value = 0.0
        with op2jit.tape(inputs=[self.strength]) as tape:
            for _ in tape.steps(range(STEPS)):
                near = self.u(READ, self.near)
                par_loop(diffuse, self.points, self.u(READ), near, self.following(WRITE), self.r(READ))
                par_loop(burn, self.points, self.burner(READ), self.strength(READ), self.following(RW))
                self.u, self.following = self.following, self.u
            par_loop(compare, self.places, self.u(READ, self.at[0]), self.seen(READ), self.misfit(INC))
        return tape

    def observe(self, strength):
        self.heat_up(strength).free()
        u = self.u.fetch()
        self.seen.put(u[self.looked_at] if op2jit.is_root() else u)

    def evaluate(self, strength):
        """The misfit, and its gradient."""
        tape = self.heat_up(strength)
        misfit = self.misfit.value
        self.strength.bar.value = np.zeros(SIDE * SIDE)
        self.misfit.bar.value = 1.0
        tape.reverse(last=True)
        tape.free()
        return misfit, self.strength.bar.value


def main(n):
    from scipy.optimize import minimize

    stove, lit, guess = Stove(n), np.zeros(SIDE * SIDE), np.full(SIDE * SIDE, 0.1)
    lit[[6, 13, 22]] = 1.0, 0.5, 2.0
    stove.observe(lit)
    before, gradient = stove.evaluate(guess)
    line, by = np.cos(np.arange(SIDE * SIDE)), 1e-4
    difference = (stove.evaluate(guess + by * line)[0] - stove.evaluate(guess - by * line)[0]) / (2 * by)
    good = expect("gradient against a difference, relative", abs(gradient @ line - difference) / abs(difference), 1e-8)
    found = minimize(stove.evaluate, guess, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(guess),
                     options={"maxiter": 200, "ftol": 0, "gtol": 1e-6})  # fmt: skip
    op2jit.say(f"{SIDE * SIDE} burners from {len(stove.looked_at)} thermometers: misfit {before:.3e}, {found.fun:.3e} "
               f"after {found.nit} rounds with {found.nfev} gradients")  # fmt: skip
    op2jit.say("  lit: " + ", ".join(f"{k} by {found.x[k]:.4f}" for k in np.flatnonzero(found.x > 0.01)))
    good = expect("misfit, of that of the guess", found.fun / before, 1e-6) and good
    return expect("largest error of a burner", np.abs(found.x - lit).max(), 1e-2) and good


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--n", type=int, default=30)
    options, _ = words.parse_known_args()
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        print("skipped: there is no SciPy (Debian's python3-scipy)")
        sys.exit(77)
    with op2jit.runtime():
        good = main(options.n)
        op2jit.say("source:", "PASSED" if good else "FAILED")
    sys.exit(not good)
