"""op2jit derive: kernels with what is hard, those of the samples, and what is refused, with line, caret and remedy.

usage: check.py OP2JIT PLUGIN SAMPLES
"""

import os
import sys
import tempfile

import harness

OP2JIT, PLUGINS, SAMPLES = os.path.abspath(sys.argv[1]), os.path.dirname(os.path.abspath(sys.argv[2])), sys.argv[3]
HERE = os.path.dirname(os.path.abspath(__file__))
failures = []

A, W, N = "dat double 3 READ", "dat double 1 WRITE", "dat int 1 READ"
KERNELS = {
    "moves": [A, W, N],
    "inner_while": [A, W, N],
    "better": [A, W],
    "roots": [A, W],
    "single": ["dat float 3 READ", "dat float 1 WRITE"],
    "records": [A, W],
    "newton": [A, W],
    "early": [A, W],
    "pieces": [A, W, N],
    "tables": [A, W, N],
    "pointer": [A, "dat double 2 WRITE"],
    "ragged": ["dat double 2 m[] READ", A, "dat double 1 m[] INC"],
    "gathers": ["dat double 2 m[] READ", "gbl double 1 INC"],
    "sometimes": [A, "dat double 2 WRITE"],
    "steps": [A, W, N],
    "at_once": [A, W, N],
}


def expect(good, words):
    if not good:
        failures.append(words)
        print(words)


def physical(value, component, dim):
    return 1 + 0.3 * abs(value) + 6 * ((dim, component) in ((4, 3), (7, 4)))


def compare(file, source, kernels, constants=(), declared=""):
    """Each kernel of the file, with its arguments."""
    with tempfile.TemporaryDirectory() as folder:
        texts, found = [declared + source.replace("static void", "void")], []
        for name, words in kernels.items():
            arguments = [harness.Argument(w) for w in words]
            both = harness.derive(OP2JIT, PLUGINS, file, name, words, constants)
            found.append((name, arguments, both))
            texts += [one.text for one in both.values()]
            for one in both.values():
                derived = os.path.join(folder, one.name + ".c")
                with open(derived, "w") as out:
                    out.write(one.text)
                again = harness.described(arguments, one)
                done = harness.ask(OP2JIT, PLUGINS, derived, one.name, again, constants, command="check")
                expect(done.returncode == 0, f"{one.name} is not accepted: {done.stdout}{done.stderr}\n{one.text}")
        library = harness.compile_all(folder, texts)
        for name, arguments, both in found:
            real = 0
            for seed in range(8):
                run = harness.Run(library, name, arguments, seed)
                if file.startswith(SAMPLES):  # such that pressures are positive
                    run.values = [[physical(v, c % a.dim, a.dim) if a.real else v for c, v in enumerate(row)]
                                  for a, row in zip(arguments, run.values)]
                if any(v != v for row in run.primal(run.values) for v in row):
                    continue
                real += 1
                wrong = run.check(both["tangent"], both["adjoint"])
                expect(not wrong, f"{name}, seed {seed}: {wrong}")
            expect(real > 3, f"{name} has a value for {real} seeds only")


def check_hard():
    file = os.path.join(HERE, "kernels.c")
    with open(file) as source:
        compare(file, source.read(), KERNELS)


def dats(*words):
    return ["dat double " + w for w in words]


