"""manual.py MANUAL PROGRAM...: every piece of C in the manual stands in a program, which is compiled and run."""

import re
import sys


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def main(manual, *programs):
    with open(manual, encoding="utf-8") as file:
        pieces = re.findall(r"```c\n(.*?)```", file.read(), re.DOTALL)
    whole = ""
    for program in programs:
        with open(program, encoding="utf-8") as file:
            whole += squeeze(file.read())
    missing = [piece for piece in pieces if squeeze(piece.replace("#include <op2jit.h>", "")) not in whole]
    for piece in missing:
        print(f"not in {programs}:\n{piece}")
    print(f"{len(pieces)} pieces, {len(missing)} missing")
    return 1 if missing or not pieces else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
