"""Whatever a function of Python says: it becomes C that compiles, or it is refused with its line and a caret."""

import os
import random
import shutil
import subprocess

import pytest

import op2jit
from op2jit import READ, RW
from op2jit.kernels import Parameter
from op2jit.translate import translate
from op2jit.translate.source import snapshot
from test_random import FIRST, loaded

MANY = int(os.environ.get("OP2JIT_RANDOM_TEXTS", "180"))
HEAD = """import math
import numpy as np
ROW = np.array([1.0, 2.0, 3.0])
LIST = [[1, 2], [3, 4]]
NUMBER, BIG, TEXT = 3, 2**62, "text"
def one(v): return v + 1
def row(r, k=0): r[k] = 1.0
def nothing(): pass
def several(a, b, c=2):
    if a > b: return c
    return b
"""
NAMES = "x p i w o double exp int t0_ end0_ value0_ py_mod k_ é j a b v m ROW LIST NUMBER BIG TEXT math np one unknown".split()
CALLS = (
    "abs min max sum round int float bool len range print one row nothing several math.sin math.pow math.floor np.sqrt "
    "np.array np.zeros np.dot np.float32 np.int8 np.uint64 np.minimum x.sum v.copy v.dot str sorted x i"
).split()
PARAMETERS = [("double", 3, 0, READ), ("double", 2, 2, READ), ("int", 2, 0, READ), ("unsigned long long", 1, 0, READ)]


class Text:
    """The text of a function, made from a number."""

    def __init__(self, seed):
        self.random, self.depth = random.Random(seed), 1

    def pick(self, *choices):
        return self.random.choice(choices)

    def some(self, make, least, most):
        return ", ".join(make() for _ in range(self.random.randint(least, most)))

    def leaf(self):
        numbers = "0 1 -1 2 0.5 -0.0 1e308 1e400 2**31 2**63 True None ... 'a%s' 3j 10**30".split()
        places = "x[0] x[2] p[1][0] p[0] i[0] w[0] o[1] v[0] m[1][0] x[0:2] o[:] x[-1] i[0:1] ROW[1] LIST[0]".split()
        return self.pick(self.pick(*numbers), self.pick(*NAMES), self.pick(*places), self.pick(*places))

    def value(self, depth=2):
        r = self.random.randint(0, 17)
        if depth == 0 or r < 5:
            return self.leaf()
        inner = lambda: self.value(depth - 1)  # noqa: E731
        operators = "+ - * / // % ** << >> & | ^ @ and or < == != >= in is".split() + ["not in"]
        if r < 10:
            return f"({inner()} {self.pick(*operators)} {inner()})"
        if r < 13:
            return f"{self.pick(*CALLS)}({self.some(inner, 0, 3)}{self.pick('', '', '', ', k=1', ', *x')})"
        if r == 13:
            return f"({inner()} if {inner()} else {inner()})"
        if r == 14:
            return f"{self.pick('-', '+', '~', 'not ')}({inner()})"
        if r == 15:
            return f"[{self.some(inner, 0, 3)}]"
        if r == 16:
            return f"{self.pick('x', 'o', 'v', 'p', 'm', 'LIST')}[{inner()}]"
        odd = ("(a := 1)", "f'{a}'", "lambda: 1", "{1: 2}", "x.T", "i.size", "[0.0] * 3", "np.eye(2)", "x[0] < a < 1")
        return self.pick(*odd)

    def target(self):
        places = ("o[0]", "o[1]", "o[0:2]", "o[:]", "x[0]", "v[1]", "m[0][1]", "m[1]", "i[0]", "a, b", "(a, o[0])", "o")
        return self.pick(*NAMES[4:], "a", "b", "v", "m", *places)

    def block(self):
        self.depth += 1
        found = "\n".join(self.statement() for _ in range(self.random.randint(1, 2)))
        self.depth -= 1
        return found

    def statement(self):
        indent, r = "    " * self.depth, self.random.randint(0, 19)
        if r < 7:
            return f"{indent}{self.target()} = {self.value()}"
        if r < 9:
            return f"{indent}{self.target()} {self.pick('+', '-', '*', '/', '//', '%', '**', '<<', '@')}= {self.value()}"
        if r < 11 and self.depth < 4:
            return f"{indent}if {self.value()}:\n{self.block()}\n{indent}else:\n{self.block()}"
        if r < 13 and self.depth < 4:
            over = self.pick("range(3)", "range(i[0])", "range(2, 0, -1)", f"range({self.value()})", self.value())
            return f"{indent}for {self.pick('j', 'k_', 'a', 'double', 'x', 'a, b')} in {over}:\n{self.block()}"
        if r < 14 and self.depth < 4:
            return f"{indent}while {self.value()}:\n{self.block()}"
        if r < 15:
            return f"{indent}{self.pick('v', 'a')} = {self.pick('np.zeros(3)', '[0.0] * 3', 'np.array(x)', '[1, 2]')}"
        if r < 16:
            return f"{indent}m = {self.pick('np.zeros((2, 2))', '[[1, 2], [3, 4]]', 'np.eye(2)', 'np.zeros((2, 3), np.int32)')}"
        if r < 17:
            return f"{indent}{self.pick('print', 'row', 'one', 'nothing', 'abs')}({self.some(self.value, 0, 2)})"
        odd = ("pass", "return", "return a", "del a", "assert a", "a: int = 1", "a = b = 1.0", "import math", "'t'")
        return indent + self.pick(*odd)


def texts(first, count):
    """Functions that Python's own compiler takes."""
    found = []
    for number in range(first, first + count):
        made = Text(number)
        body = "\n".join(made.statement() for _ in range(made.random.randint(1, 5)))
        text = f"def f{number}(x, p, i, w, o):\n    a = 1\n{body}\n\n"
        try:
            compile(HEAD + text, "f", "exec")
        except (SyntaxError, ValueError):
            continue
        found.append((f"f{number}", text))
    return found


def test_no_text_of_python_is_an_error_of_c(tmp_path):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("there is no C compiler to look at the texts")
    found = texts(FIRST, MANY)
    module = loaded(tmp_path, "any_text", HEAD + "".join(text for _, text in found))
    files = []
    parameters = [Parameter(*words) for words in PARAMETERS + [("double", 2, 0, RW)]]
    with op2jit.runtime(diags=0):
        for name, text in found:
            function = getattr(module, name)
            try:
                made = translate(function, parameters, snapshot(function))
            except op2jit.KernelError as error:
                assert "\n    " in str(error) and str(error).rstrip().endswith("^"), (text, str(error))
                continue
            file = tmp_path / f"{name}.c"
            file.write_text("#include <math.h>\n#include <stdbool.h>\n#include <stdio.h>\n" + made.words)
            files.append(str(file))
    assert MANY / 60 < len(files) < MANY
    flags = ["-std=gnu17", "-fsyntax-only", "-w", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"]
    flags.append("-Werror=discarded-qualifiers" if "gcc" in compiler else "-Werror")
    said = subprocess.run([compiler, *flags, *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert said.returncode == 0, said.stdout[:3000]