def check_samples():
    flow = dats("2 pedge[0] READ", "2 pedge[1] READ", "4 pecell[0] READ", "4 pecell[1] READ", "1 pecell[0] READ", "1 pecell[1] READ",
                "4 pecell[0] INC", "4 pecell[1] INC")
    samples = {
        "airfoil/airfoil_kernels.h": (
            {
                "save_soln": dats("4 READ", "4 WRITE"),
                "adt_calc": dats("2 pcell[0..3] READ", "4 READ", "1 WRITE"),
                "res_calc": flow,
                "bres_calc": dats("2 b[0] READ", "2 b[1] READ", "4 c[0] READ", "1 c[0] READ", "4 c[0] INC") + [N],
                "update": dats("4 READ", "4 WRITE", "4 RW", "1 READ") + ["gbl double 1 INC"],
            },
            "gam double 1, gm1 double 1, cfl double 1, eps double 1, qinf double 4",
            "static const double gam = 1.4, gm1 = 0.4, cfl = 0.9, eps = 0.05, qinf[4] = {1, 0.4, 0.1, 2.5};\n",
        ),
        "aero/aero_kernels.h": (
            {
                "assemble": dats("2 m[0..3] READ", "1 m[0..3] READ", "16 WRITE", "1 m[0..3] INC"),
                "fix": dats("1 WRITE"),
                "multiply": dats("16 READ", "1 m[0..3] READ", "1 m[0..3] INC"),
                "product": dats("1 READ", "1 READ") + ["gbl double 1 INC"],
                "turn": dats("1 READ", "1 RW") + ["gbl double 1 READ"],
                "correct": dats("1 READ", "1 RW"),
            },
            "gm1 double 1, mach2 double 1, amplitude double 1",
            "static const double gm1 = 0.4, mach2 = 0.01, amplitude = 0.1;\n",
        ),
        "shallow_water/shallow_water_kernels.h": (
            {
                "fluxes": dats(*["1 READ"] * 10, *["1 WRITE"] * 4) + ["gbl double 1 READ"] * 2,
                "leap": dats(*["1 READ"] * 17, *["1 WRITE"] * 3) + ["gbl double 1 READ"] * 3,
                "filter": dats(*["1 RW"] * 6, *["1 READ"] * 3) + ["gbl double 1 READ"],
            },
            "",
            "",
        ),
        "airfoil_hydra/airfoil_hydra_kernels.h": (
            {
                "gradient": dats("3 READ", "7 m[0] READ", "7 m[1] READ", "21 m[0] INC", "21 m[1] INC"),
                "divide": dats("1 READ", "21 RW"),
                "flux": dats("3 m[0] READ", "3 m[1] READ", "3 READ", "1 m[0] READ", "1 m[1] READ", "7 m[0] READ", "7 m[1] READ",
                             "21 m[0] READ", "21 m[1] READ", "7 m[0] INC", "7 m[1] INC"),
                "total": dats("7 READ") + ["gbl double 1 INC"] * 2,
                "advance": dats("1 READ") + ["gbl double 1 READ"] + dats("7 RW", "7 RW", "21 WRITE") + ["gbl double 1 INC"],
            },
            "gam double 1, viscosity double 1",
            "static const double gam = 1.4, viscosity = 0.01;\n",
        ),
    }
    for name, (kernels, constants, declared) in samples.items():
        file = os.path.join(SAMPLES, name)
        with open(file) as source:
            compare(file, source.read(), kernels, ("--const", constants) if constants else (), declared)


REFUSED = [
    # fault 3: a bound is proved, never assumed
    ("void f(const double *a, double *w, const int *n) {\n  double s = a[0];\n  for (int k = 0; k < *n; k++)\n    s = s * a[1];\n"
     "  *w = s;\n}\n", [A, W, N], "4:5", "nothing says how many rounds there are at most", "add a bound to its condition"),
    ("void f(const double *a, double *w, const int *n) {\n  double t[3] = {0, 0, 0};\n  t[*n] = a[0];\n  *w = t[0];\n}\n", [A, W, N],
     "3:9", "t is written at an index that is known at run time only", "constant number of rounds"),
    ("void f(const double *a, double *w, const int *n) {\n  w[0] = a[0];\n  w[1] = 0;\n  double s = 0;\n"
     "  for (int k = 0; k < *n; k++) {\n    s += w[0];\n    w[k & 1] = a[1] * s;\n  }\n}\n", [A, "dat double 2 WRITE", N], "7:14",
     "w is written at an index that is known at run time only", "constant number of rounds"),
    ("void f(const double *a, double *w) {\n  *w = tgamma(a[0]);\n}\n", [A, W], "2:8", "the derivative of tgamma is not known",
     "write the function into the kernel's text"),
    ("void f(const double *a, double *w, const int *n) {\n  const double *p = *n ? a : a + 1;\n  double q[2] = {1, a[0]};\n"
     "  const double *r = *n ? q : p;\n  *w = *r;\n}\n", [A, W, N], "5:8", "the pointer may lead to several places",
     "choose between the values"),
    ("void f(const double *a, double *w) {\n  union { double d; long i; } u;\n  u.d = a[0];\n  *w = u.i;\n}\n", [A, W], "2:31",
     "there is no rule for the type", "use float, double"),
    ("void f(const double *a, double *w) {\n  if (a[0] > 0)\n    goto end;\n  *w = 1;\nend:\n  *w = a[0];\n}\n", [A, W], "3:5",
     "goto has no derivative here", "use loops, break and return"),
    ("void f(const double *a, double *w) {\n  static double kept;\n  kept = a[0];\n  *w = kept;\n}\n", [A, W], "3:3",
     "kept keeps its value from element to element", "make it a constant"),
    ("void f(const double *a, double *w) {\n  *w = *(const long *)a;\n}\n", [A, W], "2:9", "used as another type",
     "use it as the type it has"),
]


def check_refused():
    with tempfile.TemporaryDirectory() as folder:
        for number, (text, words, place, reason, remedy) in enumerate(REFUSED):
            file = os.path.join(folder, f"r{number}.c")
            with open(file, "w") as out:
                out.write(text)
            done = harness.ask(OP2JIT, PLUGINS, file, "f", words)
            said = done.stderr
            for part in (f"r{number}.c:{place})", "cannot be differentiated: ", reason, remedy, "^"):
                expect(done.returncode == 1 and part in said, f"refusal {number} has no {part!r}: {said}{done.stdout}")
            column = int(place.split(":")[1])
            lines = said.rstrip("\n").split("\n")
            text_line = text.split("\n")[int(place.split(":")[0]) - 1]
            at = [i for i, line in enumerate(lines) if line.endswith(text_line)]
            expect(at and lines[at[-1] + 1].index("^") == len(lines[at[-1]]) - len(text_line) + column - 1,
                   f"refusal {number}: the caret is elsewhere:\n{said}")


