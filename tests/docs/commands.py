"""commands.py PAGE OP2JIT PROGRAM NAME: what a page shows of a terminal is true.

In its ```console blocks each line behind "$ " runs, and prints the words below it; where they are broken into lines does
not matter, and "..." stands for any words. Its ```sh blocks run and end well. PROGRAM is there as ./NAME, and
each kernel of the page, `static const char *KERNEL = OP_KERNEL(TEXT);` or `OP_KERNEL_DEF(KERNEL, TEXT)`, as a file KERNEL.c
with its text."""

import os
import re
import subprocess
import sys
import tempfile


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def steps(page):
    """Pairs of a command and the words that are expected of it; None: any, but it has to end well."""
    for block in blocks(page, "console"):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, words = piece.replace("\\\n", "").partition("\n")
            yield command, words
    for block in blocks(page, "sh"):
        yield "set -e\n" + block, None


def kernels(source):
    for pattern in r"^static const char \*(\w+) = OP_KERNEL\((.*?)\);$", r"^OP_KERNEL_DEF\((\w+), (.*?^\})\)$":
        yield from re.findall(pattern, source, re.DOTALL | re.MULTILINE)


def squeeze(text):
    """One blank between words, and of sources in the tree their names."""
    return " ".join(re.sub(r"(?:\.\.?/|/)[\w./-]*/(?=\w+\.c\b)|\.\./(?=\w+\.c\b)", "", text).split())


def wrong(command, expected, done):
    said = squeeze(done.stdout)
    if expected is None:
        return done.returncode != 0 and f"{command}: status {done.returncode}\n{done.stdout}"
    pattern = ".*".join(re.escape(piece.strip()) for piece in squeeze(expected).split("..."))
    return not re.fullmatch(pattern, said) and f"{command} prints\n{said}\nand the page says\n{squeeze(expected)}"


def main(path, op2jit, program, name):
    os.environ["PATH"] = os.path.dirname(os.path.abspath(op2jit)) + ":" + os.environ["PATH"]
    with open(path, encoding="utf-8") as file:
        page = file.read()
    found, failures = list(steps(page)), []
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(program), os.path.join(folder, name))
        for kernel, text in kernels("\n".join(blocks(page, "c"))):
            with open(os.path.join(folder, kernel + ".c"), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        for command, expected in found:
            done = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            failures.append(wrong(command, expected, done))
    failures = [failure for failure in failures if failure]
    print("\n\n".join(failures) or f"{len(found)} commands do what {os.path.basename(path)} says")
    return 1 if failures or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
