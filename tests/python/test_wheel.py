"""The wheel that carries the library, in a bare virtual environment; types by mypy; words about everything."""

import ast
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT, BUILD = os.environ["OP2JIT_ROOT"], os.environ["OP2JIT_BUILD"]
PACKAGE = os.path.join(ROOT, "python", "op2jit")
PROGRAM = """
import numpy as np, op2jit, sys
from op2jit import INC
@op2jit.kernel
def more(x, total):
    total[0] += 2 * x[0]
with op2jit.runtime(backend=sys.argv[1], diags=0):
    s = op2jit.Set(10)
    total = op2jit.Global(0.0)
    op2jit.par_loop(more, s, op2jit.Dat(s, np.arange(10.0))(op2jit.READ), total(INC))
    print(op2jit.__file__, op2jit._library.find_library(), total.value)
"""


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is missing; ./dev test --with python installs it")


def run(*command, **more):
    found = ended(*command, **more)
    assert found.returncode == 0, found.stdout
    return found.stdout


def ended(*command, **more):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "OP2JIT_LIBRARY")}
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**environment, **more}, timeout=400
    )


@pytest.fixture
def site(tmp_path):
    """A bare environment with the system's NumPy, and a copy of the package's tree, so that nothing is left in it."""
    for module in ("venv", "pip", "setuptools", "wheel", "ensurepip"):
        needs(module)
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    shutil.copytree(os.path.join(ROOT, "python"), tmp_path / "python", ignore=ignored)
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", tmp_path / "site")
    return tmp_path


def pip(site, *words, **more):
    """pip for the environment, without a network."""
    python = str(site / "site" / "bin" / "python")
    words = [sys.executable, "-m", "pip", "-q", "--python", python, *words]
    return run(*words, OP2JIT_BUILD=BUILD, PIP_NO_INDEX="1", PIP_NO_BUILD_ISOLATION="0", **more)


def test_the_wheel_in_a_bare_environment(site):
    """With the library first, and then with the extra that has the compiler."""
    python = str(site / "site" / "bin" / "python")
    pip(site, "install", str(site / "python"))
    said = run(python, "-c", "import op2jit, numpy; print(op2jit._library.find_library())")
    assert str(site / "site") in said and "libop2jit.so.0" in said
    file = site / "program.py"
    file.write_text(PROGRAM)
    said = run(python, str(file), "native").split()
    assert all(str(site / "site") in word for word in said[:2]) and said[2] == "90.0"
    refused = ended(python, str(file), "seq")
    assert refused.returncode == 1 and "OP_ERR_NOT_BUILT" in refused.stdout, refused.stdout
    if not os.path.exists(os.path.join(BUILD, "jit", "clang", "op2jit-clang.so")):
        pytest.skip("this build has no compiler plugin")
    pip(site, "install", str(site / "python") + "[clang]")
    assert run(python, str(file), "seq").split()[2] == "90.0"
    assert glob.glob(str(site / "site" / "lib" / "python3*" / "site-packages" / "op2jit_clang" / "op2jit-clang.so"))


def test_wheels_for_an_index_name_no_folder(site):
    """And they are for every Python of this kind of machine."""
    pip(site, "wheel", "--no-deps", "-w", str(site), str(site / "python"), OP2JIT_RELEASE="1")
    wheels = glob.glob(str(site / "op2jit-*-py3-none-*.whl"))
    assert len(wheels) == 1, os.listdir(site)
    with zipfile.ZipFile(wheels[0]) as wheel:
        metadata = wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode()
    assert "Requires-Dist: op2jit-clang (==0.1.0) ; extra == 'clang'" in metadata and "file:" not in metadata, metadata


def test_mypy_finds_nothing_but_a_mistake(tmp_path):
    needs("mypy")
    (tmp_path / "wrong.py").write_text("import op2jit\nop2jit.Set('ten')\n")
    config = os.path.join(ROOT, "python", "pyproject.toml")
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", tmp_path / "cache"]
    path = {**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)}
    found = subprocess.run([*command, PACKAGE, tmp_path / "wrong.py"], stdout=subprocess.PIPE, text=True, env=path)
    said = found.stdout.splitlines()
    assert (
        found.returncode == 1 and len(said) == 2 and 'wrong.py:2: error: Argument 1 to "Set"' in said[0]
    ), found.stdout


def test_everything_public_says_what_it_is():
    silent = []
    for file in glob.glob(os.path.join(PACKAGE, "**", "*.py"), recursive=True):
        with open(file, encoding="utf-8") as text:
            tree = ast.parse(text.read())
        assert ast.get_docstring(tree), file
        nodes = [tree, *[node for node in tree.body if isinstance(node, ast.ClassDef)]]
        for part in (member for node in nodes for member in node.body):
            named = isinstance(part, (ast.FunctionDef, ast.ClassDef)) and not part.name.startswith("_")
            setter = named and any("setter" in ast.unparse(word) for word in part.decorator_list)
            words = ("on_", "do_", "visit_")
            inner = "translate" in file and isinstance(part, ast.FunctionDef) and part.name.startswith(words)
            if named and not setter and not inner and not ast.get_docstring(part):
                silent.append(f"{os.path.basename(file)}: {part.name}")
    assert not silent, silent
