"""The tutorial notebook, run as notebooks are, by nbconvert in a kernel of Jupyter. Its pictures are left in the build folder."""

import base64
import io
import json
import os
import subprocess
import sys

import matplotlib.image
import numpy as np

ROOT, BUILD = os.environ["OP2JIT_ROOT"], os.environ["OP2JIT_BUILD"]


def executed(folder, cells):
    """The notebook with these cells behind its own, and what each gave."""
    with open(os.path.join(ROOT, "samples", "tutorial.ipynb"), encoding="utf-8") as file:
        notebook = json.load(file)
    for text in cells:
        notebook["cells"].append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text})
    (folder / "tutorial.ipynb").write_text(json.dumps(notebook))
    command = ["-m", "nbconvert", "--to", "notebook", "--execute", "--allow-errors", "--output", "done.ipynb", "tutorial.ipynb"]
    more = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}  # the kernel draws into cells
    # Jupyter's own files stay in the folder.
    more.update({name: str(folder) for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")})
    found = subprocess.run(
        [sys.executable, *command], cwd=folder, env=more, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
    )
    assert found.returncode == 0, found.stdout
    return [cell for cell in json.loads((folder / "done.ipynb").read_text())["cells"] if cell["cell_type"] == "code"]


def test_the_tutorial_runs_and_its_pictures_show_something(tmp_path):
    cells = executed(tmp_path, ["op2jit.init()\nop2jit.Set(3, 'three')", "op2jit.Set(-1, 'none')"])
    *own, table, mistake = cells
    outputs = [output for cell in own for output in cell["outputs"]]
    assert len(own) >= 6 and not [output for output in outputs if output["output_type"] == "error"], outputs
    tables = [output for output in outputs if "<table>" in "".join(output.get("data", {}).get("text/html", ""))]
    assert len(tables) >= 2, outputs
    pictures = [base64.b64decode(output["data"]["image/png"]) for output in outputs if "image/png" in output.get("data", {})]
    assert pictures
    folder = os.path.join(BUILD, "notebook")
    os.makedirs(folder, exist_ok=True)
    for number, picture in enumerate(pictures):
        with open(os.path.join(folder, f"tutorial-{number}.png"), "wb") as file:
            file.write(picture)
        points = matplotlib.image.imread(io.BytesIO(picture), format="png")
        colours = np.unique((points[:, :, :3] * 15).astype(int).reshape(-1, 3), axis=0)
        assert points.shape[0] > 100 and len(colours) > 20, (number, points.shape, len(colours))
    said = "\n".join("".join(output.get("traceback", [])) for output in mistake["outputs"])
    assert "OP_ERR_SIZE" in said and "op2jit.Set(-1, 'none')" in said and os.path.join("python", "op2jit") not in said, said
    assert "text/html" in table["outputs"][0]["data"]
