"""op2jit check: verdicts, places and remedies, statuses, JSON, and what it says to a command line that is wrong.

usage: check.py OP2JIT PLUGIN
"""
import json
import os
import re
import subprocess
import sys
import tempfile

OP2JIT, PLUGINS = os.path.abspath(sys.argv[1]), os.path.dirname(os.path.abspath(sys.argv[2]))
failures = []

KERNELS = r"""
#include <math.h>
static void add(double *r, double by) { *r += by; }
void flux(const double *q1, const double *q2, double *r1, double *r2, double *worst) {
  double f = 0.5 * (q1[0] + q2[0]);
  add(r1, f);
  *r2 -= f;
  if (f > *worst)
    *worst = f;
}
void assigns(const double *q, double *r) { *r = *q; }
void halves(const double *q, double *r) { *r = 0.5 * (*r + *q); }
void larger(const double *q, double *r) { if (*q > 1) *r = *q; }
void steps(const double *x[3], double *r, const int *n) {
  for (int i = 0; i < *n; i++)
    *r += x[i][0];
}
void best(const double *q, double *m, int *where, const int *n) {
  if (*q > *m) {
    *m = *q;
    *where = *n;
  }
}
void divides(int *r) {
  *r += 1 / 0;
}
void least(const double *q, double *m) { if (*q < *m) *m = *q; }
void multiply(int n, const double **a, const double **x, double *y) {
  *y = 0;
  for (int k = 0; k < n; k++)
    *y += *OP_ROW(a, k) * *OP_ROW(x, k);
}
void far(int n, const double **x, double *y) { *y = *OP_ROW(x, n); }
#define AT(k) x[k][0]
void hides(int n, const double **x, double *y) { *y = n; for (int k = 0; k < n; k++) *y += AT(k); }
#if __clang_major__ > 0
#define R(x, k) x[k]
#else
#define R(x, k) OP_ROW(x, k)
#endif
void unsure(int n, const double **x, double *y) { *y = n; for (int k = 0; k < n; k++) *y += *R(x, k); }
void indexes(int n, const double **x, double *y) { *y = n ? x[0][0] : 0; }
void spans(int n, const double **x, int m, double **z) {
  for (int k = 0; k < m; k++)
    *OP_ROW(z, k) += n ? *OP_ROW(x, 0) : 0;
}
void spread(int n, const double **x, double *y) {
  *y = n;
  for (int k = 1; k < n; k++) {
    const double *end = OP_ROW(x, k) + 1;
    for (const double *p = OP_ROW(x, k); p < end && p != OP_ROW(x, k) + 1; p++)
      *y += -*OP_ROW(x, k) - *OP_ROW(x, k - 1) - OP_ROW(x, k)[0] + *(OP_ROW(x, k) + 0) * (*OP_ROW(x, 0) < *p);
  }
}
void mean(int n, const double **x, double *y) {
  double s = 0;
  for (int k = 0; k < n; k++)
    s += *OP_ROW(x, k);
  if (n)
    *y = s / n;
}
void last(int n, const double **x, double *y) {
  double s;
  for (int k = 0; k < n; k++)
    s = *OP_ROW(x, k);
  *y = s;
}
void rows(const double **x, double *y) { *y = *OP_ROW(x, 1); }
"""
TYPO = "void typo(int n, const double **x, double *y) { *y = n ? *OP_ROW(z, 0) : *op_row(x, 0); }\n"
BROKEN = "void broken(double *r) { *r += gam; }\n"
SCALED = "void scaled(double *r) {\n  *r += other * gam[3];\n}\n"


