"""Seeded damage to URDF documents, from small changes of figures to flipped bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

NUMBERS = ("nan", "inf", "-inf", "0", "-1", "1e300", "-1e300", "1e-300", "1e999", "", " ", "abc", "1,5",
           "0x10", "1_0", "--1", "1e", "3.14159", "1.5708", "1e20", "-0", "${x}")  # fmt: skip
KINDS = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed", "Revolute", "ball", "")


def mutate(text: str, rng: random.Random) -> bytes:
    """The document with one to three random changes; the same `rng` state gives the same result."""
    root = ElementTree.fromstring(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(TREE_CHANGES)(root, rng)
    data: bytes = ElementTree.tostring(root, encoding="utf-8")
    if rng.random() < 0.2:
        data = rng.choice(BYTE_CHANGES)(data, rng)
    return data


def _parents(root: Element) -> list[Element]:
    return [element for element in root.iter() if len(element)]


def _with_attributes(root: Element) -> list[Element]:
    return [element for element in root.iter() if element.attrib]


def delete_element(root: Element, rng: random.Random) -> None:
    if parents := _parents(root):
        parent = rng.choice(parents)
        parent.remove(rng.choice(list(parent)))


def duplicate_element(root: Element, rng: random.Random) -> None:
    if parents := _parents(root):
        parent = rng.choice(parents)
        copy = ElementTree.fromstring(ElementTree.tostring(rng.choice(list(parent))))
        parent.insert(rng.randrange(len(parent) + 1), copy)


def swap_elements(root: Element, rng: random.Random) -> None:
    """Exchange two elements anywhere, content and all."""
    parents = _parents(root)
    if not parents:
        return
    a, b = rng.choice(parents), rng.choice(parents)
    i, j = rng.randrange(len(a)), rng.randrange(len(b))
    first, second = (ElementTree.tostring(element) for element in (a[i], b[j]))
    if first not in second and second not in first:
        a[i], b[j] = ElementTree.fromstring(second), ElementTree.fromstring(first)


def shuffle_children(root: Element, rng: random.Random) -> None:
    if parents := _parents(root):
        parent = rng.choice(parents)
        children = list(parent)
        rng.shuffle(children)
        parent[:] = children


def delete_attribute(root: Element, rng: random.Random) -> None:
    if elements := _with_attributes(root):
        element = rng.choice(elements)
        del element.attrib[rng.choice(list(element.attrib))]


def rename_attribute(root: Element, rng: random.Random) -> None:
    if elements := _with_attributes(root):
        element = rng.choice(elements)
        key = rng.choice(list(element.attrib))
        element.attrib[rng.choice((key.upper(), key + "_", "name", "value"))] = element.attrib.pop(key)


def swap_attributes(root: Element, rng: random.Random) -> None:
    if elements := _with_attributes(root):
        a, b = rng.choice(elements), rng.choice(elements)
        i, j = rng.choice(list(a.attrib)), rng.choice(list(b.attrib))
        a.attrib[i], b.attrib[j] = b.attrib[j], a.attrib[i]


def _numeric(root: Element) -> list[tuple[Element, str]]:
    keys = {"name", "type", "link", "joint", "filename"}
    return [(element, key) for element in root.iter() for key in element.attrib if key not in keys]


def replace_number(root: Element, rng: random.Random) -> None:
    if places := _numeric(root):
        element, key = rng.choice(places)
        parts = element.attrib[key].split() or [""]
        parts[rng.randrange(len(parts))] = rng.choice(NUMBERS)
        element.attrib[key] = " ".join(parts)


def scale_number(root: Element, rng: random.Random) -> None:
    """A change that leaves most documents loadable, so that what they say can be compared."""
    if places := _numeric(root):
        element, key = rng.choice(places)
        parts = element.attrib[key].split() or ["1"]
        index = rng.randrange(len(parts))
        try:
            parts[index] = repr(float(parts[index]) * rng.uniform(-1.0, 3.0) + rng.choice((0.0, 0.0, 0.1)))
        except ValueError:
            parts[index] = "1"
        element.attrib[key] = " ".join(parts)


def change_count(root: Element, rng: random.Random) -> None:
    if places := _numeric(root):
        element, key = rng.choice(places)
        parts = element.attrib[key].split()
        element.attrib[key] = " ".join(parts[:-1] if parts and rng.random() < 0.5 else [*parts, "1"])


def rename(root: Element, rng: random.Random) -> None:
    """Point a name, link or joint reference somewhere else."""
    places = [
        (element, key)
        for element in root.iter()
        for key in ("name", "link", "joint")
        if key in element.attrib
    ]
    if places:
        element, key = rng.choice(places)
        other, other_key = rng.choice(places)
        element.attrib[key] = rng.choice(
            (other.attrib[other_key], "new", "", "tool", element.attrib[key] + " ")
        )


def change_kind(root: Element, rng: random.Random) -> None:
    if joints := list(root.iter("joint")):
        rng.choice(joints).attrib["type"] = rng.choice(KINDS)


def rename_tag(root: Element, rng: random.Random) -> None:
    element = rng.choice(list(root.iter()))
    element.tag = rng.choice(("link", "joint", "robot", "origin", "unknown", element.tag.upper()))


TREE_CHANGES: tuple[Callable[[Element, random.Random], None], ...] = (
    delete_element,
    duplicate_element,
    swap_elements,
    shuffle_children,
    delete_attribute,
    rename_attribute,
    swap_attributes,
    replace_number,
    replace_number,
    scale_number,
    scale_number,
    scale_number,
    change_count,
    rename,
    change_kind,
    rename_tag,
)


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def flip_bytes(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def insert_bytes(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    junk = rng.choice(
        (b"<", b">", b"&amp;", b"&x;", b"\x00", b"\xff", b"]]>", b"<!--", b"<![CDATA[", b'"', b"<a>")
    )
    return data[:at] + junk + data[at:]


def cut_slice(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randint(1, 200) :]


def repeat_slice(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    part = data[at : at + rng.randint(1, 200)]
    return data[:at] + part * rng.randint(2, 5) + data[at + len(part) :]


def add_doctype(data: bytes, rng: random.Random) -> bytes:
    return b'<!DOCTYPE robot [<!ENTITY x "' + bytes(rng.choices(b"abc&;", k=5)) + b'">]>' + data


BYTE_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    truncate,
    flip_bytes,
    flip_bytes,
    insert_bytes,
    cut_slice,
    repeat_slice,
    add_doctype,
)
