#!/usr/bin/env python3
"""random.py SEED COUNT FOLDER [BLOCK [SIZE]]: writes kernels.f90, a module of random kernels of the subset, and compare.f90, a program that runs
each as a loop by its text and by calling the procedure, and compares the bits. Run by kernels.sh."""
import random
import re
import sys

seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
r = random.Random(seed)
BLOCK = int(sys.argv[4]) if len(sys.argv) > 4 else 10  # random procedures that one kernel calls
SIZE = int(sys.argv[5]) if len(sys.argv) > 5 else 3  # how deeply their statements are nested
# gfortran without optimization, which short ones are compiled by, multiplies higher powers in another order.
POWERS = [0, 1, 2, 3, 4, 5, 7] if SIZE > 1 else [0, 1, 2, 3, 4]

R8, R4, I4, I8, L = "real(8)", "real(4)", "integer(4)", "integer(8)", "logical"


class Maker:
    def __init__(self, name, functions):
        self.name = name
        self.functions = functions  # (name, type)
        self.lines = []
        self.indent = 1
        self.loops = []
        self.names = 0

    def out(self, line):
        line = "  " * self.indent + line
        while len(line) > 120:
            cut = line.rfind(" ", 30, 110)
            if cut < 0:
                break
            self.lines.append(line[:cut] + " &")
            line = "      " + line[cut:]
        self.lines.append(line)

    # ---- leaves: a(4), m(2,0:2), w(3) are real(8), s(3) real(4), i(4), l(2) whole, t(2) logical
    def index(self, low, high):
        if self.loops and r.random() < 0.5:
            variable, first, last = r.choice(self.loops)
            if first >= low and last <= high:
                return variable
        if r.random() < 0.2:
            span = high - low + 1
            return "modulo(%s, %d)%s" % (self.whole(1), span, " + %d" % low if low > 0 else "")
        return str(r.randint(low, high))

    def real8(self, depth):
        if depth <= 0 or r.random() < 0.15:
            return r.choice([
                lambda: "a(%s)" % self.index(1, 4), lambda: "b(%s)" % self.index(1, 4), lambda: "w(%s)" % self.index(1, 3),
                lambda: "m(%s, %s)" % (self.index(1, 2), self.index(0, 2)), lambda: "x", lambda: "half", lambda: "table(%s)" % self.index(0, 2),
                lambda: r.choice(["1.5d0", "0.25_8", "2d-1", "1.e0_wp", "3.0_wp", "0.1d0"]), lambda: "con"])()
        d = depth - 1
        return r.choice([
            lambda: "(%s %s %s)" % (self.real8(d), r.choice("+-*"), self.real8(d)),
            lambda: "%s %s %s" % (self.real8(d), r.choice("+-"), self.real8(d)),
            lambda: "%s*%s" % (self.tame(d), self.tame(d)),
            lambda: "%s/(1 + abs(%s))" % (self.tame(d), self.real8(d)),
            lambda: "%s*%s" % (self.tame(d), self.real4(d)),
            lambda: "(%s + %s)" % (self.real8(d), self.whole(d)),
            lambda: "-%s" % self.tame(d),
            lambda: "%s(%s)" % (r.choice(["abs", "aint", "anint"]), self.real8(d)),
            lambda: "sqrt(abs(%s))" % self.real8(d),
            lambda: "%s**2" % self.tame(d),
            lambda: "%s**%d" % (self.base(d), r.choice(POWERS)),
            lambda: "(1 + abs(%s))**(-%d)" % (self.base(d), r.choice([1, 2, 3])),
            lambda: "%s(%s, %s)" % (r.choice(["min", "max", "sign", "dim"]), self.real8(d), self.real8(d)),
            lambda: "%s(%s, 1.5d0)" % (r.choice(["mod", "modulo"]), self.real8(d)),
            lambda: "max(%s, %s, %s)" % (self.real8(d), self.real8(d), self.real8(d)),
            lambda: "merge(%s, %s, %s)" % (self.real8(d), self.real8(d), self.logic(d)),
            lambda: "real(%s, 8)" % self.whole(d), lambda: "dble(%s)" % self.real4(d), lambda: "real(%s, wp)" % self.whole8(d),
            lambda: "%s(%s)" % (r.choice(["sum", "maxval", "minval"]), self.array(d, 3)),
            lambda: "dot_product(%s, %s)" % (self.array(0, 3), self.array(d, 3)),
            lambda: "sum(transpose(n)*%s)" % r.choice(["m", "x"]),
            lambda: "%s(%s, %s)" % (self.function(R8), self.tame(d), self.whole(d)) if self.function(R8) else self.real8(d),
        ])()

    # The base of a power: no constant, whose powers gfortran knows to more digits than products of it have.
    def base(self, d):
        return r.choice(["a(%s)" % self.index(1, 4), "w(%s)" % self.index(1, 3), "x", "(x + %s)" % self.real8(d)])

    def tame(self, d):
        return r.choice(["a(%s)" % self.index(1, 4), "w(%s)" % self.index(1, 3), "x", "half", "(%s)" % self.real8(d)])

    def real4(self, depth):
        if depth <= 0 or r.random() < 0.3:
            return r.choice(["s(%s)" % self.index(1, 3), "0.1", "1.5e0", "2.5_4", "y"])
        d = depth - 1
        return r.choice([
            lambda: "(%s %s %s)" % (self.real4(d), r.choice("+-"), self.real4(d)),
            lambda: "0.5*(%s)" % self.real4(d),
            lambda: "s(%s)*s(%s)" % (self.index(1, 3), self.index(1, 3)),
            lambda: "%s(%s, %s)" % (r.choice(["min", "max", "sign"]), self.real4(d), self.real4(d)),
            lambda: "real(%s, 4)" % self.tame(d), lambda: "real(%s)" % self.whole(d),
            lambda: "sqrt(abs(%s))" % self.real4(d), lambda: "sum(s)",
        ])()

    def whole(self, depth):
        if depth <= 0 or r.random() < 0.3:
            return r.choice(["i(%s)" % self.index(1, 4) if depth > 0 else "i(%d)" % r.randint(1, 4), "7", "k", "three", "(-2)"])
        d = depth - 1
        return r.choice([
            lambda: "mod(%s, %s)" % (self.whole(d), r.choice(["7", "(-5)", "three"])),
            lambda: "modulo(%s, %s)" % (self.whole(d), r.choice(["7", "(-5)", "three"])),
            lambda: "(%s)/%s" % (self.whole(d), r.choice(["3", "(-2)", "(1 + abs(k))"])),
            lambda: "mod(%s %s %s, 1000)" % (self.whole(d), r.choice("+-*"), r.choice(["k", "three", "i(2)"])),
            lambda: "%s(%s, %s)" % (r.choice(["min", "max", "sign", "dim", "iand", "ior", "ieor"]), self.whole(d), self.whole(d)),
            lambda: "abs(%s)" % self.whole(d),
            lambda: "%s(mod(%s, 100d0))" % (r.choice(["int", "nint", "floor", "ceiling"]), self.real8(d)),
            lambda: "mod(i(%s), 5)**%d" % (self.index(1, 4), r.choice([2, 3])),
            lambda: "2**modulo(%s, 8)" % self.whole(d),
            lambda: "count(%s > %s)" % (self.array(0, 3), self.array(d, 3)),
            lambda: "merge(%s, %s, %s)" % (self.whole(d), self.whole(d), self.logic(d)),
            lambda: "int(mod(%s, 1000_8))" % self.whole8(d),
            lambda: "size(w)" , lambda: "maxval(i)",
        ])()

    def whole8(self, depth):
        if depth <= 0 or r.random() < 0.4:
            return r.choice(["l(%s)" % self.index(1, 2) if depth > 0 else "l(1)", "12345678901_8", "3_8"])
        d = depth - 1
        return r.choice([lambda: "mod(%s, 1000003_8)" % self.whole8(d), lambda: "int(%s, 8)" % self.whole(d),
                         lambda: "(%s + %s)" % (self.whole8(d), self.whole(d)), lambda: "(%s)/7" % self.whole8(d)])()

    def logic(self, depth):
        if depth <= 0 or r.random() < 0.1:
            return r.choice(["t(1)", "t(2)", ".true.", "k > 2", "x < 0"])
        d = depth - 1
        return r.choice([
            lambda: "%s %s %s" % (self.real8(d), r.choice(["<", "<=", ">", ">=", ".lt.", ".ge."]), self.real8(d)),
            lambda: "%s %s %s" % (self.whole(d), r.choice(["==", "/=", ".eq.", ".ne.", "<"]), self.whole(d)),
            lambda: "(%s %s %s)" % (self.logic(d), r.choice([".and.", ".or.", ".eqv.", ".neqv."]), self.logic(d)),
            lambda: ".not. %s" % r.choice(["t(1)", "(%s)" % self.logic(d)]),
            lambda: "%s(%s > %s)" % (r.choice(["any", "all"]), self.array(0, 3), self.array(d, 3)),
        ])()

    def array(self, depth, n):
        whole = {3: ["w", "table", "a(2:4)", "b(1:3)", "m(1, :)", "n(:, 2)", "a(i3)"], 4: ["a", "b"], 2: ["m(:, 1)", "a(1:3:2)", "b(4:2:-2)"]}[n]
        if depth <= 0 or r.random() < 0.2:
            return r.choice(whole)
        d = depth - 1
        return r.choice([
            lambda: "(%s %s %s)" % (self.array(d, n), r.choice("+-"), self.array(d, n)),
            lambda: "(%s*%s)" % (r.choice(whole), self.tame(d)),
            lambda: "abs(%s)" % self.array(d, n),
            lambda: "max(%s, %s)" % (self.array(d, n), self.tame(d)),
            lambda: "merge(%s, %s, %s > 0)" % (self.array(d, n), self.array(d, n), r.choice(whole)),
            lambda: "[%s]" % ", ".join("real(%s, 8)" % self.real8(0) for _ in range(n)),
            lambda: "[(half*j9 + %s, j9 = 1, %d)]" % (self.real8(0), n),
            lambda: {3: "reshape(n(:, 1:1), [3])", 2: "reshape(a(3:4), [2])", 4: "reshape(m(:, 0:1), [4])"}[n],
        ])()

    def function(self, type):
        fits = [n for n, t in self.functions if t == type]
        return r.choice(fits) if fits else None

    # ---- statements
    def assign(self):
        r.choice([
            lambda: self.out("b(%s) = %s" % (self.index(1, 4), self.bounded(3))),
            lambda: self.out("x = %s" % self.bounded(3)),
            lambda: self.out("w(%s) = %s" % (self.index(1, 3), self.bounded(2))),
            lambda: self.out("n(%s, %s) = %s" % (self.index(1, 3), self.index(1, 2), self.bounded(2))),
            lambda: self.out("y = mod(%s, 9.0)" % self.real4(2)),
            lambda: self.out("k = mod(%s, 500)" % self.whole(3)),
            lambda: self.out("i(%s) = mod(%s, 500)" % (self.index(1, 4), self.whole(3))),
            lambda: self.out("l(%s) = mod(%s, 99999999999_8)" % (self.index(1, 2), self.whole8(2))),
            lambda: self.out("s(%s) = mod(%s, 9.0)" % (self.index(1, 3), self.real4(2))),
            lambda: self.out("t(%d) = %s" % (r.randint(1, 2), self.logic(2))),
            lambda: self.out("w = mod(%s, 10d0)" % self.array(2, 3)),
            lambda: self.out("b = mod(%s, 10d0)" % self.array(2, 4)),
            lambda: self.out("b(2:4) = mod(b(1:3) + %s, 10d0)" % self.array(1, 3)),
            lambda: self.out("n(:, 2) = mod(%s, 10d0)" % self.array(1, 3)),
            lambda: self.out("n = transpose(m)"),
            lambda: self.out("call helper(x, %s, b(%s))" % (self.bounded(1), r.choice(["1", "2:4", "2"]))),
            lambda: self.out("w = pair(x, %s)" % self.bounded(1)),
        ])()

    def bounded(self, depth):
        return "mod(%s, 10d0)" % self.real8(depth)

    def block(self, depth):
        for _ in range(r.randint(1, min(SIZE + 1, 3))):
            self.statement(depth)

    def inside(self, depth):
        self.indent += 1
        self.block(depth - 1)
        self.indent -= 1

    def statement(self, depth):
        if depth <= 0 or r.random() < 0.5:
            return self.assign()
        return r.choice([self.put_if, self.put_do, self.put_while, self.put_select, self.put_where, self.put_old, self.put_concurrent])(depth)

    def put_if(self, depth):
        if r.random() < 0.3:
            return self.out("if (%s) b(%d) = %s" % (self.logic(2), r.randint(1, 4), self.bounded(1)))
        self.out("if (%s) then" % self.logic(2))
        self.inside(depth)
        if r.random() < 0.4:
            self.out(r.choice(["else if (%s) then", "elseif (%s) then"]) % self.logic(1))
            self.inside(depth)
        if r.random() < 0.6:
            self.out("else")
            self.inside(depth)
        self.out(r.choice(["end if", "endif"]))

    def put_do(self, depth):
        free = [v for v in ("j1", "j2", "j3") if v not in [x[0] for x in self.loops]]
        if not free:
            return self.assign()
        variable = free[0]
        first, last = r.choice([(1, 3), (1, 2), (2, 3), (1, 4)])
        self.names += 1
        name = "n%d" % self.names if r.random() < 0.4 else None
        bounds = r.choice(["%d, %d" % (first, last), "%d, %d, -1" % (last, first), "%d, %d, 2" % (first, last),
                           "%d, min(%d, modulo(k, 5))" % (first, last), "%d, %d, merge(1, 2, k > 3)" % (first, last)])
        self.out("%sdo %s = %s" % (name + ": " if name else "", variable, bounds))
        self.loops.append((variable, first, last))
        self.inside(depth)
        if r.random() < 0.4:
            self.out("  if (%s) %s%s" % (self.logic(1), r.choice(["exit", "cycle"]), " " + name if name else ""))
            self.inside(0)
        if len(self.loops) > 1 and r.random() < 0.3 and self.outer:
            self.out("  if (%s) %s %s" % (self.logic(1), r.choice(["exit", "cycle"]), self.outer[-1]))
        self.loops.pop()
        self.out("end do%s" % (" " + name if name else ""))

    outer = []

    def put_named(self, depth):
        pass

    def put_while(self, depth):
        if "j3" in [x[0] for x in self.loops] or "guard" in [x[0] for x in self.loops]:
            return self.assign()
        self.out("guard = 0")
        self.out("do while (guard < %d .and. %s)" % (r.randint(1, 4), self.logic(1)))
        self.out("  guard = guard + 1")
        self.loops.append(("guard", -9, 99))
        self.inside(depth)
        self.loops.pop()
        self.out("enddo")

    def put_old(self, depth):
        free = [v for v in ("j1", "j2", "j3") if v not in [x[0] for x in self.loops]]
        if not free:
            return self.assign()
        self.names += 1
        label = 10 * self.names
        self.out("do %d %s = 1, 3" % (label, free[0]))
        self.loops.append((free[0], 1, 3))
        self.inside(depth)
        if r.random() < 0.5:
            self.out("  if (%s) go to %d" % (self.logic(1), label))
            self.inside(0)
        self.loops.pop()
        self.lines.append("%d continue" % label)

    def put_select(self, depth):
        self.out("select case (modulo(%s, 7))" % self.whole(2))
        cases = ["case (0)", "case (1, 3)", "case (4:5)", "case (6:)", "case default"]
        r.shuffle(cases)
        for case in cases[: r.randint(1, 5)]:
            self.out(case)
            self.inside(depth)
        self.out("end select")

    def put_where(self, depth):
        if r.random() < 0.4:
            return self.out("where (%s > %s) w = mod(%s, 10d0)" % (self.array(1, 3), self.tame(1), self.array(1, 3)))
        self.out("where (%s > 0.5d0)" % self.array(1, 3))
        self.out("  w = mod(%s, 10d0)" % self.array(1, 3))
        if r.random() < 0.5:
            self.out("elsewhere (%s < 0.25d0)" % self.array(0, 3))
            self.out("  b(1:3) = mod(%s, 10d0)" % self.array(1, 3))
        if r.random() < 0.5:
            self.out("elsewhere")
            self.out("  w = mod(w + %s, 10d0)" % self.array(1, 3))
        self.out("end where")

    def put_concurrent(self, depth):
        if "c1" in [x[0] for x in self.loops]:
            return self.assign()
        self.out("do concurrent (c1 = 1:4, b(c1) > %s)" % self.tame(0))
        self.out("  b(c1) = mod(b(c1)*0.5d0 + a(c1), 10d0)")
        self.out("end do")


