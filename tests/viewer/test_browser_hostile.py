"""Names that look like markup, and browsers that cannot or no longer draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import robomorph
from robomorph.viewer.html import page_html
from robomorph.viewer.scene import make_scene
from tests.viewer.browser import opened_file
from tests.viewer.scenes import blocks, motion, robot, write_robot, write_scene

EVIL = "</script><img src=x onerror=window.hurt=1><!--<script>&\u2028"
NO_WEBGL = """const old = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind === 'webgl2' ? null : old.call(this, kind, ...more);
};"""


def evil_urdf() -> str:
    from xml.sax.saxutils import quoteattr

    name = quoteattr(EVIL.replace("\u2028", "").replace("<!--", ""))
    body = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    joint = "<axis xyz='0 0 1'/><origin xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/>"
    return (
        f"<robot name={name}><link name='base'>{body}</link><link name={name}>{body}</link>"
        f"<joint name={name} type='revolute'><parent link='base'/><child link={name}/>{joint}</joint></robot>"
    )


def test_names_are_only_ever_text(browser: Any, tmp_path: Path) -> None:
    model = robomorph.load(evil_urdf())
    moves = motion(model, name=EVIL)
    moves["plots"][0]["lines"][0]["name"] = moves["plots"][0]["title"] = moves["plots"][0]["unit"] = EVIL
    mark = {"layer": "forces", "kind": "point", "position": [0, 0, 1], "size": [0.1], "name": EVIL}
    text = page_html(make_scene([model], title=EVIL, trajectories=[moves, moves], marks=[mark]))
    assert text.count("</script>") == 2 and "<img" not in text
    path = tmp_path / "evil.html"
    path.write_text(text, encoding="utf-8")
    with opened_file(browser, path) as opened:
        opened.page.locator("[data-layer=names]").check()
        opened.drawn()
        assert opened.run("window.hurt") is None
        assert opened.run("document.images.length") == 0
        assert opened.page.locator("#title").text_content() == EVIL
        assert any("onerror" in text for text in opened.page.locator(".label").all_text_contents())
        assert opened.errors == [] and opened.requests == []


def test_the_policy_stops_what_slips_in(browser: Any, tmp_path: Path) -> None:
    """Even markup that a defect let through could neither run nor ask for anything."""
    with opened_file(browser, write_scene(blocks(), tmp_path / "b.html")) as opened:
        opened.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hurt=1\">')")
        refused = opened.run("fetch('https://example.com').then(() => 'went', () => 'refused')")
        opened.page.wait_for_timeout(100)
        assert refused == "refused"
        assert opened.run("window.hurt") is None
        assert any("Content Security Policy" in text for text in opened.errors)


def test_without_webgl_the_page_says_so(browser: Any, tmp_path: Path) -> None:
    model = robot("iiwa14")
    path = write_robot(model, tmp_path / "r.html", trajectories=[motion(model)])
    with opened_file(browser, path, init=NO_WEBGL) as opened:
        assert "WebGL2" in opened.page.locator("#notice").inner_text()
        opened.run("robomorph.setTime(1)")
        opened.drawn()
        assert opened.run("robomorph.cursors()") == [1, 1]
        assert opened.errors == []


def test_a_lost_context_comes_back(browser: Any, tmp_path: Path) -> None:
    with opened_file(browser, write_scene(blocks(), tmp_path / "b.html")) as opened:
        opened.drawn()
        before = opened.pixels()
        context = "document.getElementById('canvas').getContext('webgl2')"
        opened.run(f"window.lose = {context}.getExtension('WEBGL_lose_context'), lose.loseContext()")
        opened.page.locator("#notice").wait_for(state="visible")
        opened.run("lose.restoreContext()")
        opened.page.locator("#notice").wait_for(state="hidden")
        opened.drawn()
        assert (before == opened.pixels()).all(2).mean() > 0.999
        assert [text for text in opened.errors if "CONTEXT_LOST" not in text] == []


def test_nothing_is_drawn_while_nothing_changes(browser: Any, tmp_path: Path) -> None:
    with opened_file(browser, write_scene(blocks(), tmp_path / "b.html")) as opened:
        opened.idle()
        count = opened.run("robomorph.frames")
        opened.page.mouse.move(200, 200)
        opened.page.wait_for_timeout(700)
        assert opened.run("robomorph.frames") == count


@pytest.mark.parametrize("button", ["left", "right"])
def test_drags_turn_and_move(browser: Any, tmp_path: Path, button: Any) -> None:
    with opened_file(browser, write_scene(blocks(), tmp_path / "b.html")) as opened:
        read = "[robomorph.camera.yaw, robomorph.camera.pitch, ...robomorph.camera.target]"
        before = opened.run(read)
        mouse = opened.page.mouse
        mouse.move(300, 300)
        mouse.down(button=button)
        mouse.move(360, 330, steps=3)
        mouse.up(button=button)
        after = opened.run(read)
        turned, moved = after[:2] != before[:2], after[2:] != before[2:]
        assert (turned, moved) == ((True, False) if button == "left" else (False, True))
        mouse.wheel(0, -300)
        opened.drawn()
        opened.page.mouse.dblclick(300, 300)
        opened.wait("Math.hypot(...robomorph.camera.target.map((x, k) => x - [0.2, 0.2, 0.3][k])) < 1e-6")