def run(kernel, *words, status=0):
    done = subprocess.run([OP2JIT, "check", kernel + ".c" if kernel in ("broken", "scaled", "typo") else "kernels.c", "--kernel", kernel, *words, "OP2_PLUGINS=" + PLUGINS],
                          capture_output=True, text=True)
    if done.returncode != status:
        failures.append(f"{kernel} {words}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def listed(kernel, *words, status=0):
    out, _ = run(kernel, "--json", *words, status=status)
    return json.loads(out) if out else [{}] * 9


def check(what, condition, shown=""):
    if not condition:
        failures.append(f"{what}\n{shown}")


def verdicts():
    flux = ["dat double 4 pcell[0] OP_READ", "dat double 4 pcell[1] READ", "dat double 4 pcell[0] inc",
            "dat double 4 pcell[1] OP_INC", "gbl double 1 OP_MAX"]
    out, _ = run("flux", "--args", *flux)
    check("all are proved", out.count("proved ") == 5 and "violated" not in out and "unknown" not in out, out)
    rows = listed("flux", *flux)
    check("JSON of what is proved",
          [r.get("argument") for r in rows] == [1, 2, 3, 4, 5] and {r.get("verdict") for r in rows} == {"proved"}
          and rows[1].get("text") == flux[1], str(rows))

    words = ["dat double 1 OP_READ", "dat double 1 m[2] OP_INC"]
    out, _ = run("assigns", *words, status=1)
    check("a violation has place, excerpt and remedy",
          "kernels.c:11:" in out and "void assigns" in out and "^" in out and "with += or -=" in out, out)
    check("through a map OP_RW is no remedy", "OP_RW" not in out, out)
    out, _ = run("assigns", "dat double 1 OP_READ", "dat double 1 OP_INC", status=1)
    check("without a map, what is assigned is OP_WRITE unless it is read", "declare it OP_WRITE if the kernel sets all of it" in out, out)
    rows = listed("assigns", *words, status=1)
    check("JSON of a violation", rows[1].get("verdict") == "violated" and rows[1]["line"] == 11
          and "OP_INC" in rows[1]["reason"] and rows[1]["remedy"].startswith("add to it only"), str(rows))

    for kernel, own in ("halves", "write it first"), ("larger", "write all its components on every path"):
        for through, says in ("m[0] ", own + ", or declare it OP_INC and only add to it; OP_RW is right only where no two"), ("", "OP_RW, or " + own):
            out, _ = run(kernel, "dat double 1 OP_READ", f"dat double 1 {through}OP_WRITE", status=1)
            check(f"the remedy of OP_WRITE, {kernel} {through}", says in out, out)

    out, _ = run("steps", "dat double 1 m[0..2] OP_READ", "gbl double 1 OP_INC", "idx")
    check("what is not known is said with its reason",
          "unknown   the kernel as a whole" in out and "unknown   argument 1" in out and "number of rounds" in out, out)
    out, _ = run("broken", "--const", "other int 3, gam double 1", "gbl double 1 OP_INC")
    check("a constant", out.count("proved ") == 1, out)
    out, _ = run("best", "dat double 1 OP_READ", "gbl double 1 OP_MAX", "info int 1 2", "idx")
    check("a payload", out.count("proved ") == 4, out)


def ragged():
    out, _ = run("multiply", "dat double 1 matrix[entries] READ", "dat double 1 matrix[] READ", "dat double 1 WRITE")
    check("rows of a ragged map are proved", out.count("proved ") == 3 and out.count("of an element with few targets") == 2, out)
    out, _ = run("spans", "dat double 1 a[] READ", "dat double 1 b[] INC")
    check("two ragged maps", "violated" not in out, out)
    _, err = run("typo", "dat double 1 m[] READ", "dat double 1 WRITE", status=1)
    check("a typo in OP_ROW is told once", err.count("identifier 'z'") == 1 and "did you mean OP_ROW?" in err, err)
    out, err = run("spread", "dat double 1 m[] READ", "dat double 1 WRITE")
    check("rows that are followed may be subtracted and compared", "violated" not in out and not err, out + err)
    for kernel, about, says in ("mean", "argument 2", "never writes component 0; write it before the loop"), ("last", "the kernel as a whole", "variable 's' is used and has no value"):
        out, _ = run(kernel, "dat double 1 m[] READ", "dat double 1 WRITE")
        check(f"without targets, {kernel}", f"unknown   {about}" in out and "of an element without targets, " in out and says in out
              and "it is right only where each element has a target" in out, out)
    rows = listed("mean", "dat double 1 m[] READ", "dat double 1 WRITE")
    check("without targets, in JSON", rows[1]["verdict"] == "unknown" and rows[1]["reason"].startswith("of an element without targets, "), str(rows))
    out, _ = run("far", "dat double 1 m[] READ", "dat double 1 WRITE", status=1)
    check("a k that is n", "violated  argument 1: dat double 1 m[] READ" in out and "let k in OP_ROW(x, k) go from 0 to n - 1" in out, out)
    _, err = run("indexes", "dat double 1 m[] READ", "dat double 1 WRITE", status=1)
    check("an index", "write OP_ROW(x, 0) in place of x[0]" in err, err)
    _, err = run("hides", "dat double 1 m[] READ", "dat double 1 WRITE", status=1)
    check("an index in a macro", "write OP_ROW(x, k) in place of x[k]" in err, err)
    _, err = run("unsure", "dat double 1 m[] READ", "dat double 1 WRITE", status=1)
    check("an index in one of two macros", "write OP_ROW(x, k) in place of x[k]" in err, err)
    _, err = run("rows", "dat double 1 m[0..1] READ", "dat double 1 WRITE", status=1)
    check("OP_ROW of a map of one arity", "write x[k] in place of OP_ROW(x, k)" in err, err)
    _, err = run("multiply", "dat double 1 m[entries] READ", "dat double 1 m[0..2] READ", "dat double 1 WRITE", status=2)
    check("one map, ragged and not", "goes through the map as a ragged one" in err, err)
    _, err = run("rows", "dat double 1 m[] READ", "dat double 1 WRITE", status=1)
    check("names stay with their parameters", "const double **x, double *y)" in err, err)


def refused():
    for words, says in [
            (["gbl double 1 OP_INC"], "undeclared identifier 'gam'"),
            (["gbl float 1 OP_INC"], "float"),
            (["gbl double 1 OP_INC", "idx"], "1 parameter"),
    ]:
        _, err = run("broken", *words, status=1)
        check(f"{words}", says in err, err)
    for words, says in [
            (["dat dubble 1 READ"], 'there is no type "dubble"'),
            (["dat double READ"], "there is no dim behind the type"),
            (["dat double 1"], "the access is missing"),
            (["dat double 1 WORK"], 'the access is "WORK"'),
            (["dat double 1 m[x] READ"], 'the map is "m[x]"'),
            (["dat double 1 m[0] READ", "dat double 1 m[] READ"], "another argument names one column"),
            (["dat double:soa 2 m[] READ"], "must be whole"),
            (["idx m[]"], 'the map is ragged, "m[]"'),
            (["dat double 1 m[0..1] READ", "idx m[2]"], 'beyond the vector of map "m"'),
            (["gbl double 1 READ READ"], "too many words"),
            (["field double 1 READ"], 'it begins with "field"'),
            (["info int 1 1"], "its reference is wrong"),
            (["gbl double 1 INC", "--const", "gam"], "the type is missing"),
            (["gbl double 1 INC", "--const", "gam 3 double"], '--const "gam 3 double": expected NAME TYPE DIM, and "3" is no type; a type is double'),
            (["dat 4 double READ"], 'argument "dat 4 double READ": expected TYPE DIM, and "4" is no type'),
    ]:
        _, err = run("broken", *words, status=2)
        check(f"{words}", says in err and "expected" in err, err)
    run("assigns", "dat double:soa 1 READ", "dat double 1 WRITE")
    _, err = run("divides", "gbl int:soa 1 OP_INC", status=2)
    check("a layout is a dat's", "int:soa" in err and "expected" in err, err)
    _, err = run("nothing", "gbl double 1 INC", status=1)
    check("no such kernel", "it defines add, flux" in err, err)
    _, err = run("flx", status=1)
    check("no such kernel comes before its arguments", "no function flx" in err and "did you mean flux" in err, err)
    _, err = run("flux", status=2)
    check("arguments are needed", "an argument is missing: kernel flux has 5 parameters" in err, err)
    out, _ = run("scaled", "gbl double 1 OP_INC", "--const", "gam double 1, other int 1", status=1)
    _, err = run("scaled", "gbl double 1 OP_INC", "--const", "gam double 1, other int 1", status=1)
    check("a constant that is no array", "\ngam is a constant of dim 1 (op_decl_const)\n" in err and "other is" not in err, err)
    out, _ = run("scaled", "gbl double 1 OP_INC", "--const", "gam double 3, other int 1", status=1)
    check("a constant that is shorter", "violated  the kernel as a whole" in out and "constant gam has dim 3, and the kernel uses component 3" in out
          and "scaled.c:2:" in out and "^" in out, out)
    out, _ = run("divides", "gbl int 1 OP_INC")
    check("a warning", "kernels.c:25:" in out and "warning: division by zero" in out, out)
    out, err = run("divides", "--json", "gbl int 1 OP_INC")
    check("a warning beside JSON", '"verdict":"proved"' in out.replace(" ", "") and "warning: division by zero" in err, out + err)
    out, _ = run("least", "dat double 1 READ", "gbl double 1 OP_INC", status=1)
    check("the smallest is OP_MIN", "declare argument 2 (m) OP_MIN" in out and "OP_RW" not in out, out)
    out, _ = run("halves", "dat double 1 READ", "gbl double 1 OP_INC", status=1)
    check("of a global OP_RW is no remedy", "add to it only" in out and "OP_RW" not in out, out)
    out, _ = run("least", "dat double 1 READ", "dat double 1 OP_INC", status=1)
    check("of a dat OP_MIN is no remedy", "declare it OP_RW, or only add to it" in out and "OP_MIN" not in out, out)
    out, _ = run("least", "dat double 1 READ", "dat double 1 m[0] OP_INC", status=1)
    check("through a map it is", "declare argument 2 (m) OP_MIN" in out and "OP_RW" not in out, out)
    out, _ = run("least", "dat double 1 READ", "dat double 1 m[0] OP_MIN")
    check("and then it is proved", "violated" not in out and out.count("proved") == 2, out)
    _, err = run("broken", "gbl double 1 OP_INC", status=1)
    check("an undeclared name's remedies", re.search(r"(?m)^put it in the text: .*; if gam is a constant, declare it with op_decl_const "
          r"before the loop \(op2jit check: --const\)$", err), err)
    for text in ('#include <op2jit.h>\nvoid k(double *r) { *r += 1; }\n', '\nOP_KERNEL_DEF(k, void k(double *r) { *r += 1; })\n',
                 'static const char k[] = \nOP_KERNEL(void k(double *r) { *r += 1; });\n'):
        with open("program.c", "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([OP2JIT, "check", "program.c", "--kernel", "k", "gbl double 1 INC", "OP2_PLUGINS=" + PLUGINS],
                              capture_output=True, text=True)
        line = 1 if text.startswith("#") else 2
        check("a program is not a kernel", done.returncode == 1 and f"program.c is a program (line {line}: " in done.stderr
              and "the kernel's text alone" in done.stderr, done.stderr + done.stdout)
    done = subprocess.run([OP2JIT, "check", "kernels.c", "gbl double 1 INC"], capture_output=True, text=True)
    check("--kernel is needed", done.returncode == 2 and "--kernel" in done.stderr, done.stderr)
    done = subprocess.run([OP2JIT, "check", "none.c", "--kernel", "k", "idx"], capture_output=True, text=True)
    check("no such file", done.returncode == 1 and "none.c cannot be opened" in done.stderr, done.stderr)
    done = subprocess.run([OP2JIT, "check", "--help"], capture_output=True, text=True)
    check("--help", done.returncode == 0 and "MAP[0..N]" in done.stdout, done.stdout)


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    with open("typo.c", "w", encoding="utf-8") as file:
        file.write(TYPO)
    with open("kernels.c", "w", encoding="utf-8") as file:
        file.write(KERNELS)
    with open("broken.c", "w", encoding="utf-8") as file:
        file.write(BROKEN)
    with open("scaled.c", "w", encoding="utf-8") as file:
        file.write(SCALED)
    verdicts()
    ragged()
    refused()
print("\n".join(failures) or "op2jit check: all as it should be")
sys.exit(1 if failures else 0)
