"""Builds the site: python -m tools.docs_site [-o site]. Needs the extra `docs`, and no network."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from tools.docs_site.links import ROOT, broken_links, pages
from tools.docs_site.site_check import check_site

_NEEDED = ("zensical", "mkdocstrings_handlers.python", "matplotlib")
# What the builder would have fetched so that the search works from the disk; assets/worker.js does it here.
_SHIM = re.compile(r"https://[\w./]*iframe-worker/shim")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.docs_site", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "site", help="folder of the site")
    args = parser.parse_args()
    missing = [name for name in _NEEDED if not _found(name)]
    if missing:
        return _fail([f"missing: {', '.join(missing)}. pip install '.[docs]'"])
    if args.output.exists() and any(args.output.iterdir()) and not (args.output / "index.html").exists():
        return _fail([f"{args.output} holds something else than a site: choose another folder with -o"])
    began = time.perf_counter()
    broken = [words for page in pages() for words in broken_links(page)]
    if broken:
        return _fail(broken)
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder))
        if built is None:
            return 1
        wrong = check_site(built)
        if wrong:
            return _fail(wrong)
        shutil.rmtree(args.output, ignore_errors=True)
        shutil.copytree(built, args.output)
    files = [path for path in args.output.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    seconds = time.perf_counter() - began
    print(f"{args.output / 'index.html'}: {len(files)} files, {size:.1f} MB, {seconds:.0f} s")
    return 0


def build(folder: Path) -> Path | None:
    """The site's folder; None, with what the builder said, where it failed or warned."""
    from tools.docs_site.pages import stage

    stage(folder)
    paths = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    said = done.stdout + done.stderr
    if done.returncode != 0 or "Warning" in said or "ERROR" in said:
        print(said, file=sys.stderr)
        return None
    _mend(folder / "site")
    return folder / "site"


def _mend(site: Path) -> None:
    """What the builder cannot be told otherwise: a script of our own instead of one from elsewhere, and no
    page for wrong addresses, as its links would only hold at the root of a server."""
    (site / "404.html").unlink(missing_ok=True)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        own = os.path.relpath(site / "assets" / "worker.js", page.parent).replace(os.sep, "/")
        if _SHIM.search(text):
            page.write_text(_SHIM.sub(own, text), encoding="utf-8")


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _fail(words: list[str]) -> int:
    print("\n".join(words), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
