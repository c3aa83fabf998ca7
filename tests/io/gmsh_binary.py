"""Gmsh's text files as binary ones of the same version, for meshes as small as those of tests.

usage: gmsh_binary.py TEXT BINARY [little|big]
"""
import struct
import sys

NODES_OF = {15: 1, 1: 2, 2: 3, 3: 4, 4: 4, 7: 5, 6: 6, 5: 8}


class Writer:
    """Takes words of the text in their order, and keeps them as numbers."""

    def __init__(self, words, order):
        self.words = iter(words)
        self.order = {"little": "<", "big": ">"}[order]
        self.out = b""

    def take(self, form, count=1):
        """`count` words as ints (i), sizes (Q) or reals (d); the last of them."""
        value = 0
        for _ in range(count):
            word = next(self.words)
            value = float(word) if form == "d" else int(word)
            self.put(form, value)
        return value

    def put(self, form, *values):
        self.out += struct.pack(f"{self.order}{len(values)}{form}", *values)

    def line(self):
        """The count that stands in front of binary as text."""
        count = int(next(self.words))
        self.out += b"%d\n" % count
        return count


def nodes_2(w):
    for _ in range(w.line()):
        w.take("i")
        w.take("d", 3)


def elements_2(w):
    """Neighbours of one type and number of tags are one block."""
    last, blocks = None, []
    for _ in range(w.line()):
        number, kind, tags = (int(next(w.words)) for _ in range(3))
        row = [number] + [int(next(w.words)) for _ in range(tags + NODES_OF[kind])]
        if last != (kind, tags):
            last = (kind, tags)
            blocks.append((last, []))
        blocks[-1][1].append(row)
    for (kind, tags), rows in blocks:
        w.put("i", kind, len(rows), tags)
        for row in rows:
            w.put("i", *row)


def entities(w, point_reals):
    counts = [w.take("Q") for _ in range(4)]
    for dimension, count in enumerate(counts):
        for _ in range(count):
            w.take("i")
            w.take("d", 6 if dimension else point_reals)
            w.take("i", w.take("Q"))
            if dimension:
                w.take("i", w.take("Q"))


def entities_40(w):
    entities(w, 6)


def entities_41(w):
    entities(w, 3)


def nodes_40(w):
    """Tags of 4 bytes, each in front of its point; the entity in front of its dimension; no least and largest tag."""
    blocks = w.take("Q")
    w.take("Q")
    for _ in range(blocks):
        _, dimension, parametric, count = w.take("i"), w.take("i"), w.take("i"), w.take("Q")
        for _ in range(count):
            w.take("i")
            w.take("d", 3 + dimension * parametric)


def elements_40(w):
    blocks = w.take("Q")
    w.take("Q")
    for _ in range(blocks):
        w.take("i", 2)
        kind, count = w.take("i"), w.take("Q")
        w.take("i", count * (1 + NODES_OF[kind]))


def nodes_41(w):
    blocks = w.take("Q")
    w.take("Q", 3)
    for _ in range(blocks):
        dimension, _, parametric, count = w.take("i"), w.take("i"), w.take("i"), w.take("Q")
        w.take("Q", count)
        w.take("d", count * (3 + dimension * parametric))


def elements_41(w):
    blocks = w.take("Q")
    w.take("Q", 3)
    for _ in range(blocks):
        w.take("i", 2)
        kind, count = w.take("i"), w.take("Q")
        w.take("Q", count * (1 + NODES_OF[kind]))


SECTIONS = {"2.2": {"Nodes": nodes_2, "Elements": elements_2},
            "4": {"Entities": entities_40, "Nodes": nodes_40, "Elements": elements_40},
            "4.1": {"Entities": entities_41, "Nodes": nodes_41, "Elements": elements_41}}


def binary(text, order="little"):
    """The bytes of the binary file; sections that no reader looks at stay as they are."""
    out, version = b"", ""
    for section in text.split("$End")[:-1]:
        name, body = section[section.index("$") + 1:].split("\n", 1)
        if name == "MeshFormat":
            version, _, size = body.split()
            body = b"%s 1 %s\n" % (version.encode(), size.encode()) + struct.pack({"little": "<", "big": ">"}[order] + "i", 1) + b"\n"
        elif name in SECTIONS[version]:
            w = Writer(body.split(), order)
            SECTIONS[version][name](w)
            body = w.out + b"\n"
        else:
            body = body.encode()
        out += b"$%s\n%s$End%s\n" % (name.encode(), body, name.encode())
    return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], "wb") as target:
        target.write(binary(source.read(), *sys.argv[3:]))
