"""A sample's field can be looked at: its PNG file is one, of the right size and with the field's colours, the program names it, and ParaView's index names
datasets of the right length. A picture that cannot be written is an error.

usage: test_fields.py PROGRAM WIDTHxHEIGHT CELLS TOPOLOGY FIELD,...[@TIME] [arguments]   (CELLS 0: no --vtk)

The size is the field's; a small one is enlarged by the least whole factor that gives the longer side 400 pixels.
"""

import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
import zlib


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
    return done.returncode, done.stdout


def chunks_of(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at = 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + content), name
        yield name, content
        at += 12 + length
    assert at == len(data), "something follows the last chunk"


def check_picture(path, size, said):
    times = max(1, -(-400 // max(size)))
    with open(path, "rb") as file:
        chunks = list(chunks_of(file.read()))
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"], chunks
    width, height, depth, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    assert (width, height, depth, kind) == (times * size[0], times * size[1], 8, 2), (width, height, depth, kind)
    told = re.search(rf"^wrote {re.escape(path)}, {width} x {height} pixels: blue is (\S+), red (\S+)$", said, re.MULTILINE)
    assert told and float(told[1]) < float(told[2]), said
    rows = zlib.decompress(chunks[1][1])
    line = 1 + 3 * width
    assert len(rows) == line * height, "pixels"
    lines = [rows[r * line + 1:(r + 1) * line] for r in range(height)]
    pixels = {lines[r][3 * c:3 * c + 3] for r in range(0, height, times) for c in range(0, width, times)}
    # Each value is a square of pixels of one colour.
    for r, pixel_row in enumerate(lines):
        assert pixel_row == lines[r - r % times], f"row {r} differs within its values"
        assert pixel_row == b"".join(times * pixel_row[3 * c:3 * c + 3] for c in range(0, width, times)), f"row {r}: squares"
    # Dark blue and dark red are the ends of the scale, which every field reaches.
    assert bytes((0, 0, 140)) in pixels and bytes((140, 0, 0)) in pixels, "the field's extremes have other colours"
    assert len(pixels) > 8, f"only {len(pixels)} colours"


def check_index(folder, cells, topology, names, time):
    grids = [g for g in tree.parse(os.path.join(folder, "field.xdmf")).getroot().iter("Grid") if g.get("GridType") == "Uniform"]
    assert len(grids) == 1, grids
    told = [float(t.get("Value")) for t in grids[0].findall("Time")]
    assert len(told) == len(time) and all(abs(a - b) < 1e-5 * b for a, b in zip(told, time)), f"time: {told}"
    found = grids[0].find("Topology")
    assert (found.get("TopologyType"), found.get("NumberOfElements")) == (topology, str(cells)), found.attrib
    assert [a.get("Name") for a in grids[0].findall("Attribute")] == names, "fields"
    for item in grids[0].iter("DataItem"):
        file, dataset = item.text.strip().split(":")
        assert dataset and os.path.getsize(os.path.join(folder, file)) > 8 * cells, item.text


def no_room():
    """As on a full disk: files end at a size that no picture has."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))


def check_kept(folder, program, options):
    """What was there is there until the new one is whole, also behind a link; a pipe is written as it is."""
    kept, link, pipe, ahead = (os.path.join(folder, name) for name in ("kept.png", "link.png", "pipe.png", "ahead.png"))
    with open(kept, "w", encoding="utf-8") as file:
        file.write("precious")
    os.chmod(kept, 0o640)
    before = sorted(os.listdir(folder))
    done = subprocess.run([program, "--picture", kept, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=100,
                          check=False, preexec_fn=no_room)
    assert done.returncode == 1 and f"{kept}: the file cannot be written: File too large" in done.stderr, done.stderr
    with open(kept, encoding="utf-8") as file:
        assert file.read() == "precious", "the picture that was there is gone"
    assert sorted(os.listdir(folder)) == before, os.listdir(folder)
    os.symlink("kept.png", link)
    status, said = run([program, "--picture", link, *options])
    assert status == 0 and os.path.islink(link) and os.stat(kept).st_mode & 0o777 == 0o640, said
    os.symlink("later.png", ahead)
    status, said = run([program, "--picture", ahead, *options])
    assert status == 0 and os.path.islink(ahead) and os.path.isfile(os.path.join(folder, "later.png")), said
    os.mkfifo(pipe)
    with open(link, "wb") as through, subprocess.Popen(["cat", pipe], stdout=through) as reader:
        status, said = run([program, "--picture", pipe, *options])
        assert status == 0 and reader.wait(timeout=100) == 0, said
    with open(link, "rb") as file:
        assert list(chunks_of(file.read())), said
    assert sorted(os.listdir(folder)) == sorted([*before, "ahead.png", "later.png", "link.png", "pipe.png"]), os.listdir(folder)


def main(program, size, cells, topology, names, *options):
    with tempfile.TemporaryDirectory() as folder:
        picture = os.path.join(folder, "field.png")
        # That it can be written is tried with the options, and leaves nothing.
        status, said = run([program, "--picture", picture, "--no-such-option"])
        assert status == 2 and not os.listdir(folder), said
        status, said = run([program, "--picture", picture, *options])
        assert status == 0, said
        check_picture(picture, tuple(int(n) for n in size.split("x")), said)
        status, said = run([program, "--picture", os.path.join(folder, "none", "field.png"), *options])
        assert status == 2 and len(said.splitlines()) == 1, (status, said)
        assert said.startswith(f"{os.path.basename(program)}: --picture {folder}") and "No such file" in said, said
        status, said = run([program, "--picture", "/dev/full", *options])
        assert status == 1 and "/dev/full: the file cannot be written: No space left" in said and "PASSED" not in said, said
        assert "checks hold, but a file was not written)" in said, said
        check_kept(folder, program, options)
        if cells == "0":
            return
        status, said = run([program, "--vtk", os.path.join(folder, "field"), *options])
        if "HDF5 files cannot be used" in said:
            sys.exit(77)
        assert status == 0, said
        assert f"wrote {os.path.join(folder, 'field')}.xdmf\n" in said, said
        names, _, time = names.partition("@")
        check_index(folder, int(cells), topology, names.split(","), [float(time)] if time else [])


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
