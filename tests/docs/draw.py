"""draw.py COMMAND MESH: what op2jit mesh draw shows is read back from the SVG: each element once, no two blocks of one
colour at one cell, no edge of an owner beside another owner's cell, tiles that follow one another, and a halo that holds
what a rank needs."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
CELLS, EDGES, BORDER, POINTS = 35, 58, 24, 48


def call(*words):
    return subprocess.run([*words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Panel:
    """Shapes in the order of the elements: (colour or "shared" or "", points)."""

    def __init__(self, group):
        self.title = group.find(SVG + "text").text
        self.cells, self.edges = self.shapes(group, "polygon"), self.shapes(group, "polyline")
        self.points = group.findall(SVG + "circle")
        self.arrows = group.findall(SVG + "line")
        self.numbers = [text.text for text in group.findall(SVG + "text") if text.get("class") != "title"]

    def shapes(self, group, kind):
        found = []
        for shape in group.findall(SVG + kind):
            words = shape.get("class").split()
            found.append((words[1] if len(words) > 1 else "", frozenset(shape.get("points").split())))
        return found

    def cells_of(self, edge):
        """Colours of the cells that have both points of the edge, by numbers of cells."""
        return {number: shade for number, (shade, points) in enumerate(self.cells) if self.edges[edge][1] <= points}


def draw(command, mesh, folder, view, *more):
    file = os.path.join(folder, view + ".svg")
    found = call(command, "mesh", "draw", "--of", view, *more, mesh, file)
    assert found.returncode == 0 and file in found.stdout, found.stdout
    root = tree.parse(file).getroot()
    panels = [Panel(group) for group in root.findall(SVG + "g")]
    for panel in panels:
        assert (len(panel.cells), len(panel.edges), len(panel.points)) == (CELLS, EDGES + BORDER, POINTS), view
    return panels


def check_sets(panels):
    assert [panel.title for panel in panels] == ["nodes: 48", "quads: 35", "edges: 58", "bedges: 24"]
    assert [len(panel.numbers) for panel in panels] == [POINTS, CELLS, EDGES, BORDER]


def check_maps(panels):
    assert [len(panel.arrows) for panel in panels] == [4 * CELLS, 2 * EDGES, 2 * EDGES, 2 * BORDER, BORDER]


def check_colours(panels, block):
    blocks, inside = panels
    count, colours = map(int, re.match(r"(\d+) blocks in (\d+) colours", blocks.title).groups())
    assert count == -(-EDGES // block) and len({blocks.edges[e][0] for e in range(EDGES)}) == min(colours, 8)
    for one in range(EDGES):
        for other in range(one):
            if set(blocks.cells_of(one)) & set(blocks.cells_of(other)):
                if one // block != other // block:
                    assert blocks.edges[one][0] != blocks.edges[other][0], (one, other)
                else:
                    assert inside.edges[one][0] != inside.edges[other][0], (one, other)


def check_owners(panels, threads):
    panel = panels[0]
    between = int(re.search(r"(\d+) of 58 edges between", panel.title).group(1))
    assert len({shade for shade, _ in panel.cells}) == threads and between > 0
    assert sum(panel.edges[e][0] == "shared" for e in range(EDGES)) == between
    for e in range(EDGES):
        owners = set(panel.cells_of(e).values())
        assert (panel.edges[e][0] == "shared") == (len(owners) == 2) and panel.edges[e][0] in owners | {"shared"}


def check_tiles(panels):
    first, middle, last = panels
    for e in range(EDGES):  # an edge adds before its cells are updated, and reads them after that
        for tile in middle.cells_of(e).values():
            assert first.edges[e][0] <= tile <= last.edges[e][0], e
    assert len({shade for shade, _ in middle.cells}) == 4


def check_halos(panels, ranks):
    parts, seen = panels
    sizes = [sum(shade == f"s{r}" for shade, _ in parts.cells) for r in range(ranks)]
    assert sum(sizes) == CELLS and max(sizes) - min(sizes) <= 1, sizes
    mine = f"s{ranks - 1}"
    for e in range(EDGES):
        owners = parts.cells_of(e)
        assert parts.edges[e][0] == min(owners.values())
        expected = "s0" if parts.edges[e][0] == mine else "s1" if mine in owners.values() else ""
        assert seen.edges[e][0] == expected
    for number, (shade, _) in enumerate(seen.cells):
        runs = any(seen.edges[e][0] and number in seen.cells_of(e) for e in range(EDGES))
        assert shade == ("s0" if parts.cells[number][0] == mine else "s2" if runs else "")


def main(command, mesh):
    with tempfile.TemporaryDirectory() as folder:
        check_sets(draw(command, mesh, folder, "sets"))
        check_maps(draw(command, mesh, folder, "maps"))
        for block in (1, 4, 9):
            check_colours(draw(command, mesh, folder, "colours", "--parts", str(block)), block)
        for threads in (2, 3, 5):
            check_owners(draw(command, mesh, folder, "owners", f"--parts={threads}"), threads)
        check_tiles(draw(command, mesh, folder, "tiles"))
        for ranks in (2, 4, 6):
            check_halos(draw(command, mesh, folder, "halos", "--parts", str(ranks)), ranks)
        wrong = [("--of", "nothing", 2, "expected sets"), ("--parts", "0", 2, "1 to 1000"), ("--map", "none", 1, "no map none")]
        for option, value, status, words in wrong:
            found = call(command, "mesh", "draw", option, value, mesh, os.path.join(folder, "no.svg"))
            assert found.returncode == status and words in found.stdout, found.stdout
        assert not os.path.exists(os.path.join(folder, "no.svg"))
    print("six views of a mesh show what they say")


if __name__ == "__main__":
    main(*sys.argv[1:])
