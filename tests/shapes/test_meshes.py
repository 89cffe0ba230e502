"""Mesh files: what is read is what others read, and what cannot be used is refused by name."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph import MeshError, RobomorphError
from robomorph.shapes import mesh_files, read_mesh

from ..model.oracle import example_robots

trimesh = pytest.importorskip("trimesh", reason="needs the package trimesh")

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)]
# A tetrahedron whose faces look outwards.
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


def ascii_stl() -> bytes:
    facets = [
        "facet normal 0 0 0\n outer loop\n"
        + "".join("  vertex {} {} {}\n".format(*CORNERS[i]) for i in face)
        + " endloop\nendfacet\n"
        for face in FACES
    ]
    return ("solid tetrahedron\n" + "".join(facets) + "endsolid tetrahedron\n").encode()


def binary_stl(head: bytes = b"made by hand") -> bytes:
    kind = np.dtype([("n", "<f4", 3), ("c", "<f4", (3, 3)), ("a", "<u2")])
    rows = np.zeros(len(FACES), kind)
    rows["c"] = np.array(CORNERS)[np.array(FACES)]
    return head.ljust(80, b"\0") + len(FACES).to_bytes(4, "little") + rows.tobytes()


def obj() -> bytes:
    lines = ["mtllib none.mtl", *("v {} {} {}".format(*c) for c in CORNERS), "usemtl steel"]
    return "\n".join([*lines, *("f {} {} {}".format(*(i + 1 for i in f)) for f in FACES), ""]).encode()


def ply(binary: bool) -> bytes:
    kind = "binary_little_endian" if binary else "ascii"
    head = (
        f"ply\nformat {kind} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    ).encode()
    if not binary:
        rows = ["{} {} {}".format(*c) for c in CORNERS] + ["3 {} {} {}".format(*f) for f in FACES]
        return head + "\n".join([*rows, ""]).encode()
    faces = b"".join(b"\3" + np.array(face, "<i4").tobytes() for face in FACES)
    return head + np.array(CORNERS, "<f4").tobytes() + faces


def dae(*, meter: float = 1.0, up: str = "Z_UP", matrix: str = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1") -> bytes:
    points = " ".join(str(x) for corner in CORNERS for x in corner)
    index = " ".join(str(i) for face in FACES for i in face)
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="u" meter="{meter}"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">{points}</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>{index}</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s">
<node><matrix>{matrix}</matrix><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


FILES = {
    "ascii.stl": ascii_stl(),
    "binary.stl": binary_stl(),
    "solid.STL": binary_stl(b"solid, though it is binary"),
    "padded.stl": binary_stl() + b"\0\0",
    "a.obj": obj(),
    "ascii.ply": ply(False),
    "binary.ply": ply(True),
    "a.dae": dae(),
}


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def volume(triangles: Any) -> float:
    """Of a closed surface, positive if its faces look outwards."""
    a, b, c = np.moveaxis(triangles.vertices[triangles.faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


@pytest.mark.parametrize("name", FILES)
def test_a_tetrahedron_in_every_format(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, FILES[name])
    found = read_mesh(path)
    assert found.vertices.dtype == np.float64 and found.faces.dtype == np.int64
    assert found.vertices.shape == (4, 3) and found.faces.shape == (4, 3)
    assert sorted(map(tuple, found.vertices.tolist())) == sorted(CORNERS)
    assert volume(found) == pytest.approx(1.0)
    assert not found.vertices.flags.writeable and not found.faces.flags.writeable
    assert volume(read_mesh(path, 0.5)) == pytest.approx(0.125)
    assert volume(read_mesh(path, (-1, 1, 2))) == pytest.approx(2.0)  # mirrored, and outside is outside
    assert read_mesh(path, (-1, 1, 2)).vertices[:, 0].min() == -1.0


def test_collada_as_ros_takes_it(tmp_path: Path) -> None:
    """The unit counts, the up axis does not, and nodes place what they hold."""
    up = read_mesh(written(tmp_path, "up.dae", dae(up="Y_UP")))
    assert sorted(map(tuple, up.vertices.tolist())) == sorted(CORNERS)
    small = read_mesh(written(tmp_path, "small.dae", dae(meter=0.001)))
    assert small.vertices.max(axis=0) == pytest.approx([0.001, 0.002, 0.003])
    moved = read_mesh(written(tmp_path, "moved.dae", dae(matrix="-2 0 0 5 0 1 0 0 0 0 1 0 0 0 0 1")))
    assert moved.vertices[:, 0].min() == 3.0 and moved.vertices[:, 0].max() == 5.0
    assert volume(moved) == pytest.approx(2.0)


def test_a_picture_that_is_missing_costs_no_geometry(tmp_path: Path) -> None:
    paint = (
        b'<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="m" '
        b'target="#nowhere"/></technique_common></bind_material></instance_geometry>'
    )
    data = dae().replace(b'<instance_geometry url="#g"/>', paint + b'<instance_geometry url="#g"/>')
    data = data.replace(b"<library_geometries>", b"<library_images/><library_geometries>")
    assert len(read_mesh(written(tmp_path, "a.dae", data)).faces) == 8
    lost = dae().replace(b"</node>", b'<instance_geometry url="#lost"/></node>')
    with pytest.raises(MeshError, match=r"can be read whole, found .*lost"):
        read_mesh(written(tmp_path, "lost.dae", lost))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.8, 0.9, 0.96])
def test_a_truncated_file_is_refused(tmp_path: Path, name: str, share: float) -> None:
    data = FILES[name]
    path = written(tmp_path, name, data[: int(share * len(data))])
    if name == "a.obj":  # which does not say how much there is to come: refused if the cut is seen
        try:
            assert len(read_mesh(path).faces) < 4
        except MeshError as error:
            assert name in str(error)
        return
    with pytest.raises(MeshError, match=name):
        read_mesh(path)


def test_bytes_changed_at_random_never_give_a_traceback(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name, data in FILES.items():
        for _ in range(15):
            spoilt = bytearray(data)
            for place in rng.integers(0, len(data), 4):
                spoilt[place] = rng.integers(0, 256)
            try:
                found = read_mesh(written(tmp_path, name, bytes(spoilt)))
            except RobomorphError:
                continue
            assert np.isfinite(found.vertices).all() and found.faces.max() < len(found.vertices)


BROKEN = {
    "empty.stl": (b"", "found an empty file"),
    "zeros.stl": (b"\0" * 200, "found an empty file"),
    "short.stl": (b"abc", "84 bytes or more, found 3"),
    "none.stl": (b"solid x\nendsolid x\n", "expected triangles, found none"),
    "words.stl": (ascii_stl().replace(b"vertex 1 0", b"vertex one 0"), "expected numbers after `vertex`"),
    "nan.stl": (ascii_stl().replace(b"vertex 1 0", b"vertex nan 0"), "expected finite vertices, found"),
    "nan.obj": (obj().replace(b"v 1 0 0", b"v 1 nan 0"), "expected finite vertices"),
    "index.obj": (obj().replace(b"f 1 3 2", b"f 1 3 9"), "index.obj: expected"),
    "points.obj": (b"v 0 0 0\n", "points.obj: expected"),
    "junk.obj": (b"hello", "junk.obj: expected"),
    "index.ply": (ply(False).replace(b"3 0 2 1", b"3 0 2 7"), "a face with vertex 7"),
    "huge.ply": (ply(True).replace(b"vertex 4", b"vertex 4000000000"), "huge.ply: expected PLY"),
    "junk.ply": (b"ply\n", "junk.ply: expected PLY"),
    "junk.dae": (b"<COLLADA/>", "junk.dae: expected"),
    "nothing.dae": (dae().replace(b'<instance_geometry url="#g"/>', b""), "expected triangles"),
    "unit.dae": (dae(meter=-1.0), "a unit above 0 m, found -1"),
    "index.dae": (dae().replace(b"<p>0 2 1", b"<p>0 2 9"), "index.dae: expected"),
    "entity.dae": (b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + dae(), "document type"),
    "a.gltf": (b"{}", "expected a mesh file (.stl, .obj, .ply, .dae), found .gltf"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, name: str) -> None:
    data, found = BROKEN[name]
    with pytest.raises(MeshError) as caught:
        read_mesh(written(tmp_path, name, data))
    assert found in str(caught.value) and str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("scale", [0.0, (1, 0, 1), np.nan, (1, 2), "big", None])
def test_a_bad_scale_is_refused(tmp_path: Path, scale: Any) -> None:
    with pytest.raises(MeshError, match="scale: expected one or three finite numbers"):
        read_mesh(written(tmp_path, "a.stl", ascii_stl()), scale)


def test_large_files_folders_pipes_and_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a.stl", ascii_stl())
    assert mesh_files.LARGEST_FILE == 200_000_000
    monkeypatch.setattr(mesh_files, "LARGEST_FILE", 100)
    with pytest.raises(MeshError, match=r"expected at most 0.0001 MB"):
        read_mesh(path)
    with pytest.raises(MeshError, match="no such file"):
        read_mesh(tmp_path / "b.stl")
    (tmp_path / "folder.stl").mkdir()
    os.mkfifo(tmp_path / "pipe.stl")
    for name in ("folder.stl", "pipe.stl"):
        with pytest.raises(MeshError, match="not a regular file"):
            read_mesh(tmp_path / name)


@pytest.mark.parametrize(("name", "package"), [("a.obj", "trimesh"), ("a.dae", "collada")])
def test_a_missing_package_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MeshError, match=rf"{name}.* needs the package {package}.*robomorph\[view\]"):
        read_mesh(written(tmp_path, name, FILES[name]))
    assert len(read_mesh(written(tmp_path, "a.stl", ascii_stl())).faces) == 4  # which needs none


def test_a_package_that_trimesh_misses_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does without Pillow where an OBJ file has texture coordinates."""

    def lacking(*args: Any, **options: Any) -> None:
        raise ModuleNotFoundError("No module named 'PIL'")

    monkeypatch.setattr(trimesh, "load", lacking)
    with pytest.raises(MeshError, match=r"a\.obj.*one more package.*'PIL'.*robomorph\[view\]"):
        read_mesh(written(tmp_path, "a.obj", FILES["a.obj"]))


