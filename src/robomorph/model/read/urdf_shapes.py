"""<visual> and <collision> into shapes; what is wrong with one costs that shape and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from robomorph.naming import hint

from ...errors import ModelError
from ..geometry import Box, Capsule, Color, Cylinder, Geometry, Mesh, Shape, ShapeKind, Sphere, Triple
from ..mesh_paths import MeshPaths
from ..model import WORLD
from ..notes import BAD_COLOR, DROPPED_SHAPE, MISSING_MESH, REPEATED, TEXTURE, UNKNOWN_MATERIAL
from ..pose import Pose
from .urdf_fields import Fields
from .urdf_schema import KINDS
from .xmltree import Element

_KINDS: tuple[ShapeKind, ...] = ("visual", "collision")


@dataclass
class ShapeReader:
    """Reads the shapes of one document; `origin` reads the <origin> of an element."""

    fields: Fields
    meshes: MeshPaths
    origin: Callable[[Element], Pose]
    _colors: dict[str, Color | None] = field(default_factory=dict)  # materials by name
    _missing: set[str] = field(default_factory=set)

    def read_materials(self, root: Element) -> None:
        """Learn the colours that have names: those of <robot>, then the first use of every other name."""
        used = (visual.all("material") for link in root.all("link") for visual in link.all("visual"))
        for element in (*root.all("material"), *(material for found in used for material in found)):
            name = element.attributes.get("name", "").strip()
            if name and name not in self._colors and element.children:
                self._colors[name] = self._written_color(element)

    def shapes(self, link: Element, name: str) -> Iterator[Shape]:
        """A link's visuals, then its collisions, each in file order: in the link's frame, on no body yet."""
        for kind in _KINDS:
            for number, element in enumerate(link.all(kind)):
                try:
                    geometry, placement = self._geometry(element), self.origin(element)
                except ModelError as error:
                    self.fields.notes.add(DROPPED_SHAPE, self.fields.place(element), error.finding)
                    continue
                own = element.attributes.get("name", "").strip() or f"{name}_{number}"
                color = self._color(element) if kind == "visual" else None
                yield Shape(kind, own, name, WORLD, placement, geometry, color)

    def _geometry(self, shape: Element) -> Geometry:
        holder = self.fields.one(shape, "geometry")
        if holder is None:
            raise self.fields.wrong(shape, "a <geometry>", "none", "say what shape it is")
        known = sorted(KINDS["geometry"].children)
        found = [child for child in holder.children if child.tag in known]
        if not found:
            tags = ", ".join(f"<{child.tag}>" for child in holder.children) or "nothing"
            raise self.fields.wrong(holder, f"one of {', '.join(known)}", tags, hint(tags, known))
        if len(found) > 1:
            self.fields.notes.add(REPEATED, self.fields.place(holder), f"{len(found)} geometries")
        element = found[0]
        if element.tag == "mesh":
            return self._mesh(element)
        if element.tag == "box":
            return Box(self._extents(element))
        radius = self._length(element, "radius", zero=False)
        if element.tag == "sphere":
            return Sphere(radius)
        length = self._length(element, "length", zero=True)
        return Capsule(radius, length) if element.tag == "capsule" else Cylinder(radius, length)

    def _length(self, element: Element, attribute: str, *, zero: bool) -> float:
        value = self.fields.sized(element, attribute)
        if value < 0.0 or (value == 0.0 and not zero):
            expected = f"a {attribute} {'of 0 or more' if zero else 'above 0'}"
            raise self.fields.wrong(element, expected, f"{value:g}", "write it in metres")
        return value

    def _extents(self, box: Element) -> Triple:
        x, y, z = (float(value) for value in self.fields.vector(box, "size"))
        if min(x, y, z) < 0.0 or sorted((x, y, z))[1] == 0.0:
            expected = "a size without negative numbers, and with one zero at most"
            raise self.fields.wrong(box, expected, f"{x:g} {y:g} {z:g}", "write it in metres")
        return x, y, z

    def _mesh(self, element: Element) -> Mesh:
        uri = self.fields.text(element, "filename", "name the mesh file").strip()
        scale = (1.0, 1.0, 1.0)
        if "scale" in element.attributes:
            x, y, z = (float(value) for value in self.fields.vector(element, "scale"))
            scale = (x, y, z)
        if 0.0 in scale:
            found = " ".join(f"{value:g}" for value in scale)
            raise self.fields.wrong(element, "a scale without zeros", found, "write 1 1 1 or what is meant")
        path = self.meshes.find(uri)
        if path is None and uri not in self._missing:
            self._missing.add(uri)
            self.fields.notes.add(MISSING_MESH, self.fields.place(element), uri)
        return Mesh(uri, scale, path)

    def _color(self, visual: Element) -> Color | None:
        """As ROS has it: what a name was first defined as is what it means everywhere."""
        material = self.fields.one(visual, "material")
        if material is None:
            return None
        name = material.attributes.get("name", "").strip()
        if name in self._colors:
            return self._colors[name]
        if name:
            self.fields.notes.add(UNKNOWN_MATERIAL, self.fields.place(visual), repr(name))
            return None
        return self._written_color(material)

    def _written_color(self, material: Element) -> Color | None:
        """The colour that stands in a <material>."""
        place = self.fields.place(material)
        texture = self.fields.one(material, "texture")
        if texture is not None and texture.attributes.get("filename", "").strip():
            self.fields.notes.add(TEXTURE, place, texture.attributes["filename"].strip())
        element = self.fields.one(material, "color")
        if element is None:
            return None
        try:
            r, g, b, a = (float(value) for value in self.fields.rgba(element))
        except ModelError as error:
            self.fields.notes.add(BAD_COLOR, place, error.finding)
            return None
        return r, g, b, a
