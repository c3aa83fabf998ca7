"""flow3d keeps a free stream on a mesh of all kinds of cells, is of second order, gives the same forces on any number of
ranks, goes on from a file with the same bits, gains by multigrid, which flat cells bear too, and finds Blasius's friction, the temperature of a
wall in Couette's flow, and the gradient of a drag.

usage: flow3d.py PROGRAM mesh.py PART... (parts: the functions below)
"""

import math
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile

CHANNEL = ["--size", "3", "1", "1", "--boundary", "far", "outflow", "symmetry", "symmetry"]
wrong = []


def expect(what, holds):
    print(f"{what}: {'yes' if holds else 'NO'}")
    if not holds:
        wrong.append(what)


def run(*words, ranks=0):
    launcher = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks else []
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = [*map(str, words), "OP2_CACHE=kernels.db"]
    done = subprocess.run([*launcher, program, *words], env={**os.environ, **root}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=1000, check=False)  # fmt: skip
    print(done.stdout)
    if "HDF5 files cannot be used" in done.stdout:
        print("skipped: no HDF5 here")
        sys.exit(77)
    expect(f"{' '.join(words[:-1])} passes", done.returncode == 0)
    return done.stdout


def box(name, *cells, options=()):
    if not os.path.exists(name):
        sys.argv = ["mesh.py", "box", name, "--cells", *map(str, cells), *options]
        runpy.run_path(script, run_name="__main__")
    return name


