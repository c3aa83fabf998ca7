"""Random functions of the subset of Python that kernels have, and what CPython makes of them.

All functions have one list of parameters: rows that are read, and rows that get results. Whole numbers stay within 64
bits, which the reference watches; nothing divides whole numbers by 0.
"""

import ast
import math
import random

import numpy as np

#: Rows: name, type, length, is it written?
ROWS = [
    ("x", "float64", 3, False),
    ("s", "float32", 2, False),
    ("i", "int32", 2, False),
    ("u", "uint32", 2, False),
    ("b", "int8", 2, False),
    ("w", "int64", 2, False),
    ("o", "float64", 3, True),
    ("g", "float32", 2, True),
    ("n", "int32", 3, True),
    ("c", "int8", 2, True),
    ("l", "int64", 2, True),
]
NAMES = ", ".join(row[0] for row in ROWS)
HEAD = f'''import math
import numpy as np

TABLE = [3, -5, 2**33]
REALS = [0.5, -0.0, 1e-3]
WIDE = 2**40

def half(v, by=2):
    return v / by

def bump(row, by=1):
    row[0] += by
    return row[0] * 0.5

def blend(row, by=0.5):
    row[1] -= by
    return row[0] * by + row[1]

def apart(row, k=1):
    return row[0] - row[k]

def inner(row):
    return apart(row[1:], 0) + apart(row[1:3])

def clip(v, low=-4, high=9):
    if v < low:
        return low
    v = min(v, high)
    return v

'''


class Beyond(Exception):
    """A whole number has more than 64 bits: nothing is said of what a kernel does."""


class Whole(int):
    """A whole number that stays within 64 bits. Beyond 2**53 a quotient may differ in its last bit."""

    def __truediv__(self, other):
        if isinstance(other, int) and max(abs(int(self)), abs(int(other))) > 2**53:
            raise Beyond
        return int(self) / other


def _watched(name):
    plain = getattr(int, name)

    def run(self, *others):
        found = plain(self, *others)
        if type(found) is not int:
            return found
        if not -(2**63) <= found < 2**63:
            raise Beyond
        return Whole(found)

    return run


_ALL = "add radd sub rsub mul rmul floordiv rfloordiv mod rmod pow rpow lshift rlshift rshift rrshift and rand or ror xor rxor"
for _name in (_ALL + " neg abs invert").split():
    setattr(Whole, f"__{_name}__", _watched(f"__{_name}__"))


