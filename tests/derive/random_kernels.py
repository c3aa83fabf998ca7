"""Random kernels: their tangents against differences, their adjoints against their tangents, all texts through the prover.

usage: random_kernels.py OP2JIT PLUGIN [COUNT [SEED]]
"""

import os
import random
import sys
import tempfile

import harness

HELPERS = """
static REAL op_mix(REAL a, REAL b, int k) {
  if (k > 1)
    return a * b;
  if (a > b)
    return sin(a) - b;
  return a + NUM(0.5) * b;
}
static void op_turn(REAL *v, REAL by) {
  REAL first = v[0];
  v[0] = v[1] * by;
  v[1] = first - by;
}
"""


class Writer:
    def __init__(self, number, seed):
        self.r = random.Random(seed)
        self.name = f"k{number}"
        self.real = "float" if self.r.random() < 0.15 else "double"
        self.indices, self.depth, self.locals, self.arrays, self.loops = [], 0, [], [], 0
        self.lines, self.indent = [], "  "
        self.arguments = self.choose_arguments()

    def choose_arguments(self):
        r, real, all_arguments = self.r, self.real, []
        for access in ["READ"] * r.randint(1, 3) + ["INC"] * r.randint(0, 2) + ["WRITE"] * r.randint(0, 2) + ["RW"] * r.randint(0, 1):
            dim = r.randint(1, 4)
            last = r.randint(1, 3)
            where = f"m{last}[0..{last}] " if access in ("READ", "INC") and r.random() < 0.4 else ""
            all_arguments.append(f"dat {real} {dim} {where}{access}")
        if r.random() < 0.3:
            all_arguments.append(f"gbl {real} {r.randint(1, 2)} READ")
        if r.random() < 0.3:
            all_arguments.append(f"gbl {real} 1 INC")
        if r.random() < 0.15:
            all_arguments.append(f"dat {real} {r.randint(1, 2)} g[] READ")
        all_arguments.append("dat int 2 READ")
        if not any(a.split()[-1] != "READ" for a in all_arguments):
            all_arguments.append(f"dat {real} 2 WRITE")
        return [harness.Argument(a) for a in all_arguments]

    def put(self, line):
        self.lines.append(self.indent + line)

    # ---- expressions ----
    def element(self, i, a, known=True):
        c = self.index(a.dim)
        if a.ragged:
            return f"OP_ROW(a{i}, {self.ragged_index()})[{c}]"
        return f"a{i}[{self.index(a.arity)}][{c}]" if a.vector else f"a{i}[{c}]"

    def index(self, count):
        fitting = [v for v, n in self.indices if n <= count]
        if fitting and self.r.random() < 0.6:
            return self.r.choice(fitting)
        return str(self.r.randrange(count))

    def ragged_index(self):
        fitting = [v for v, n in self.indices if n <= 5]
        return self.r.choice(fitting) if fitting else "0"

    def leaf(self):
        r = self.r
        reads = [(i, a) for i, a in enumerate(self.arguments) if a.real and a.access in ("READ", "RW")]
        kind = r.random()
        if kind < 0.15:
            return f"NUM({r.uniform(-2, 2):.3f})"
        if kind < 0.5 and self.locals:
            return r.choice(self.locals)
        if kind < 0.6 and self.arrays:
            name, size = r.choice(self.arrays)
            if r.random() < 0.2:
                i = [k for k, a in enumerate(self.arguments) if a.type == "int"][0]
                return f"{name}[a{i}[0] % {size}]"
            return f"{name}[{self.index(size)}]"
        return self.element(*r.choice(reads))

    def expression(self, depth=3):
        r = self.r
        if depth == 0 or r.random() < 0.15:
            return self.leaf()
        a = self.expression(depth - 1)
        b = self.expression(depth - 1)
        kind = r.randrange(16)
        if kind < 3:
            return f"({a} + {b})"
        if kind < 5:
            return f"({a} - {b})"
        if kind < 8:
            return f"{a} * {b}"
        if kind == 8:
            return f"{a} / (NUM(2.5) + sin({b}))"
        if kind == 9:
            one = ["sin({})", "cos({})", "tanh({})", "exp(-fabs({}))", "atan({})", "sqrt(NUM(1.5) + {0} * {0})",
                   "log(NUM(2.0) + {0} * {0})", "fabs({})", "cbrt(NUM(3.0) + sin({}))", "erf({})", "asinh({})", "log1p({0} * {0})",
                   "expm1(tanh({}))", "exp2(tanh({}))", "acos(NUM(0.9) * sin({}))", "sinh(tanh({}))"]
            return r.choice(one).format(a)
        if kind == 10:
            two = ["fmax({}, {})", "fmin({}, {})", "hypot({}, NUM(0.5) + fabs({}))", "atan2({}, NUM(2.0) + sin({}))",
                   "pow(NUM(1.2) + sin({}), {})", "copysign({}, {})", "fdim({}, {})"]
            return r.choice(two).format(a, b)
        if kind == 11:
            return f"({self.condition()} ? {a} : {b})"
        if kind == 12:
            return f"op_mix({a}, {b}, {self.integer()})"
        if kind == 13:
            return f"-{a}" if a[0] != "-" else a
        if kind == 14:
            return f"fma({a}, {b}, {self.leaf()})"
        return f"(REAL)({a})"

    def integer(self):
        i = [k for k, a in enumerate(self.arguments) if a.type == "int"][0]
        return self.r.choice([f"a{i}[0]", f"a{i}[1]", str(self.r.randint(0, 3)), *[v for v, _ in self.indices]])

    def condition(self):
        r = self.r
        if r.random() < 0.3:
            return f"{self.integer()} {r.choice(['==', '!=', '<', '>'])} {r.randint(0, 3)}"
        if r.random() < 0.2:
            return f"{self.leaf()} < {self.leaf()} {r.choice(['&&', '||'])} {self.integer()} > 1"
        return f"{self.leaf()} {r.choice(['<', '>'])} {self.leaf()}"

    # ---- statements ----
    def target(self):
        r = self.r
        changes = [f"a{i}[{self.index(a.dim)}]" for i, a in enumerate(self.arguments) if a.access == "RW" and not self.rolled]
        places = [v for v in self.locals if v.startswith("v")] + changes
        if self.arrays and not self.rolled:
            name, size = r.choice(self.arrays)
            places.append(f"{name}[{self.index(size)}]")
        elif self.arrays:
            name, size = r.choice(self.arrays)
            places.append(f"{name}[{r.randrange(size)}]")
        return r.choice(places)

    rolled = False

    def block(self, count):
        before, indices = len(self.locals), len(self.indices)
        self.indent += "  "
        for _ in range(count):
            self.statement()
        self.indent = self.indent[:-2]
        del self.locals[before:], self.indices[indices:]

    def statement(self):
        r, kind = self.r, self.r.random()
        deep = len(self.indent) > 8
        if kind < 0.3 or deep:
            self.put(f"{self.target()} {r.choice(['=', '+=', '-=', '*='])} NUM(0.5) * sin({self.expression()});")
        elif kind < 0.45:
            name = f"t{len(self.lines)}"
            self.put(f"const REAL {name} = {self.expression()};")
            self.locals.append(name)
        elif kind < 0.6:
            self.put(f"if ({self.condition()}) {{")
            self.block(r.randint(1, 2))
            if r.random() < 0.5:
                self.put("} else {")
                self.block(r.randint(1, 2))
            self.put("}")
        elif kind < 0.7:
            sums = [(i, a) for i, a in enumerate(self.arguments) if a.access == "INC"]
            if sums:
                self.put(f"{self.element(*r.choice(sums))} {r.choice(['+=', '-='])} {self.expression()};")
        elif kind < 0.88:
            self.loop()
        elif kind < 0.92 and self.arrays:
            self.put(f"op_turn({r.choice(self.arrays)[0]}, {self.leaf()});")
        elif kind < 0.97:
            self.put(f"switch ({self.integer()}) {{")
            self.put("case 1:")
            self.block(1)
            if r.random() < 0.6:
                self.put("  break;")
            self.put("case 0:")
            self.block(1)
            self.put("  break;")
            self.put("default:")
            self.block(1)
            self.put("}")
        elif not any(a.access == "WRITE" for a in self.arguments):
            self.put(f"if ({self.condition()})")
            self.put("  return;")

    def loop(self):
        r = self.r
        i = [k for k, a in enumerate(self.arguments) if a.type == "int"][0]
        name, n = f"i{len(self.lines)}", r.randint(1, 4)
        kind, was = r.randrange(5), self.rolled
        if kind < 2:
            self.put(f"for (int {name} = 0; {name} < {n}; {name}++) {{")
            self.indices.append((name, n))
        elif kind == 2:
            self.rolled = True
            self.put(f"for (int {name} = 0; {name} < a{i}[1] && {name} < 4; {name}++) {{")
            self.indices.append((name, 4))
        elif kind == 3:
            self.rolled = True
            self.put(f"for (int {name} = 0; {name} < 40; {name}++) {{")
            self.indices.append((f"{name} % 2", 2))
        else:
            self.rolled = True
            self.put(f"for (int {name} = 3; {name} >= a{i}[0] && {name} >= 0; {name}--) {{")
            self.indices.append((name, 4))
        at = len(self.indices)
        self.block(r.randint(1, 2))
        if r.random() < 0.3:
            self.put(f"  if ({self.condition()})")
            self.put(f"    {r.choice(['break', 'continue'])};")
            self.put(f"  {self.target()} = NUM(0.5) * cos({self.leaf()});")
        self.put("}")
        self.rolled = was
        del self.indices[at - 1 :]

    def text(self):
        r = self.r
        for k in range(r.randint(1, 3)):
            self.put(f"REAL v{k} = {self.expression(2)};")
            self.locals.append(f"v{k}")
        for k in range(r.randint(0, 2)):
            size = r.randint(2, 4)
            self.put(f"REAL w{k}[{size}] = {{{', '.join(self.leaf() for _ in range(size))}}};")
            self.arrays.append((f"w{k}", size))
        for _ in range(r.randint(2, 6)):
            self.statement()
        for i, a in enumerate(self.arguments):
            if a.access == "WRITE":
                for c in range(a.dim):
                    self.put(f"a{i}[{c}] = {self.expression()};")
            elif a.access in ("INC", "RW"):
                self.put(f"{self.element(i, a)} += {self.expression()};")
        parameters = []
        ragged = False
        for i, a in enumerate(self.arguments):
            const = "const " if a.access == "READ" else ""
            if a.ragged and not ragged:
                parameters.append("int n")
                ragged = True
            parameters.append(f"{const}{a.type} *{'*' if a.ragged else ''}a{i}" + (f"[{a.arity}]" if a.vector and not a.ragged else ""))
        body = "\n".join(self.lines)
        whole = f"{HELPERS}void {self.name}({', '.join(parameters)}) {{\n{body}\n}}\n"
        if self.real == "float":
            for name in ("sin", "cos", "tanh", "exp", "atan", "sqrt", "log", "fabs", "cbrt", "erf", "asinh", "log1p", "expm1", "exp2",
                         "acos", "sinh", "fmax", "fmin", "hypot", "atan2", "pow", "copysign", "fdim", "fma"):
                whole = whole.replace(f"{name}(", f"{name}f(")
            whole = whole.replace("op_mixf", "op_mix")
        suffix = "f" if self.real == "float" else ""
        import re

        whole = re.sub(r"NUM\((-?[0-9.]+)\)", lambda m: (f"({m[1]}{suffix})" if m[1][0] == "-" else m[1] + suffix), whole)
        return whole.replace("REAL", self.real).replace("op_mix", f"{self.name}_mix").replace("op_turn", f"{self.name}_turn")


