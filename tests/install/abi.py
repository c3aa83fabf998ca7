"""abi.py RECORD HEADERS LIBRARY [--record]: what programs that are compiled already rely on is as it is recorded: each
symbol is still there, and public structs have their sizes, members their places, and codes their numbers. What is new is
said, and written into the record by --record before a release."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

STRUCTS = {"op2jit.h": ["op_arg", "op_error"], "op2jit_tune.h": ["op_counters_t"], "op2jit_tools.h": ["op_tool"], "op2jit_tasks.h": ["op_graph_facts_t"]}


def skip(tool, package):
    print(f"skipped: there is no {tool} (Debian's {package})")
    sys.exit(77)


def symbols(library):
    if not shutil.which("nm"):
        skip("nm", "binutils")
    said = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return sorted({"symbol " + line.split()[-1].split("@")[0] for line in said.splitlines()})


def without_comments(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)


def members(text, struct):
    body = re.search(rf"\{{((?:[^{{}}]|\{{[^}}]*\}})*)\}}\s*{struct};", text) or re.search(rf"struct {struct} \{{(.*?)\n\}}", text, re.S)
    found = []
    for line in body.group(1).split(";"):
        pointer = re.search(r"\(\*(\w+)\)\s*\(", line)  # a function's address
        names = [pointer.group(1)] if pointer else re.findall(r"(\w+)(?:\[[^\]]*\])?\s*(?:,|$)", line.strip())
        found += [name for name in names if name]
    return found


def layout(headers):
    compiler = shutil.which("cc") or shutil.which("gcc") or skip("C compiler", "gcc")
    program = "#include <stddef.h>\n#include <stdio.h>\n#include <op2jit.h>\n#include <op2jit_tasks.h>\n#include <op2jit_tools.h>\nint main(void) {\n"
    for header, structs in STRUCTS.items():
        text = without_comments(os.path.join(headers, header))
        for struct in structs:
            program += f'  printf("size {struct} %zu\\n", sizeof({struct}));\n'
            for name in members(text, struct):
                program += f'  printf("place {struct}.{name} %zu\\n", offsetof({struct}, {name}));\n'
    text = without_comments(os.path.join(headers, "op2jit.h"))
    for name in re.findall(r"\b(OP_(?:ERR_)?[A-Z_]+) = \d+", text):
        program += f'  printf("code {name} %d\\n", {name});\n'
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "abi.c"), "w", encoding="utf-8") as file:
            file.write(program + "}\n")
        out = os.path.join(folder, "abi")
        subprocess.run([compiler, "-I", headers, os.path.join(folder, "abi.c"), "-o", out], check=True)
        return subprocess.run([out], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def main(record, headers, library, *options):
    now = symbols(library) + layout(headers)
    if "--record" in options:
        with open(record, "w", encoding="utf-8") as file:
            file.write("\n".join(now) + "\n")
    with open(record, encoding="utf-8") as file:
        recorded = file.read().splitlines()
    # A struct that has room kept for later may give it to new members; what was named before stays where it was.
    gone = [line for line in recorded if line not in now and ".reserved" not in line]
    new = [line for line in now if line not in recorded]
    for line in gone:
        print(f"gone, or another: {line}")
    for line in new:
        print(f"new, not yet recorded: {line}")
    print(f"{len(recorded)} recorded, {len(gone)} gone, {len(new)} new")
    return 1 if gone or len(recorded) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
