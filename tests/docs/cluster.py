"""cluster.py ROOT: the files by which a cluster installs op2jit, and CITATION.cff, can be read; they name the version and the options of the
build; both module files set the same. A module file in Tcl runs with stand-ins for its commands."""

import ast
import os
import re
import shutil
import subprocess
import sys

STAND_INS = """
foreach name {module-whatis conflict} { proc $name args {} }
proc prepend-path {name value} { puts "$name $value" }
"""


def read(root, *path):
    with open(os.path.join(root, *path), encoding="utf-8") as file:
        return file.read()


def names_in(tree):
    """What a file of Python sets at its top or in its class, or calls there."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
    return found


def of_python(name, text, wanted, options):
    try:
        missing = wanted - names_in(ast.parse(text))
    except SyntaxError as problem:
        return [f"{name}: {problem}"]
    asked = set(re.findall(r"-D(\w+)=", text)) | {word for group in re.findall(r"for name in \(([^)]*)\)", text) for word in re.findall(r'"(\w+)"', group)}
    return [f"{name} has no {word}" for word in sorted(missing)] + [f"{name}: there is no option {word}" for word in sorted(asked - options)]


def of_modules(folder):
    """Faults, and the pairs that the file in Lua sets; those in Tcl must be the same."""
    lua = read(folder, "op2jit.lua")
    prefix = re.search(r'^local prefix = "([^"]+)"$', lua, re.MULTILINE).group(1)
    code = [line for line in lua.splitlines() if line and not line.startswith(("--", "local "))]
    faults = [f"op2jit.lua: {line}" for line in code if not re.fullmatch(r'\w+\((?:"[^"]*"|prefix|pathJoin\(prefix, "[^"]*"\)|, )+\)', line)]
    ours = {(name, prefix + ("/" + place if place else "")) for name, place in
            re.findall(r'prepend_path\("(\w+)", (?:pathJoin\(prefix, "([^"]*)"\)|prefix)\)', lua)}
    if shutil.which("tclsh"):
        done = subprocess.run(["tclsh"], input=STAND_INS + read(folder, "op2jit.tcl"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        theirs = {tuple(line.split(" ", 1)) for line in done.stdout.splitlines()}
    else:
        given = read(folder, "op2jit.tcl")
        theirs = {(name, value.replace("$prefix", prefix)) for name, value in re.findall(r"^prepend-path (\w+)\s+(\S+)$", given, re.MULTILINE)}
    return faults + [f"only one of the module files sets {name} to {value}" for name, value in sorted(ours ^ theirs)] + ([] if ours else ["no paths"])


def main(root):
    folder = os.path.join(root, "docs", "cluster")
    version = re.search(r"version: '([^']+)'", read(root, "meson.build")).group(1)
    options = set(re.findall(r"^option\('(\w+)'", read(root, "meson_options.txt"), re.MULTILINE))
    easy = f"op2jit-{version}-foss-2023b.eb"
    faults = of_python("package.py", read(folder, "package.py"), {"Op2jit", "homepage", "git", "license", "version", "depends_on", "meson_args"}, options)
    faults += of_python(easy, read(folder, easy), {"easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "dependencies",
                                                   "configopts", "sanity_check_paths", "moduleclass"}, options)
    faults += of_modules(folder)
    faults += ["meson.options is there beside meson_options.txt: Meson 1.1 and later refuse both"] * os.path.exists(os.path.join(root, "meson.options"))
    cite = read(root, "CITATION.cff")
    keys = dict(re.findall(r"^([\w-]+):[ ]*(.*)$", cite, re.MULTILINE))
    faults += [f"CITATION.cff has no {key}" for key in ("cff-version", "message", "title", "authors", "version", "license") if key not in keys]
    try:
        import yaml
        faults += [f"CITATION.cff: {key}" for key, value in yaml.safe_load(cite).items() if value in (None, "", [])]
    except ImportError:
        pass
    for name, text in {"package.py": read(folder, "package.py"), easy: read(folder, easy), "op2jit.tcl": read(folder, "op2jit.tcl"),
                       "op2jit.lua": read(folder, "op2jit.lua"), "CITATION.cff": cite, "cluster.md": read(root, "docs", "cluster.md")}.items():
        if version not in text or [other for other in re.findall(r"op2jit[ /-](\d+\.\d+\.\d+)\b", text) if other != version]:
            faults.append(f"{name} does not name version {version} alone")
    print("\n".join(faults) or "the files for clusters can be read")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