def procedure(name, functions):
    m = Maker(name, functions)
    m.block(SIZE)
    if SIZE > 1:
        m.block(SIZE - 1)
    head = """  subroutine %s(a, b, s, i, l)
    real(wp), intent(in) :: a(4)
    real(wp), intent(inout) :: b(4)
    real(4), intent(inout) :: s(3)
    integer, intent(inout) :: i(4)
    integer(8), intent(inout) :: l(*)
    real(8) :: m(2,0:2), n(3,2), w(3), x
    real :: y
    logical :: t(2)
    integer :: k, j1, j2, j3, guard, c1, j9
""" % name
    body = "\n".join("  " + line if not line[0].isdigit() else line for line in m.lines) + "\n"
    used = set(re.findall(r"[a-z]\w*", body))
    used |= {"m"} if "n" in used else set()
    used |= {"x", "k"} if "t" in used else set()
    begin = [("m", "m = reshape([a, b(1:2)], [2, 3])"), ("n", "n = transpose(m)"), ("w", "w = b(2:4)"), ("x", "x = a(1)"),
             ("y", "y = s(2)"), ("k", "k = i(1)"), ("t", "t = [x > 0, k > 3]")]
    begin += [(v, v + " = %d" % n) for n, v in enumerate(["guard", "j1", "j2", "j3"])] + [("c1", "c1 = 1")]
    b = "".join(" + " + end for v, end in [("x", "x"), ("w", "w(1)"), ("n", "n(2, 1)")] if v in used)
    i = "".join(" + " + end for v, end in [("k", "k"), ("t", "merge(1, 0, t(1) .neqv. t(2))"), ("j1", "j1"), ("j2", "j2")]
                if v in used)
    tail = "    b(1) = mod(b(1)%s, 10d0)\n    s(1) = mod(s(1)%s, 9.0)\n    i(1) = mod(i(1)%s, 500)\n  end subroutine\n" % (
        b, " + y" if "y" in used else "", i)
    return head + "".join("    %s\n" % line for v, line in begin if v in used) + body + tail


