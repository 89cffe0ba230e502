"""The viewer's page as one file: style, scripts and scene inside, and a policy that forbids every request."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from robomorph import __version__
from robomorph.errors import ModelWarning
from robomorph.viewer.document import check_scene

LARGE_MESH = 50_000  # triangles
_PAGE = Path(__file__).parent / "page"
# In the order in which they use each other.
SCRIPTS = (
    *("maths", "theme", "geometry", "shaders", "gpu", "renderer", "camera", "documents", "instances"),
    *("clock", "dom", "labels", "pointer", "gizmo", "scales", "plots", "timebar", "panels", "handle"),
    *("socket", "app", "main"),
)


def page_html(scene: Mapping[str, Any], *, live: bool | None = None) -> str:
    """A page that shows a scene document (see `document.py`), whole in itself: it opens from a file without a
    network. live: it is served by a viewer, and talks with the socket of the server it came from.

    ArgumentError, with the place, where the document has a number that is not finite or is not as described.
    """
    check_scene(scene)
    if not live:
        _warn_of_size(scene)
    style, script = _assembled()
    parts = {
        "live": "yes" if live else "no",
        "policy": _policy(style, script, bool(live)),
        "version": __version__,
        "title": html.escape(f"{scene['title']} · robomorph"),
        "style": style,
        "scene": _json_text(scene),
        "script": script,
    }
    # One pass over the template, so that nothing a robot is called can look like another place of it.
    template = (_PAGE / "index.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


@cache
def _assembled() -> tuple[str, str]:
    """(style, script): the scripts in their order, inside one function so that no name leaks."""
    style = (_PAGE / "style.css").read_text(encoding="utf-8")
    bodies = [(_PAGE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return style, "\n".join(["(() => {", "'use strict';", *bodies, "})();", ""])


def _warn_of_size(scene: Mapping[str, Any]) -> None:
    """Files are sent: whoever makes one should know what makes it large."""
    for mesh in scene.get("meshes", {}).values():
        triangles = len(mesh["faces"]) // 16  # three numbers of four bytes, and four letters for three bytes
        if triangles > LARGE_MESH:
            size = (len(mesh["faces"]) + len(mesh["vertices"])) / 1e6
            warnings.warn(
                f"mesh {mesh.get('name', '')!r}: {triangles:,} triangles make {size:.1f} MB of the page: "
                "a coarser mesh makes a smaller file",
                ModelWarning,
                stacklevel=3,
            )


def _policy(style: str, script: str, live: bool) -> str:
    """Only this style and script run, and nothing is fetched from anywhere; live: the socket of `self`."""
    rules = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        *(["connect-src 'self'"] if live else []),
    ]
    return "; ".join(rules)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json_text(scene: Mapping[str, Any]) -> str:
    """JSON in which no character can end the element that holds it."""
    text = json.dumps(scene, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