def check_texts():
    """Fault 4: what is used once stands where it is used. A parameter per thing, and no more (fault 6 is in tests/adjoint/test_tape.c)."""
    file = os.path.join(HERE, "kernels.c")
    both = harness.derive(OP2JIT, PLUGINS, file, "gathers", KERNELS["gathers"])
    expect(both["adjoint"].text.count("const double op2v") == 3, f"names that are used once are left: {both['adjoint'].text}")
    expect([p["role"] for p in both["adjoint"].parameters] == ["value", "bar", "bar"], "the adjoint's parameters are others")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "sum.c")
        with open(file, "w") as out:
            out.write("void f(const double *a, double *s) { *s += 2 * a[0]; }\n")
        both = harness.derive(OP2JIT, PLUGINS, file, "f", [A, "gbl double 1 INC"])
        roles = [(p["role"], p["argument"], p["access"]) for p in both["adjoint"].parameters]
        expect(roles == [("bar", 1, "OP_INC"), ("bar", 2, "OP_READ")], f"a linear kernel keeps values: {roles}")
        both = harness.derive(OP2JIT, PLUGINS, file, "f", [A, "gbl double 1 INC"], ("--passive", "1"))
        expect(not both["adjoint"].parameters, "a passive kernel has an adjoint")


def check_extrema():
    """MIN and MAX: candidates of one element, and the bar of the winner."""
    text = "void f(const double *a, double *m) {\n  const double v = a[0] * a[0];\n  if (v > *m)\n    *m = v;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "f.c")
        with open(file, "w") as out:
            out.write(text)
        arguments = [harness.Argument(w) for w in (A, "dat double 1 t[0] MAX")]
        found = harness.derive(OP2JIT, PLUGINS, file, "f", [a.words for a in arguments])
        roles = {mode: [(p["role"], p["access"]) for p in one.parameters] for mode, one in found.items()}
        expect(roles["candidates"] == [("value", "OP_READ"), ("candidate", "OP_WRITE")], f"candidates: {roles}")
        expect(roles["adjoint"] == [("value", "OP_READ"), ("bar", "OP_INC"), ("bar", "OP_READ"), ("winner", "OP_READ"),
                                    ("element", "OP_READ")], f"adjoint: {roles}")
        expect(roles["tangent"] == [("value", "OP_READ"), ("dot", "OP_READ"), ("value", "OP_MAX"), ("dot", "OP_INC"),
                                    ("winner", "OP_READ"), ("element", "OP_READ")], f"tangent: {roles}")
        library = harness.compile_all(folder, [one.text for one in found.values()])
        from ctypes import c_double, c_int, c_long

        a, best, dots, bars = (c_double * 3)(3, 0, 0), (c_double * 1)(0), (c_double * 3)(1, 0, 0), (c_double * 3)()
        out, one, five, four, won = (c_double * 1)(0), (c_double * 1)(1), (c_int * 1)(5), (c_int * 1)(4), (c_long * 1)(5)
        getattr(library, found["candidates"].name)(a, out)
        expect(out[0] == 9, f"the candidate is {out[0]}")
        getattr(library, found["tangent"].name)(a, dots, best, out, won, five)
        expect(best[0] == 9 and out[0] == 9 + 6, f"the tangent gives {best[0]}, {out[0]}")
        getattr(library, found["adjoint"].name)(a, bars, one, won, four)
        expect(bars[0] == 0, "an element that lost gets a bar")
        getattr(library, found["adjoint"].name)(a, bars, one, won, five)
        expect(bars[0] == 6, f"the winner's bar is {bars[0]}")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "f.c")
        with open(file, "w") as out:
            out.write("void f(const double *x, const double *x_bar, const double *element, double *m, double *m_winner) {\n"
                      "  if (*x * *x_bar > *m)\n    *m = *x * *x_bar;\n  if (*x * *element > *m_winner)\n    *m_winner = *x * *element;\n}\n")
        words = ["dat double 1 READ"] * 3 + ["dat double 1 t[0] MAX", "dat double 1 t[1] MAX"]
        for one in harness.derive(OP2JIT, PLUGINS, file, "f", words).values():  # names that meet
            harness.compile_all(folder, [one.text])


def check_usage():
    done = harness.ask(OP2JIT, PLUGINS, os.path.join(HERE, "kernels.c"), "better", KERNELS["better"], ("--passive", "3"))
    expect(done.returncode == 2 and "from 1 to 2" in done.stderr, f"--passive 3: {done.stderr}")


for check in (check_hard, check_samples, check_refused, check_texts, check_extrema, check_usage):
    check()
print("derive:", f"{len(failures)} failed" if failures else "passed")
sys.exit(bool(failures))
