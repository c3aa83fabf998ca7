"""The samples in Python: their own checks hold, their answers are those of C, and they are less than half as long."""

import glob
import os
import re
import shutil
import subprocess
import sys

import pytest

ROOT, BUILD = os.environ["OP2JIT_ROOT"], os.environ["OP2JIT_BUILD"]
#: Arguments, and a number that both print.
CASES = {
    "airfoil": (["--iters", "50"], r"rms after 50 iterations (?:against \S+\s+)?(\S+)", 0),
    "heat": (["--n", "40"], r"largest (\S+)", 1e-6),
    "shallow_water": (["--steps", "20"], r"rms of p - 50000 ([^\s,]+)", 1e-12),
    "transport": (["--n", "16"], r"mass (\d\S+),", 1e-10),
    "aero": (["--n", "16"], r"largest error:? (\S+)", 1e-5),
}
SHORT = [*CASES, "poisson"]  # which needs petsc4py: test_petsc.py runs it


def said(command, name, arguments):
    found = subprocess.run(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    assert found.returncode == 0 and f"{name}: PASSED" in found.stdout, found.stdout
    return found.stdout


@pytest.mark.parametrize("name", CASES)
def test_sample(name):
    arguments, pattern, close = CASES[name]
    text = said([sys.executable, os.path.join(ROOT, "samples", name, name + ".py")], name, arguments)
    program = os.path.join(BUILD, "samples", name)
    if close and os.path.exists(program):
        numbers = [float(re.search(pattern, words).group(1)) for words in (text, said([program], name, arguments))]
        assert abs(numbers[0] - numbers[1]) <= close * abs(numbers[1]), numbers
    else:
        assert re.search(pattern, text) and " yes" in text


@pytest.mark.parametrize("name", SHORT)
def test_sample_is_short(name):
    def count(pattern):
        return sum(open(file).read().count("\n") for file in glob.glob(os.path.join(ROOT, "samples", name, pattern)))

    assert 0 < 2 * count(name + ".py") < count("*.[ch]")


#: Those that optimise, and have no twins.
OPTIMISES = {"bottom": "bottom", "source": "heat"}


@pytest.mark.compiled
@pytest.mark.parametrize("name", OPTIMISES)
@pytest.mark.parametrize("backend", ["seq", "openmp"])
def test_sample_optimises(name, backend):
    pytest.importorskip("scipy.optimize", reason="SciPy is missing; ./dev test --with python installs it")
    command = [sys.executable, os.path.join(ROOT, "samples", OPTIMISES[name], name + ".py")]
    text = said(command, name, [f"OP2_BACKEND={backend}"])
    assert " NO" not in text and "gradient against a difference" in text and "misfit, of that of the guess" in text


@pytest.mark.compiled
def test_sample_finds_the_same_in_less_memory():
    pytest.importorskip("scipy.optimize", reason="SciPy is missing; ./dev test --with python installs it")
    command = [sys.executable, os.path.join(ROOT, "samples", "bottom", "bottom.py"), "OP2_BACKEND=seq"]
    all_of_it, less = (said(command, "bottom", words) for words in ([], ["--memory", "300K"]))
    facts = [re.search(r"keeps (\d+) bytes at most, and ran (\d+) steps again", text) for text in (all_of_it, less)]
    assert int(facts[0][1]) > 1000000 and int(facts[0][2]) == 0
    assert int(facts[1][1]) <= 300 * 1024 and int(facts[1][2]) > 0
    assert [re.search(r"\d+ depths.*", text)[0] for text in (all_of_it, less)][0] in less


@pytest.mark.compiled
def test_sample_draws_the_bottom(tmp_path):
    pytest.importorskip("scipy.optimize", reason="SciPy is missing; ./dev test --with python installs it")
    pytest.importorskip("matplotlib", reason="matplotlib is missing; ./dev test --with python installs it")
    command = [sys.executable, os.path.join(ROOT, "samples", "bottom", "bottom.py")]
    said(command, "bottom", ["--draw", str(tmp_path / "bottom.svg")])
    with open(tmp_path / "bottom.svg") as file:
        assert "<svg" in file.read()


def test_sample_without_scipy_says_so(tmp_path):
    (tmp_path / "scipy.py").write_text("raise ImportError")
    for name, folder in OPTIMISES.items():
        found = subprocess.run(
            [sys.executable, os.path.join(ROOT, "samples", folder, name + ".py")],
            env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ['PYTHONPATH']}"},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert found.returncode == 77 and "python3-scipy" in found.stdout, found.stdout


def has_hdf5():
    import op2jit

    with op2jit.runtime(diags=0):
        try:
            op2jit._library.check(op2jit._library.lib.op2jit_open_hdf5())
        except op2jit.Error:
            return False
    return bool(shutil.which("h5diff"))


#: Options, and the datasets that must be those of the C program, but for this difference.
WRITTEN = {
    "airfoil": (["--cells", "2000", "--iters", "20"], {"pcell": "1e-9", "p_x": "1e-9", "q": "1e-9"}),
    "shallow_water": (["--m", "32", "--steps", "20"], {"p": "1e-6"}),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_sample_writes_what_its_twin_writes(name, tmp_path):
    program, (arguments, datasets) = os.path.join(BUILD, "samples", name), WRITTEN[name]
    if not os.path.exists(program) or not has_hdf5():
        pytest.skip("there is no h5diff (Debian's hdf5-tools), or the library was built without HDF5")
    python = [sys.executable, os.path.join(ROOT, "samples", name, name + ".py")]
    files = [str(tmp_path / "python.h5"), str(tmp_path / "c.h5")]
    for command, file in zip((python, [program]), files):
        said(command, name, [*arguments, "--write", file])
    for dataset, close in datasets.items():
        command = ["h5diff", "-d", close, *files, dataset]
        found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("name", ["airfoil", "aero", "transport"])
def test_sample_writes_pictures(name, tmp_path):
    arguments = {"airfoil": ["--cells", "2000", "--iters", "5"], "aero": ["--n", "8"], "transport": ["--n", "10"]}[name]
    command = [sys.executable, os.path.join(ROOT, "samples", name, name + ".py")]
    said(command, name, [*arguments, "--vtk", str(tmp_path / "seen")])
    with open(tmp_path / "seen.xdmf") as file:
        text = file.read()
    assert text.count("<Grid") >= (4 if name == "transport" else 1) and "<Attribute" in text


@pytest.mark.parametrize("name", ["heat", "aero"])
def test_sample_fails_where_a_loop_is_wrong(name, tmp_path):
    """Its checks notice."""
    with open(os.path.join(ROOT, "samples", name, name + ".py")) as file:
        text = file.read()
    wrong = {"heat": ("1 - 4 * r[0]", "1 - 3 * r[0]"), "aero": ("amplitude * np.sin", "0.99 * amplitude * np.sin")}[
        name
    ]
    (tmp_path / "wrong.py").write_text(text.replace(*wrong))
    found = subprocess.run(
        [sys.executable, tmp_path / "wrong.py", *CASES[name][0]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert found.returncode == 1 and "FAILED" in found.stdout