class Row:
    """A row as CPython's part of the comparison has it: values are rounded where they are stored."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, k):
        if isinstance(k, slice):
            return Row(self.values[k])
        found = self.values[k].item()
        return Whole(found) if isinstance(found, int) else found

    def __setitem__(self, k, value):
        if self.values.dtype.kind == "f":
            with np.errstate(all="ignore"):
                self.values[k] = float(value)
            return
        if not math.isfinite(value) or abs(value) >= 2**63:
            raise Beyond
        self.values[k] = np.int64(int(value)).astype(self.values.dtype)

    def __len__(self):
        return len(self.values)


class Maker:
    """Makes the text of one function from a number."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.reals, self.wholes, self.lines, self.depth, self.made = [], [], [], 1, 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self):
        return self.pick("0", "1", "2", "-3", "7", "100", "True", "-1")

    def real(self, depth=3):
        r = self.random.random()
        if depth == 0 or r < 0.25:
            leaves = ["x[0]", "x[1]", "x[2]", "s[0]", "s[1]", "o[0]", "g[1]", "0.5", "-0.0", "1e-3", "REALS[1]", "3.0"]
            return self.pick(*leaves, *self.reals, *self.reals)
        if r < 0.5:
            return f"({self.real(depth - 1)} {self.pick('+', '-', '*')} {self.either(depth - 1)})"
        if r < 0.6:
            return f"({self.either(depth - 1)} / {self.real(depth - 1)})"
        if r < 0.66:
            return f"({self.real(depth - 1)} {self.pick('//', '%')} {self.either(depth - 1)})"
        if r < 0.7:
            power = self.pick("x[0] ** 2", "x[1] ** 3", "s[0] ** 2.0", "x[2] ** -3", "x[0] ** 0", "abs(x[1]) ** 1.5")
            return f"({power})"
        if r < 0.78:
            name = self.pick("math.sqrt", "abs", "math.fabs", "math.exp", "math.sin", "float", "math.atan", "half", "-")
            return f"{name}({self.real(depth - 1)})"
        if r < 0.84:
            return f"{self.pick('min', 'max')}({self.real(depth - 1)}, {self.either(depth - 1)})"
        if r < 0.88:
            return f"math.copysign({self.real(depth - 1)}, {self.real(depth - 1)})"
        if r < 0.91:
            return f"half({self.either(depth - 1)}, {self.pick('3', 'by=4', '0.25')})"
        if r < 0.94:
            return self.pick("apart(x[1:])", "apart(x[:2], 0)", "apart(o[1:3])", "apart(s[0:])", "inner(x)", "inner(o[:])")
        return f"({self.real(depth - 1)} if {self.truth(depth - 1)} else {self.real(depth - 1)})"

    def whole(self, depth=3):
        r = self.random.random()
        if depth == 0 or r < 0.25:
            leaves = ["i[0]", "i[1]", "u[0]", "u[1]", "b[0]", "b[1]", "w[0]", "w[1]", "n[1]", "c[0]", "TABLE[1]", "l[0]"]
            return self.pick(*leaves, "WIDE", self.number(), self.number(), *self.wholes, *self.wholes)
        if r < 0.5:
            return f"({self.whole(depth - 1)} {self.pick('+', '-', '*')} {self.whole(depth - 1)})"
        if r < 0.6:
            by = self.pick("3", "-7", "(abs(i[0]) + 1)", "(u[0] % 9 + 2)", "(b[0] * b[0] + 1)")
            return f"({self.whole(depth - 1)} {self.pick('//', '%')} {by})"
        if r < 0.68:
            return f"({self.whole(depth - 1)} {self.pick('&', '|', '^')} {self.whole(depth - 1)})"
        if r < 0.73:
            by = self.pick("1", "3", "(u[1] % 5)", "40", "(u[0] % 70)")
            return f"({self.whole(depth - 1)} {self.pick('<<', '>>')} {by})"
        if r < 0.77:
            return f"({self.pick('i[0]', 'b[1]', 'u[1]', '3')} ** {self.pick('2', '3', '0', '(u[0] % 4)')})"
        if r < 0.83:
            return f"{self.pick('abs', '-', '~', 'clip', 'int')}({self.whole(depth - 1)})"
        if r < 0.88:
            return f"{self.pick('min', 'max')}({self.whole(depth - 1)}, {self.whole(depth - 1)})"
        if r < 0.92:
            return f"{self.pick('int', 'math.floor', 'round', 'math.ceil')}(max(-1e6, min({self.real(depth - 1)}, 1e6)))"
        if r < 0.94:
            return self.pick("apart(w[:])", "apart(n[1:3])", "apart(b[0:2], 0)", "apart(u[:], 1)", "inner(n)")
        if r < 0.96:
            return f"({self.truth(depth - 1)} {self.pick('+', '*')} {self.whole(depth - 1)})"
        return f"({self.whole(depth - 1)} if {self.truth(depth - 1)} else {self.whole(depth - 1)})"

    def either(self, depth):
        return self.real(depth) if self.random.random() < 0.6 else self.whole(depth)

    def truth(self, depth):
        r = self.random.random()
        sign = self.pick("<", "<=", ">", ">=", "==", "!=")
        if depth == 0 or r < 0.5:
            return f"({self.either(max(0, depth - 1))} {sign} {self.either(max(0, depth - 1))})"
        if r < 0.6:
            return f"({self.whole(0)} {self.pick('in', 'not in')} (1, -3, 2.0, {self.whole(0)}))"
        if r < 0.7:
            return f"({self.whole(0)} < {self.whole(0)} {sign} {self.either(0)})"
        if r < 0.8:
            return f"(not {self.truth(depth - 1)})"
        return f"({self.truth(depth - 1)} {self.pick('and', 'or')} {self.truth(depth - 1)})"

    def say(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self, kind):
        self.made += 1
        return f"{kind}{self.made}"

    def inside(self, count):
        """A block; variables that begin in it end with it."""
        kept = list(self.reals), list(self.wholes)
        self.depth += 1
        for _ in range(count):
            self.statement()
        self.depth -= 1
        self.reals, self.wholes = kept

    def statement(self):
        r = self.random.random()
        if r < 0.2:
            name, value = self.name("r"), self.real()
            self.say(f"{name} = {value}")
            self.reals.append(name)
        elif r < 0.38:
            name, value = self.name("k"), self.whole()
            self.say(f"{name} = {value}")
            self.wholes.append(name)
        elif r < 0.5:
            target = self.pick("o[0]", "o[1]", "o[2]", "g[0]", "g[1]", *self.reals)
            self.say(f"{target} {self.pick('=', '+=', '-=', '*=')} {self.either(2)}")
        elif r < 0.62:
            target = self.pick("n[0]", "n[1]", "c[0]", "c[1]", "l[0]", "l[1]")
            if self.random.random() < 0.1:  # what is cut off there may be beyond the type
                self.say(f"{target} {self.pick('=', '+=', '*=')} {self.real(1)} + 0.25")
            else:
                self.say(f"{target} {self.pick('=', '+=', '-=', '=', '^=')} {self.whole(2)}")
        elif r < 0.7 and self.depth < 3:
            self.say(f"if {self.truth(2)}:")
            self.inside(2)
            self.say("else:")
            self.inside(1)
        elif r < 0.79 and self.depth < 3:
            self.loop()
        elif r < 0.83:
            self.say(f"o[0], o[1] = {self.real(1)}, {self.either(1)}")
        elif r < 0.85 and self.reals:  # parts of rows, which a function changes
            row = self.pick("o[1:]", "o[0:2]", "g[:]", "n[1:]")
            change = f"blend({row}, {self.real(1)})" if row[0] != "n" else f"bump({row}, {self.number()})"
            self.say(f"{self.pick(*self.reals)} = {self.real(1)} + {change} * bump({row}) + o[1]")
        elif r < 0.88 and self.reals:
            self.say(f"{self.pick(*self.reals)} = {self.real(1)} + bump(o) * bump(o, {self.number()}) + o[0]")
        elif r < 0.93:
            first, name = self.name("v"), self.name("r")
            self.say(f"{first} = np.array([{self.real(1)}, {self.real(1)}, 0.25]) * {self.pick('2', '0.1')} + x[1]")
            self.say(f"{first}[1] += {self.real(1)}")
            self.say(f"{name} = float({first}[0]) - float({first}[1])")
            self.reals.append(name)
        else:
            self.say(f"a{self.made} = b{self.made} = {self.real(1)}")
            self.reals += [f"a{self.made}", f"b{self.made}"]
            self.made += 1

    def loop(self):
        counter, total = self.name("j"), self.name("t")
        bounds = self.pick("3", "1, 4", "4, -1, -2", "u[0] % 4", "-2, i[0] % 5")
        self.say(f"{total}, {counter} = 0.0, 0")  # a variable has one type, so that -0 would be -0.0
        self.say(f"for {counter} in range({bounds}):")
        self.wholes.append(counter)
        self.inside(1)
        self.depth += 1
        if self.random.random() < 0.3:
            self.say(f"if {self.truth(1)}:")
            self.say(f"    {self.pick('break', 'continue')}")
        self.say(f"{total} += {counter} * {self.either(1)}")
        self.depth -= 1
        self.reals.append(total)

    def text(self, name):
        """The function."""
        for _ in range(self.random.randint(3, 8)):
            self.statement()
        self.say(f"o[2] = {self.real()}")
        self.say(f"l[1] = {self.whole()}")
        return f"def {name}({NAMES}):\n" + "\n".join(self.lines) + "\n\n"


