"""Runs a kernel, its tangent and its adjoint on random values, and compares: tangent against differences of the kernel,
adjoint against tangent by the dot product."""

import ctypes
import json
import math
import os
import random
import subprocess

REALS = {"double": ctypes.c_double, "float": ctypes.c_float, "int": ctypes.c_int}


class Argument:
    """As op2jit check takes them: "dat double 3 m[0..1] READ" has dim 3 and 2 entries."""

    def __init__(self, words):
        self.words = words
        parts = words.split()
        self.kind, self.type, self.dim, self.access = parts[0], parts[1], int(parts[2]), parts[-1].replace("OP_", "")
        mapped = parts[3] if len(parts) == 5 else ""
        self.ragged = mapped.endswith("[]") or mapped.endswith("[entries]")
        self.vector = ".." in mapped or self.ragged
        self.arity = 5 if self.ragged else int(mapped.split("..")[1][:-1]) + 1 if self.vector else 1
        self.map = mapped.split("[")[0]
        self.real = self.type in ("double", "float")

    @property
    def count(self):
        return self.dim * self.arity


class Derivative:
    def __init__(self, answer):
        self.name, self.text, self.parameters = answer["name"], answer["text"], answer["parameters"]


def ask(op2jit, plugins, file, kernel, arguments, options=(), command="derive"):
    words = [op2jit, command, file, "--kernel", kernel, *options, *arguments]
    return subprocess.run(words, capture_output=True, text=True, env={**os.environ, "OP2_PLUGINS": plugins})


def derive(op2jit, plugins, file, kernel, arguments, options=()):
    done = ask(op2jit, plugins, file, kernel, arguments, (*options, "--json"))
    if done.returncode:
        raise RuntimeError(done.stderr)
    return {one["mode"]: Derivative(one) for one in json.loads(done.stdout)}


def described(arguments, derivative):
    """The arguments of a derived loop, as op2jit check takes them."""
    all_words = []
    for p in derivative.parameters:
        if p["role"] == "element":
            all_words.append("idx")
            continue
        parts = arguments[p["argument"] - 1].words.split()
        parts[-1] = p["access"]
        if p["role"] == "winner":
            parts[1] = "ll"
        if p["role"] == "candidate":
            one = arguments[p["argument"] - 1]
            parts = ["dat", one.type, str(one.count), p["access"]]
        all_words.append(" ".join(parts))
    return all_words


def pointers(argument, array):
    """What the kernel's parameter gets."""
    if not argument.vector:
        return array
    size = ctypes.sizeof(array._type_) * argument.dim
    if argument.ragged:  # first row, the targets' numbers, the distance of rows, and how many
        targets = (ctypes.c_int * argument.arity)(*range(argument.arity))
        handle = (ctypes.c_void_p * 4)(ctypes.addressof(array), ctypes.addressof(targets), argument.dim, argument.arity)
        handle.kept = targets
        return handle
    rows = (ctypes.c_void_p * argument.arity)()
    for k in range(argument.arity):
        rows[k] = ctypes.addressof(array) + k * size
    return rows


