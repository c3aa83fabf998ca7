"""Every loop of a sample matters to its checks: the sample passes, and with any one of its loops left out it
ends with status 1 and says FAILED.

usage: test_omit.py OMIT_LIBRARY SAMPLE [arguments]
"""

import os
import subprocess
import sys
import tempfile


def run(command, **more):
    done = subprocess.run(command, env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=100, check=False)
    return done.returncode, done.stdout


def main(library, command):
    with tempfile.TemporaryDirectory() as folder:
        names_file = os.path.join(folder, "names")
        status, said = run(command, LD_PRELOAD=library, OMIT_NAMES=names_file)
        if status != 0:
            print(said)
            sys.exit(f"{' '.join(command)}: status {status} with all its loops")
        with open(names_file, encoding="utf-8") as file:
            names = sorted(set(file.read().split()))
    wrong = 0
    for name in names:
        status, said = run(command, LD_PRELOAD=library, OMIT_LOOP=name)
        noticed = status == 1 and "FAILED" in said
        print(f"without {name}: {'noticed' if noticed else f'NOT NOTICED (status {status})'}")
        wrong += not noticed
    if not names or wrong:
        sys.exit(f"{wrong} of {len(names)} loops can be left out unnoticed")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
