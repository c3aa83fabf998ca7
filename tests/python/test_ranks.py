"""Programs in Python on two and four ranks, by Open MPI, which Debian's mpi4py is built with."""

import os
import shutil
import subprocess
import sys

import pytest

HERE, ROOT = os.path.dirname(__file__), os.environ["OP2JIT_ROOT"]
SAMPLES = {
    "airfoil": ["--iters", "50"],
    "heat": ["--n", "30"],
    "shallow_water": ["--steps", "20"],
    "transport": ["--n", "10"],
    "aero": ["--n", "8"],
}

if not shutil.which("mpirun.openmpi"):
    pytest.skip("there is no mpirun.openmpi (Debian's openmpi-bin)", allow_module_level=True)
if not os.path.exists(os.path.join(os.environ["OP2JIT_BUILD"], "runtime", "ranks", "mpi", "op2jit-mpi-openmpi.so")):
    pytest.skip("this build has no plugin for Open MPI", allow_module_level=True)


def ranks(count, *words, **more):
    command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(count), sys.executable, *words]
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OP2_THREADS": "1",
        **more,
    }
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=100
    )


def program(count, *words, **more):
    pytest.importorskip("mpi4py", reason="mpi4py is missing; ./dev test --with python installs it")
    return ranks(count, os.path.join(HERE, "ranks_program.py"), *words, **more)


@pytest.mark.parametrize("backend", ["native", "seq"])
def test_communicators(backend):
    for count, words in ((2, "world"), (4, "half")) if backend == "seq" else ((2, "world"),):
        found = program(count, words, OP2_BACKEND=backend)
        assert found.returncode == 0 and found.stdout.count("done") == count, found.stdout


def test_an_exception_of_one_rank_ends_the_job():
    found = program(2, "world", "fail", OP2_BACKEND="seq")
    assert found.returncode != 0 and "ValueError: of one rank alone" in found.stdout and "done" not in found.stdout


def test_an_error_of_the_library_on_one_rank_ends_the_job():
    found = program(2, "world", "mismatch", OP2_BACKEND="seq")
    assert found.returncode != 0 and "op2jit.errors.ArgumentError" in found.stdout and "done" not in found.stdout, found.stdout


def test_ranks_that_declare_nothing():
    pytest.importorskip("mpi4py", reason="mpi4py is missing; ./dev test --with python installs it")
    found = ranks(2, os.path.join(HERE, "ranks_empty.py"), OP2_BACKEND="seq")
    assert found.returncode == 0 and found.stdout.count("done") == 1, found.stdout


def passes(name, folder, *words):
    found = ranks(2, os.path.join(ROOT, "samples", folder, name + ".py"), *words, OP2_BACKEND="seq")
    assert found.returncode == 0 and found.stdout.count(f"{name}: PASSED") == 1, found.stdout


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name):
    """Without a communicator: under mpirun the library takes part by itself."""
    passes(name, name, *SAMPLES[name])


@pytest.mark.parametrize("name, folder", [("bottom", "bottom"), ("source", "heat")])
def test_samples_that_optimise(name, folder):
    for module in ("scipy", "mpi4py"):
        pytest.importorskip(module, reason=f"{module} is missing; ./dev test --with python installs it")
    passes(name, folder)


@pytest.mark.parametrize("word", ["arity", "report", "petsc"])
def test_what_goes_wrong_has_names_of_python(word):
    for module in ["mpi4py"] + ["petsc4py"] * (word == "petsc"):
        pytest.importorskip(module, reason=f"{module} is missing; ./dev test --with python installs it")
    found = ranks(2, os.path.join(HERE, "ranks_wrong.py"), word, OP2_BACKEND="native", OP2_HANG="20")
    words = {"arity": "the table of map next is empty here: say Map(..., arity=...)", "report": "op2jit.report", "petsc": "vec of dat x"}
    said = found.stdout
    assert found.returncode != 0 and words[word] in said and "op_" not in said.replace("op_err", ""), said


@pytest.mark.parametrize("form", ["whole", "parts"])
def test_graphs_of_tasks(form):
    found = ranks(2, os.path.join(HERE, "ranks_tasks.py"), form, OP2_BACKEND="native")
    assert found.returncode == 0 and found.stdout.count("done") == 2, found.stdout