def example_meshes() -> list[Path]:
    folders = {path.parents[1] for path in example_robots()}
    kinds = (".stl", ".obj", ".dae", ".ply")
    return sorted({p for f in folders for p in f.rglob("*") if p.suffix.lower() in kinds})


def _sample() -> list[Any]:
    """Some small ones for the ordinary run, all of them with -m slow."""
    files = example_meshes()
    small = [path for path in files if path.stat().st_size < 300_000][::25]
    return [path if path in small else pytest.param(path, marks=pytest.mark.slow) for path in files]


@pytest.mark.parametrize("path", _sample(), ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_real_meshes_are_those_of_coal_and_trimesh(path: Path) -> None:
    """The same extent as by the reader that Pinocchio uses, which ignores the up axis too, and the same area
    as by trimesh's own readers (coal mixes up the triangles of files with several meshes)."""
    coal = pytest.importorskip("coal", reason="needs the package coal, which comes with pin")
    ours, theirs = read_mesh(path), coal.MeshLoader().load(str(path), np.ones(3))
    points = np.array(theirs.vertices())
    used = ours.vertices[np.unique(ours.faces)]
    size = float(np.ptp(points, axis=0).max())
    np.testing.assert_allclose(used.min(axis=0), points.min(axis=0), atol=1e-5 * size)
    np.testing.assert_allclose(used.max(axis=0), points.max(axis=0), atol=1e-5 * size)
    a, b, c = np.moveaxis(ours.vertices[ours.faces], 1, 0)
    area = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = trimesh.load(path, force="mesh", process=False, skip_materials=True)
    if path.name != "anymal_foot.dae":  # of which trimesh reads nothing, as a picture is missing
        assert area == pytest.approx(whole.area, rel=1e-5)
