#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Whether a plot is one.

    svg.py FILE [lines=N] [points=N] [x=LABEL,...] [legend=NAME,...] [title=TEXT]

Reads it as XML; everything lies within the picture, lines and marks within the
frame, labels do not run into each other or out of the picture.
"""

import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
# Of a letter, at a font size of 12: a little more than DejaVu Sans takes.
LETTER = 7.5


def fail(text):
    sys.exit("%s: %s" % (sys.argv[1], text))


def extent(text):
    """Left and right end of a label."""
    width = LETTER * len(text.text) * float(text.get("font-size", 12)) / 12
    left = float(text.get("x")) - {"start": 0, "middle": width / 2,
                                   "end": width}[text.get("text-anchor")]
    return left, left + width


def labels(root, kind):
    return [t for t in root.iter(SVG + "text") if t.get("class") == kind]


def check_labels(root, width, height):
    for text in root.iter(SVG + "text"):
        left, right = extent(text)
        turned = text.get("x") == "0.0"
        if not turned and (left < 0 or right > width or
                           not 0 < float(text.get("y")) < height):
            fail("\"%s\" runs out of the picture" % text.text)
    ends = sorted(extent(t) for t in labels(root, "x"))
    for (_, right), (left, _) in zip(ends, ends[1:]):
        if left < right:
            fail("labels of x run into each other")
    for kind in ("y", "legend"):
        rows = sorted(float(t.get("y")) for t in labels(root, kind))
        if any(b - a < 11 for a, b in zip(rows, rows[1:])):
            fail("labels of %s run into each other" % kind)


def check_inside(root, frame):
    x, y, w, h = (float(frame.get(k)) for k in ("x", "y", "width", "height"))
    marks = 0
    for group in root.iter(SVG + "g"):
        if group.get("class") != "line":
            continue
        paths = group.findall(SVG + "path")
        marks += len(paths) - 1
        for path in paths:
            for a, b in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path.get("d")):
                if not (x <= float(a) <= x + w and y <= float(b) <= y + h):
                    fail("%s %s is out of the frame" % (a, b))
    return marks


def main():
    root = ET.parse(sys.argv[1]).getroot()
    width, height = float(root.get("width")), float(root.get("height"))
    frame = [r for r in root.iter(SVG + "rect") if r.get("fill") == "none"]
    if root.tag != SVG + "svg" or len(frame) != 1:
        fail("is no plot")
    check_labels(root, width, height)
    is_ = {"points": str(check_inside(root, frame[0])),
           "lines": str(sum(g.get("class") == "line"
                            for g in root.iter(SVG + "g"))),
           "x": ",".join(t.text for t in labels(root, "x")),
           "legend": ",".join(t.text for t in labels(root, "legend"))}
    is_["title"] = root.find(SVG + "title").text.split(" over ")[0]
    for word in sys.argv[2:]:
        key, should = word.split("=", 1)
        if is_[key] != should:
            fail("%s is %s, not %s" % (key, is_[key], should))


if __name__ == "__main__":
    main()
