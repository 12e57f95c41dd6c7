# SPDX-License-Identifier: GPL-2.0
"""Writes Chakra execution traces, byte by byte, for tests and the demo.

Protobuf is written by hand here, so that a test can also write what no
library would: wrong wire types, lengths that lie, numbers of any kind.
"""

import struct

METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7
ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, \
    REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, BARRIER = range(10)


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def fixed32(field, packed):
    return varint(field << 3 | 5) + packed


def fixed64(field, packed):
    return varint(field << 3 | 1) + packed


def zigzag(value):
    return value << 1 ^ value >> 63


# Every kind of number that an attribute can be.
KINDS = {
    "double": lambda v: fixed64(3, struct.pack("<d", v)),
    "float": lambda v: fixed32(5, struct.pack("<f", v)),
    "int32": lambda v: number(7, v),
    "int64": lambda v: number(9, v),
    "uint32": lambda v: number(11, v),
    "uint64": lambda v: number(13, v),
    "sint32": lambda v: number(15, zigzag(v)),
    "sint64": lambda v: number(17, zigzag(v)),
    "fixed32": lambda v: fixed32(19, struct.pack("<I", v)),
    "fixed64": lambda v: fixed64(21, struct.pack("<Q", v)),
    "sfixed32": lambda v: fixed32(23, struct.pack("<i", v)),
    "sfixed64": lambda v: fixed64(25, struct.pack("<q", v)),
    "bool": lambda v: number(27, v),
    "bools": lambda v: text(28, text(1, bytes(v))),
    "string": lambda v: text(29, v),
}


def attr(name, value, kind=None):
    """Attribute; what kind of number it is, Python's type tells if nobody."""
    if kind is None:
        kind = {bool: "bool", int: "int64", float: "double", str: "string",
                list: "bools"}[type(value)]
    return text(1, name) + KINDS[kind](value)


def node(ident, kind=COMP, data=(), ctrl=(), attrs=(), packed=True, name="",
         values=None, extra=b""):
    """Node. attrs: (name, value[, kind]) each."""
    out = number(1, ident) + text(2, name) + number(3, kind)
    for field, deps in ((4, ctrl), (5, data)):
        if packed and deps:
            out += text(field, b"".join(varint(d) for d in deps))
        elif deps:
            out += b"".join(number(field, d) for d in deps)
    if values is not None:
        out += text(8, text(1, values))
    return out + b"".join(text(10, attr(*a)) for a in attrs) + extra


def collective(ident, kind, size, group=None, data=(), **more):
    attrs = [("is_cpu_op", False), ("comm_type", kind)]
    if size is not None:
        attrs.append(("comm_size", size))
    if group is not None:
        attrs.append(("pg_name", group))
    return node(ident, COLL, data, attrs=attrs, **more)


def send(ident, dst, size, tag=0, data=()):
    return node(ident, SEND, data, attrs=[("comm_dst", dst, "int32"),
                                          ("comm_size", size),
                                          ("comm_tag", tag, "int32")])


def recv(ident, src, size, tag=0, data=()):
    return node(ident, RECV, data, attrs=[("comm_src", src, "int32"),
                                          ("comm_size", size),
                                          ("comm_tag", tag, "int32")])


def trace(nodes, metadata=None):
    """Bytes of a file."""
    messages = [text(1, "0.0.4") if metadata is None else metadata] + nodes
    return b"".join(varint(len(m)) + m for m in messages)