functions = [("f1", R8), ("f2", R8)]
text = """module kernels
  implicit none
  integer, parameter :: wp = kind(1d0), three = 3, i3(3) = [3, 1, 4]
  real(wp), parameter :: half = 0.5_wp, table(0:2) = [0.5_wp, -1.5_wp, half*half]
  real(8) :: con = 0.75d0
contains
  pure real(8) function f1(v, n)
    real(8), intent(in) :: v
    integer, intent(in) :: n
    f1 = v*half + n
    if (n > 2) return
    f1 = f1 - three
  end function

  function f2(v, n) result(g)
    real(wp), intent(in) :: v
    integer, intent(in) :: n
    real(wp) :: g
    integer :: j
    g = 0
    do j = 1, modulo(n, 4)
      g = g + f1(v, j)
    end do
  end function

  subroutine helper(x, v, b)
    real(8), intent(inout) :: x
    real(8), intent(in) :: v
    real(8), intent(inout) :: b(*)
    b(1) = mod(b(1) + v*x, 10d0)
    x = mod(x - v, 10d0)
  end subroutine

  pure function pair(x, v) result(p)
    real(8), intent(in) :: x, v
    real(8) :: p(3)
    p = [x, v, x*half - v]
    p(2) = p(2) + p(1)
  end function

"""
names = []
for number in range(count):
    text += procedure("p%d" % number, functions) + "\n"
