"""The command that makes the pictures of docs/guide/gallery.md and README.md makes all of them with small meshes; all that the page shows is
there, and small.

usage: gallery.py ROOT SAMPLES
"""

import os
import re
import subprocess
import sys
import tempfile

LARGEST = 150000
DEBIANS = "/usr/bin/python3"  # which has matplotlib and h5py where Debian's packages are


def main(root, samples):
    wrong, guide = [], os.path.join(root, "docs", "guide")
    with open(os.path.join(guide, "gallery.md"), encoding="utf-8") as file:
        shown = re.findall(r"\(gallery/(\w+)\.png\)", file.read())
    with open(os.path.join(guide, "gallery.py"), encoding="utf-8") as file:
        made = re.findall(r'^    "(\w+)": \("', file.read(), re.MULTILINE)
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        if "(docs/guide/gallery/flow3d.png)" not in file.read():
            wrong.append("README.md does not show flow3d")
    kept = sorted(name.removesuffix(".png") for name in os.listdir(os.path.join(guide, "gallery")))
    if not sorted(shown) == sorted(made) == kept:
        wrong.append(f"the page shows {shown}, the command makes {made}, and there are {kept}")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([DEBIANS if os.path.exists(DEBIANS) else sys.executable, os.path.join(guide, "gallery.py"), samples, folder, "--quick"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # fmt: skip
        if "No module named" in done.stdout or "HDF5 files cannot be used" in done.stdout:
            print(f"skipped: {done.stdout.splitlines()[-1]}")
            return 77
        if done.returncode:
            wrong.append(f"gallery.py ended with {done.returncode} and said:\n{done.stdout}")
        for path in [os.path.join(place, name + ".png") for name in kept for place in (folder, os.path.join(guide, "gallery"))]:
            if not os.path.exists(path):
                wrong.append(f"there is no {path}")
                continue
            with open(path, "rb") as file:
                if not file.read(8) == b"\x89PNG\r\n\x1a\n" or os.path.getsize(path) > LARGEST:
                    wrong.append(f"{path} is no picture of at most {LARGEST} bytes")
    print("\n".join(wrong) or f"{len(kept)} pictures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
