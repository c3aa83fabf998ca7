"""Which of PyOP2's public names op2jit.pyop2 has, by class: what both packages' texts say, without importing them.

usage: pyop2.py names FOLDER   the names of the package pyop2 in FOLDER, a line for each class, for docs/pyop2.txt
       pyop2.py table ROOT     docs/pyop2.md, of docs/pyop2.txt and of the package in ROOT, the folder of this tree"""

import ast
import sys
import textwrap
from pathlib import Path

HEAD = """# PyOP2's names

What `op2jit.pyop2` has of PyOP2's public interface ([Python](python.md#pyop2) says how they differ). This page is made:
`python3 docs/pyop2.py table . > docs/pyop2.md`. PyOP2's names are those of `docs/pyop2.txt`, which
`python3 docs/pyop2.py names FOLDER` lists from its package `pyop2` in FOLDER.
"""


class Package:
    """The classes and functions of a package, by their texts."""

    def __init__(self, folder):
        self.trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).rglob("*.py"))}
        self.classes = {
            (path, node.name): node
            for path, tree in self.trees.items()
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        }

    def find(self, base, path):
        """The class that another one is made of, which a file names."""
        word = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", None)
        module = base.value.id if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name) else None
        found = [key for key in self.classes if key[1] == word]
        near = [key for key in found if module in (key[0].stem, key[0].parent.name)] if module else found
        near.sort(key=lambda key: (key[0] != path, "codegen" in key[0].parts, key[0].parent != path.parent))
        return near[0] if near else None

    def members(self, key, seen=()):
        """The public names of a class and of those that it is made of."""
        path, _ = key
        names = set()
        for node in self.classes[key].body:
            if isinstance(node, (ast.FunctionDef, ast.AnnAssign, ast.Assign)):
                targets = [node.name] if isinstance(node, ast.FunctionDef) else _targets(node)
                names |= set(targets)
            if isinstance(node, ast.FunctionDef):
                names |= {part.attr for part in ast.walk(node) if _is_own(part)}
        for base in self.classes[key].bases:
            other = self.find(base, path)
            if other and other not in seen:
                names |= set(self.members(other, (*seen, key)))
        return sorted(name for name in names if not name.startswith("_"))


def _targets(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _is_own(part):
    stored = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
    return stored and isinstance(part.value, ast.Name) and part.value.id == "self"


def _listed(tree):
    """The names in __all__."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and _targets(node) == ["__all__"]:
            return ast.literal_eval(node.value)
    return []


def names(folder):
    """The lines of docs/pyop2.txt."""
    package = Package(folder)
    public = next(path for path in package.trees if path.name == "op2.py")
    words = sorted(set(_listed(package.trees[public])))
    for path, name in package.classes:
        if path.name == "exceptions.py":
            words.append(name)
    for word in words:
        key = package.find(ast.Name(word), public)
        plain = key is None or key[0].name == "exceptions.py"
        print(" ".join([word + ":", *([] if plain else package.members(key))]).rstrip())


def table(root):
    """The page."""
    package = Package(root / "python" / "op2jit")
    here = root / "python" / "op2jit" / "pyop2"
    public = set(_listed(package.trees[here / "__init__.py"]))
    rows, alone, missing = [], [], []
    for line in (root / "docs" / "pyop2.txt").read_text().splitlines():
        word, theirs = line.split(":")[0], line.split(":")[1].split()
        if word not in public:
            missing.append(word)
        elif not theirs:
            alone.append(word)
        else:
            key = next((key for key in package.classes if key[1] == word and key[0].parent == here), None)
            ours = set(package.members(key)) if key else set()
            rows.append((word, [name for name in theirs if name in ours], [name for name in theirs if name not in ours]))
    print(HEAD)
    print("| class | is here | is not here |\n|---|---|---|")
    for word, found, lacking in rows:
        print(f"| `{word}` | {_words(found)} | {_words(lacking)} |")
    there = sum(len(found) for _, found, _ in rows)
    print(f"\n{len(rows)} classes, {there} of their {there + sum(len(row[2]) for row in rows)} names.")
    for words in (f"Functions, accesses and exceptions that are here: {_words(alone)}.", f"Not here: {_words(missing)}."):
        print("\n" + textwrap.fill(words, 118, break_on_hyphens=False))


def _words(several):
    return ", ".join(f"`{word}`" for word in several)


if __name__ == "__main__":
    names(sys.argv[2]) if sys.argv[1] == "names" else table(Path(sys.argv[2]))