def numbers(said, line):
    found = re.search(f"^{line}.*", said, re.MULTILINE)
    return [float(word) for word in re.findall(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?", found[0])] if found else [math.nan] * 9


def order(kind, sizes, reynolds, least=1.9, stop=1e-3):
    """By how much the error falls as cells become smaller, as the power of their size."""
    errors = []
    for n in sizes:
        mesh = box(f"{kind}{n}.h5", n, n, n, options=["--kind", kind, "--wave", "0.04", "--levels", "3"])
        said = run("--mesh", mesh, "--levels", 3, "--cfl", 2, "--stop", stop, "--check", "made-up", "--reynolds", reynolds)
        errors.append(math.sqrt(sum(error**2 for error in numbers(said, "errors"))))
    found = math.log(errors[0] / errors[1]) / math.log(sizes[1] / sizes[0])
    expect(f"order {found:.3f} of {kind} {sizes}, Reynolds number {reynolds}, is {least} or more", found >= least)


def stream():
    mesh = box("mixed.h5", 6, 4, 4, options=["--kind", "mixed", "--wave", "0.05", "--levels", "2"])
    run("--mesh", mesh, "--levels", 2, "--angle", 20, "--limiter", 1, "--cycles", 3, "--check", "stream")
    run("--mesh", mesh, "--levels", 2, "--angle", 20, "--reynolds", 50, "--cycles", 3, "--check", "stream")


def second():
    order("hexes", [6, 12], 0, stop=1e-2)
    order("hexes", [6, 12], 5, least=1.75, stop=1e-2)  # so coarse that errors of friction and of the flow are of one size


def second_long():
    order("hexes", [12, 24], 0)
    order("hexes", [12, 24], 2)
    order("wedges", [10, 20], 0)
    order("mixed", [6, 12], 0, least=1.75)  # the parts of which do not change smoothly into one another


def bumps():
    return box("bumps.h5", 9, 3, 5, options=["--kind", "mixed", *CHANNEL, "wall", "far", "--levels", "2"])


CASE = ["--levels", 2, "--mach", 0.4, "--reynolds", 200, "--limiter", 1, "--height", 0.05]


def ranks():
    if not shutil.which("mpirun.openmpi"):
        print("skipped: there is no mpirun.openmpi (Debian's openmpi-bin)")
        sys.exit(77)
    forces = [numbers(run("--mesh", bumps(), *CASE, "--cycles", 5, ranks=n), "drag")[:3] for n in (0, 2, 3, 4)]
    apart = max(abs(a / b - 1) for other in forces[1:] for a, b in zip(other, forces[0]))
    expect(f"forces on 1 to 4 ranks differ by {apart:.1e}, which is rounding", apart < 1e-10)


def restart():
    whole = run("--mesh", bumps(), *CASE, "--cycles", 6, "--history", "whole")
    run("--mesh", bumps(), *CASE, "--cycles", 2, "--history", "parts", "--write", "state.h5")
    rest = run("--mesh", bumps(), *CASE, "--cycles", 4, "--history", "parts", "--restart", "state.h5", "--vtk", "flow")
    expect("forces have the same bits", numbers(whole, "drag") == numbers(rest, "drag"))
    with open("whole", encoding="utf-8") as one, open("parts", encoding="utf-8") as two:
        lines = one.readlines()
        expect("so have those of each cycle", lines == two.readlines() and len(lines) == 7)
    with open("flow.xdmf", encoding="utf-8") as picture:
        expect("ParaView gets four fields on cells", picture.read().count('Center="Cell"') == 4)


def multigrid():
    mesh = box("hexes9.h5", 9, 9, 9, options=["--wave", "0.04", "--levels", "3"])
    work = [numbers(run("--mesh", mesh, "--levels", levels, "--cfl", 2, "--stop", 1e-3, "--check", "made-up",
                        "--reynolds", 20), "cycle")[1] for levels in (1, 3)]  # fmt: skip
    expect(f"work {work[0]:.0f} on one level, {work[1]:.0f} on three: fewer", work[1] < 0.7 * work[0])


def thin():
    """One cell across, and graded towards the wall, where corrections once grew from cycle to cycle."""
    mesh = box("thin.h5", 48, 1, 32, options=["--origin", "-0.5", "0", "0", "--size", "1.5", "1", "1", "--grade", "1.14", "--boundary",
               "far", "outflow", "symmetry", "symmetry", "wall", "far", "--levels", "4"])  # fmt: skip
    run("--mesh", mesh, "--levels", 4, "--mach", 0.3, "--reynolds", 10000, "--cycles", 40)


def couette():
    """The wall takes no heat: how warm it is says so. Half the size of cells, a fourth of the error."""
    errors = []
    for n in (5, 10):
        mesh = box(f"couette{n}.h5", n, 2, n, options=["--wave", "0.04", "--boundary", "far", "far", "symmetry", "symmetry", "wall", "far"])
        said = run("--mesh", mesh, "--mach", 0.5, "--reynolds", 5, "--cfl", 2, "--stop", 1e-4, "--check", "couette")
        errors.append(abs(numbers(said, "  recovery factor, over the Prandtl number")[0] - 1))
    order = math.log2(errors[0] / errors[1])
    expect(f"order {order:.3f} of the wall's temperature is 1.8 or more", order >= 1.8)


def plate(cells, grade, reynolds, bound, cycles):
    mesh = box("plate.h5", cells[0], 1, cells[1], options=["--origin", "-0.5", "0", "0", "--size", "1.5", "1", "1", "--grade",
               str(grade), "--boundary", "far", "outflow", "symmetry", "symmetry", "wall", "far"])  # fmt: skip
    said = run("--mesh", mesh, "--mach", 0.3, "--reynolds", reynolds, "--cfl", 2, "--cycles", cycles, "--stop", 1e-4,
               "--check", "plate")  # fmt: skip
    ratio = numbers(said, "  friction over that of Blasius")[0]
    expect(f"friction is {ratio:.4f} of Blasius's, at most {bound} away", abs(ratio - 1) <= bound)


def blasius():
    plate((16, 12), 1.25, 2000, 0.1, 400)


def blasius_long():
    plate((48, 32), 1.14, 10000, 0.04, 6000)


def gradient():
    mesh = box("channel.h5", 8, 2, 4, options=[*CHANNEL, "slip", "far"])
    run("--mesh", mesh, "--mach", 0.4, "--reynolds", 100, "--height", 0.05, "--cfl", 2, "--cycles", 4000, "--check", "gradient")


def gradient_long():
    mesh = box("channel_long.h5", 12, 3, 6, options=["--kind", "mixed", *CHANNEL, "wall", "far", "--levels", "2"])
    run("--mesh", mesh, "--levels", 2, "--mach", 0.4, "--reynolds", 100, "--height", 0.05, "--cycles", 9000, "--check", "gradient")


if __name__ == "__main__":
    try:
        import h5py  # noqa: F401
    except ImportError:
        debian = "/usr/bin/python3"
        if os.path.realpath(sys.executable) != os.path.realpath(debian) and os.path.exists(debian):
            os.execv(debian, [debian, *sys.argv])
        print("skipped: h5py is missing (Debian's python3-h5py)")
        sys.exit(77)
    program, script, parts = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in parts:
            print(f"== {part}")
            globals()[part]()
        os.chdir("/")
    print("flow3d: " + (f"FAILED: {'; '.join(wrong)}" if wrong else "PASSED"))
    sys.exit(bool(wrong))