def main():
    op2jit, plugins = os.path.abspath(sys.argv[1]), os.path.dirname(os.path.abspath(sys.argv[2]))
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    failed = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for begin in range(first, first + count, 50):
            kernels, texts = [], []
            for number in range(begin, min(begin + 50, first + count)):
                writer = Writer(number, number)
                text = writer.text()
                file = os.path.join(folder, writer.name + ".c")
                with open(file, "w") as out:
                    out.write(text)
                words = [a.words for a in writer.arguments]
                try:
                    both = harness.derive(op2jit, plugins, file, writer.name, words)
                except RuntimeError as error:
                    refused += 1
                    if os.environ.get("SHOW") or "cannot be differentiated" not in str(error):
                        print(f"{writer.name}: {error}\n{text if os.environ.get('SHOW') else ''}")
                    failed += "cannot be differentiated" not in str(error)
                    continue
                kernels.append((writer, text, both))
                texts += [text] + [d.text for d in both.values()]
                if number % 10 == 0:
                    for one in (d for d in both.values() if d.parameters):
                        derived = os.path.join(folder, one.name + ".c")
                        with open(derived, "w") as out:
                            out.write(one.text)
                        done = harness.ask(op2jit, plugins, derived, one.name, harness.described(writer.arguments, one), command="check")
                        if done.returncode:
                            failed += 1
                            print(f"{one.name} is not accepted:\n{done.stdout}{done.stderr}\n{one.text}")
            library = harness.compile_all(folder, texts, f"all{begin}")
            for writer, text, both in kernels:
                for trial in range(2):
                    run = harness.Run(library, writer.name, writer.arguments, 1000 * trial + begin)
                    wrong = run.check(both["tangent"], both["adjoint"])
                    if wrong:
                        failed += 1
                        print(f"{writer.name}: {wrong}\n{[a.words for a in writer.arguments]}")
                        if os.environ.get("SHOW"):
                            print(text, both["tangent"].text, both["adjoint"].text)
                        break
    print(f"{count} kernels: {failed} wrong, {refused} refused")
    return failed > 0 or refused > count // 10


if __name__ == "__main__":
    sys.exit(main())
