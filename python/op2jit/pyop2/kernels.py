"""Kernels as PyOP2 has them: C, to which rows of a map come packed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from .. import kernels
from .._library import INC, READ, WRITE
from .errors import NameTypeError


#: Headers of C, which all kernels have.
_OF_C = {f"{word}.h" for word in "complex float limits math stdbool stddef stdint stdio stdlib string tgmath".split()}


class Kernel:
    """``Kernel(code, name)``: C text with a function of that name. ``include_dirs`` has folders of its own headers."""

    def __init__(self, code: str, name: str, **options: Any) -> None:
        if not isinstance(name, str):
            raise NameTypeError(f"the name of a kernel is {name!r}; expected a text")
        self.code, self.name = code, name
        self._folders = [Path(folder) for folder in options.get("include_dirs", ())]
        self._wrapped: Dict[Tuple[Any, ...], kernels.Kernel] = {}

    def wrapped(self, key: Tuple[Tuple[str, int, int, int, int], ...]) -> kernels.Kernel:
        """The kernel as this library calls it: it packs rows, calls the user's function, and unpacks them."""
        if key not in self._wrapped:
            if not re.search(rf"\b{re.escape(self.name)}\s*\(", self.code):
                raise NameTypeError(f"the text of kernel {self.name} has no function {self.name}")
            text = _wrap(_included(self.code, self._folders), self.name, key)
            self._wrapped[key] = kernels.Kernel(text, f"wrap_{self.name}")
        return self._wrapped[key]

    def __repr__(self) -> str:
        return f"Kernel({self.code!r}, {self.name!r})"


def _included(code: str, folders: List[Path], depth: int = 0) -> str:
    """The text with the user's own headers in it; those of C are there for all kernels."""

    def header(found: Any) -> str:
        for folder in folders:
            path = folder / found[1]
            if path.is_file() and depth < 20:
                return _included(path.read_text(encoding="utf-8"), folders, depth + 1)
        if found[0].rstrip().endswith('"') and found[1] not in _OF_C:
            raise NameTypeError(f"the kernel's header {found[1]} is in none of its include_dirs")
        return ""

    return re.sub(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', header, code, flags=re.MULTILINE)


def _wrap(code: str, name: str, key: Sequence[Tuple[str, int, int, int, int]]) -> str:
    heads, before, words, after = [], [], [], []
    used = set(re.findall(r"\w+", code))
    names: Dict[str, str] = {}

    def own(word: str) -> str:
        while word in used:  # also what a macro of the text is called
            word += "_"
        return word

    for word in ("row", "value"):
        names[word] = own(word)
    i, k = names["row"], names["value"]
    for number, (kind, dim, access, packed, part) in enumerate(key):
        const, p, t = "const " if access == READ else "", own(f"p{number}"), own(f"t{number}")
        heads.append(f"{const}{kind} *{p}" + (f"[{packed}]" if packed else ""))
        if not packed and access != READ:
            words.append(p if part < 0 else f"{p} + {part}")
            continue
        rows, column = packed or 1, k if part < 0 else str(part)
        place = f"{p}[{i}][{column}]" if packed else f"{p}[{column}]"
        dim = dim if part < 0 else 1
        turn = f"for (int {i} = 0; {i} < {rows}; {i}++) for (int {k} = 0; {k} < {dim}; {k}++)"
        before.append(f"  {kind} {t}[{rows * dim}];")
        start = "0" if access in (INC, WRITE) else place
        before.append(f"  {turn} {t}[{i} * {dim} + {k}] = {start};")
        if access != READ:
            after.append(f"  {turn} {place} {'+=' if access == INC else '='} {t}[{i} * {dim} + {k}];")
        words.append(t)
    call = f"  {name}({', '.join(words)});"
    strict = '#pragma GCC diagnostic error "-Wincompatible-pointer-types"'  # a row of another type is no warning
    return "\n".join([code, strict, f"static void wrap_{name}({', '.join(heads)}) {{", *before, call, *after, "}", ""])