blocks = (count + BLOCK - 1) // BLOCK
for block in range(blocks):
    text += "  subroutine k%d(a, b, s, i, l)\n    real(wp), intent(in) :: a(4)\n    real(wp), intent(inout) :: b(4)\n" % block
    text += "    real(4), intent(inout) :: s(3)\n    integer, intent(inout) :: i(4)\n    integer(8), intent(inout) :: l(2)\n"
    for number in range(block * BLOCK, min(count, (block + 1) * BLOCK)):
        text += "    call p%d(a, b, s, i, l)\n" % number
    text += "  end subroutine\n\n"
text += "end module\n"
open(folder + "/kernels.f90", "w").write(text)

program = """program compare
  use op2jit
  use kernels
  implicit none
  integer, parameter :: n = 64
  type(op_kernel) :: code
  type(op_set) :: cells
  type(op_dat) :: da, db, ds, di, dl
  real(8) :: a(4, n), b(4, n), b0(4, n), bb(4, n)
  real(4) :: s(3, n), s0(3, n), ss(3, n)
  integer :: i(4, n), i0(4, n), ii(4, n), c, bad
  integer(8) :: l(2, n), l0(2, n), ll(2, n)
  bad = 0
  do c = 1, n
    a(:, c) = [sin(c*1d0), cos(c*2d0)*3, c/7d0 - 4, -0.5d0*mod(c, 3)]
    b0(:, c) = [cos(c*1d0)*5, c/9d0 - 3, sin(c*3d0), mod(c, 5)*1d0]
    s0(:, c) = [real(c)/8 - 4, sin(real(c)), mod(c, 4)*0.5]
    i0(:, c) = [mod(c*37, 101) - 50, c - 30, mod(c, 7), -mod(c, 11)]
    l0(:, c) = [c*1000003_8 - 32000000_8, -c*12345_8]
  end do
  call op_init()
  call op_decl_const('con', 1, 'real(8)', con)
  code = op_kernel_file('kernels.f90')
  cells = op_decl_set(n, 'cells')
  da = op_decl_dat(cells, 4, 'real(8)', a, 'a')
"""
for block in range(blocks):
    program += """  db = op_decl_dat(cells, 4, 'real(8)', b0, 'b%(k)d')
  ds = op_decl_dat(cells, 3, 'real(4)', s0, 's%(k)d')
  di = op_decl_dat(cells, 4, 'integer(4)', i0, 'i%(k)d')
  dl = op_decl_dat(cells, 2, 'integer(8)', l0, 'l%(k)d')
  call op_par_loop(code, 'k%(k)d', cells, [op_arg_dat(da, -1, OP_ID, 4, 'real(8)', OP_READ), &
      op_arg_dat(db, -1, OP_ID, 4, 'real(8)', OP_RW), op_arg_dat(ds, -1, OP_ID, 3, 'real(4)', OP_RW), &
      op_arg_dat(di, -1, OP_ID, 4, 'integer(4)', OP_RW), op_arg_dat(dl, -1, OP_ID, 2, 'integer(8)', OP_RW)])
  call op_fetch_data(db, bb); call op_fetch_data(ds, ss); call op_fetch_data(di, ii); call op_fetch_data(dl, ll)
  b = b0; s = s0; i = i0; l = l0
  do c = 1, n
    call k%(k)d(a(:, c), b(:, c), s(:, c), i(:, c), l(:, c))
  end do
  call check(%(k)d)
""" % {"k": block}
program += """  call op_exit()
  if (bad > 0) error stop 'kernels differ'
  print '(a)', 'PASSED'
contains
  subroutine check(k)
    integer, intent(in) :: k
    integer :: e
    do e = 1, n
      if (all(close8(b(:, e), bb(:, e))) .and. all(close4(s(:, e), ss(:, e))) .and. all(i(:, e) == ii(:, e)) .and. &
          all(l(:, e) == ll(:, e))) cycle
      bad = bad + 1
      print *, 'kernel', k, 'element', e
      print *, b(:, e), s(:, e), i(:, e), l(:, e)
      print *, bb(:, e), ss(:, e), ii(:, e), ll(:, e)
      return
    end do
  end subroutine
  elemental logical function close8(x, y)
    real(8), intent(in) :: x, y
    close8 = abs(x - y) <= 0
  end function
  elemental logical function close4(x, y)
    real(4), intent(in) :: x, y
    close4 = abs(x - y) <= 0
  end function
end program
"""
open(folder + "/compare.f90", "w").write(program)