class Run:
    """One kernel with values for each argument."""

    def __init__(self, library, kernel, arguments, seed):
        self.library, self.kernel, self.arguments = library, kernel, arguments
        self.random = random.Random(seed)
        self.values = [self.fill(a, 1) for a in arguments]

    def fill(self, a, size):
        if a.type == "int":
            return [self.random.randint(0, 3) for _ in range(a.count)]
        return [self.random.uniform(-size, size) for _ in range(a.count)]

    def call(self, name, passed):
        """`passed`: argument and array, in the order of parameters."""
        words, maps = [], set()
        for a, array in passed:
            if a is not None and a.ragged and a.map not in maps:
                maps.add(a.map)
                words.append(ctypes.c_int(a.arity))
            words.append(pointers(a, array) if a is not None else array)
        function = getattr(self.library, name)
        function.restype = None
        function(*words)

    def primal(self, values):
        arrays = [(REALS[a.type] * a.count)(*v) for a, v in zip(self.arguments, values)]
        for a, array in zip(self.arguments, arrays):
            if a.access in ("INC", "WRITE", "WORK"):
                array[:] = [0] * a.count
        self.call(self.kernel, list(zip(self.arguments, arrays)))
        return [list(array) for array in arrays]

    def tangent(self, derivative, dots, at=None):
        """At the values `at`, or at the run's own."""
        passed, results = [], {}
        for p in derivative.parameters:
            i = p["argument"] - 1
            a = self.arguments[i]
            values = (at or self.values)[i] if p["role"] == "value" else dots[i]
            if a.access in ("INC", "WRITE", "WORK"):
                values = [0] * a.count
            array = (REALS[a.type] * a.count)(*values)
            passed.append((a, array))
            results[i, p["role"]] = array
        self.call(derivative.name, passed)
        return {key: list(array) for key, array in results.items()}

    def adjoint(self, derivative, bars):
        """The bars of what was read, and those that are left of what was written."""
        passed, results = [], {}
        for p in derivative.parameters:
            i = p["argument"] - 1
            a = self.arguments[i]
            values = self.values[i] if p["role"] == "value" else bars[i] if p["access"] != "OP_INC" else [0] * a.count
            array = (REALS[a.type] * a.count)(*values)
            passed.append((a, array))
            results[i, p["role"]] = array
        self.call(derivative.name, passed)
        return {key: list(array) for key, array in results.items()}

    def check(self, tangent, adjoint, passive=()):
        """What is wrong, in words; "" if nothing is."""
        single = any(a.type == "float" for a in self.arguments)
        near, step = (2e-2, 1e-2) if single else (2e-6, 1e-6)
        active = [a.real and i not in passive for i, a in enumerate(self.arguments)]
        reads = [active[i] and a.access in ("READ", "RW") for i, a in enumerate(self.arguments)]
        writes = [active[i] and a.access in ("INC", "WRITE", "RW") for i, a in enumerate(self.arguments)]
        dots = [self.fill(a, 1) if reads[i] else [0] * a.count for i, a in enumerate(self.arguments)]
        bars = [self.fill(a, 1) if writes[i] else [0] * a.count for i, a in enumerate(self.arguments)]
        before = self.primal(self.values)
        if not all(math.isfinite(v) for row in before for v in row):
            return ""  # nothing has a derivative there
        with_dots = self.tangent(tangent, dots)
        words = []
        for i, a in enumerate(self.arguments):
            if writes[i] and (i, "value") in with_dots:
                far = max(abs(x - y) for x, y in zip(before[i], with_dots[i, "value"]))
                if not far <= (1e-3 if single else 1e-9) * (1 + max(map(abs, before[i]))):
                    words.append(f"argument {i + 1}: the tangent's value is {far} off")
        moved = [[[v + s * step * d if d else v for v, d in zip(self.values[i], dots[i])] for i in range(len(dots))] for s in (1, -1, 0.3, -0.3)]
        up, down, beside, below = map(self.primal, moved)
        nearby = []
        y_dots, norm = [], 0.0
        for i, a in enumerate(self.arguments):
            y_dots.append(with_dots.get((i, "dot"), dots[i] if a.access == "RW" else [0] * a.count))
            if not writes[i]:
                continue
            for c in range(a.count):
                slope = (up[i][c] - down[i][c]) / (2 * step)
                size = 1 + abs(slope) + abs(before[i][c])
                if abs(y_dots[i][c]) > 1e5:  # differences of what is so steep say nothing
                    continue
                if abs(slope - y_dots[i][c]) <= near * 100 * size:
                    continue
                # nor of a value that jumps, where rounding decides a comparison: a smaller step finds another slope
                if not abs(slope - (beside[i][c] - below[i][c]) / (0.6 * step)) <= near * 100 * size:
                    continue
                # nor of what is so steep on the way that the slopes beside it are others
                nearby = nearby or [self.tangent(tangent, dots, at) for at in moved[:2]]
                if all(abs(one.get((i, "dot"), y_dots[i])[c] - y_dots[i][c]) <= near * 100 * size for one in nearby):
                    words.append(f"argument {i + 1}[{c}]: dot {y_dots[i][c]}, differences {slope}")
        back = self.adjoint(adjoint, bars)
        left = right = 0.0
        for i, a in enumerate(self.arguments):
            if writes[i]:
                left += sum(b * d for b, d in zip(bars[i], y_dots[i]))
                norm += sum(abs(b * d) for b, d in zip(bars[i], y_dots[i]))
            if reads[i]:
                x_bar = back.get((i, "bar"), bars[i] if a.access == "RW" else [0] * a.count)
                right += sum(b * d for b, d in zip(x_bar, dots[i]))
                norm += sum(abs(b * d) for b, d in zip(x_bar, dots[i]))
            if writes[i] and a.access == "WRITE" and any(back[i, "bar"]):
                words.append(f"argument {i + 1}: its bar is not zero behind a WRITE")
        if not (math.isfinite(left) and math.isfinite(right)) and single:
            return "; ".join(words)  # bars of a float may overflow where the values do not
        if not abs(left - right) <= (1e-4 if single else 1e-10) * norm + 1e-300:
            words.append(f"<bar, J dot> is {left}, <J' bar, dot> is {right}")
        return "; ".join(words)


PRELUDE = """#include <math.h>
#include <stddef.h>
#include <string.h>
#include <stdint.h>
#include <limits.h>
#include <float.h>
#include <stdbool.h>
#define OP_ROW(x, k) ((x)[0] + op2jit_row((x)[1], (x)[2], (x)[3], (k)))
static inline ptrdiff_t op2jit_row(const void *to, const void *dim, const void *n, ptrdiff_t k) {
  (void)n;
  return (ptrdiff_t)dim < 0 ? k * -(ptrdiff_t)dim : ((const int *)to)[k] * (ptrdiff_t)dim;
}
"""


def compile_all(folder, texts, name="all"):
    source, library = os.path.join(folder, name + ".c"), os.path.join(folder, name + ".so")
    with open(source, "w") as file:
        file.write(PRELUDE + "\n".join(texts))
    # a warning is an error: what a careful user's compiler says of generated text counts
    subprocess.run(["cc", "-O1", "-w", "-Werror=implicit", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    return ctypes.CDLL(library)