def data(elements, seed):
    """Values of all rows for so many elements."""
    chance = np.random.default_rng(seed)
    found = {}
    for name, kind, length, _ in ROWS:
        shape = (elements, length)
        if kind.startswith("float"):
            rows = chance.choice([0.0, -0.0, 1.0, -2.0, 0.1, 1e10, np.inf, 3.0], shape) * chance.normal(size=shape)
            rows[np.isnan(rows)] = -0.0
        else:
            limit = np.iinfo(kind)
            some = chance.integers(max(limit.min, -50), min(limit.max, 50), shape)
            ends = chance.choice([limit.min, limit.max // 3, limit.max], shape).astype(kind)
            rows = np.where(chance.random(shape) < 0.8, some, ends)
        found[name] = np.ascontiguousarray(rows.astype(kind))
    return found


class _Watched(ast.NodeTransformer):
    """Every whole number of a text is a watched one: those of comparisons, counters, constants and calls are not else."""

    def watched(self, node):
        self.generic_visit(node)
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        return ast.copy_location(ast.Call(ast.Name("watched", ast.Load()), [node], []), node)

    visit_Name = visit_Constant = visit_Compare = visit_UnaryOp = visit_BoolOp = visit_Call = watched


def _signed(value, sign):
    """copysign; of a NaN's sign nothing is said."""
    if sign != sign:
        raise Beyond
    return math.copysign(value, sign)


def _one_of(function):
    """min or max, which is real where one number is: zeros of what is computed of it have signs, whole numbers have none."""

    def run(*numbers):
        found = function(*numbers)
        if isinstance(found, int) and any(isinstance(one, float) for one in numbers):
            raise Beyond
        return found

    return run


def reference(text):
    """The functions of a text as CPython runs them here."""
    text = text.replace("math.copysign", "signed")
    space = {"signed": _signed, "min": _one_of(min), "max": _one_of(max)}
    space["watched"] = lambda value: Whole(value) if isinstance(value, int) else value
    exec(compile(ast.fix_missing_locations(_Watched().visit(ast.parse(text))), "reference", "exec"), space)
    return space


def expected(function, rows, element):
    """What CPython leaves in the rows of an element; None where it raises an exception, or leaves 64 bits."""
    mine = {name: rows[name][element].copy() for name, _, _, _ in ROWS}
    try:
        with np.errstate(all="ignore"):
            function(*[Row(mine[name]) for name, _, _, _ in ROWS])
    except (ArithmeticError, ValueError, TypeError, Beyond):  # a TypeError is one of a complex number
        return None
    return mine
