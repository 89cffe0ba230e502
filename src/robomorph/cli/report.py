"""`robomorph report`: what the papers measured, run here, as one page with its figures as JSON."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robomorph.cli.parser import names
from robomorph.paths import user_path

_OUTPUT = "report.html"
_EPILOG = """\
examples:
  robomorph report --quick                              iiwa14 and hyq, a minute or two
  robomorph report my_arm.urdf -o my_arm.html
  robomorph report iiwa14 --only sparsity operations
  robomorph report --results cells.json                 with results of robomorph rtl --save

Finished chapters are kept beside the page (report.parts): a run that was interrupted goes on where it was.
exit codes: 0 all chapters done, 1 a chapter failed (the page says why), 2 wrong usage or bad input
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "report",
        help="run what the papers measured, as one page with figures and tables",
        description="Runs, for the robots named, what four papers measured, and writes one page that loads "
        "nothing: our figures, how they are known, and the papers' beside them. The same as JSON.",
        epilog=_EPILOG,
    )
    parser.robot = parser.add_argument(
        "robots", metavar="ROBOT", nargs="*", help="built-in names or URDF files (default: iiwa14 hyq)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=user_path, default=Path(_OUTPUT), help=f"default {_OUTPUT}"
    )
    parser.add_argument(
        "--json", metavar="FILE", type=user_path, help="the figures (default: beside the page, .json)"
    )
    parser.add_argument("--quick", action="store_true", help="smaller samples; long parts for one robot")
    parser.add_list(
        "--only",
        metavar="CHAPTER ...",
        read=names,
        accepts=_is_chapter,
        help="these chapters only, separated by commas or spaces",
    )
    parser.add_argument(
        "--results",
        metavar="FILE",
        type=user_path,
        nargs="+",
        default=[],
        help="results that robomorph rtl --save wrote: shown with their date and command",
    )
    parser.add_argument("--fresh", action="store_true", help="run chapters again that are kept")
    parser.add_argument("--list", action="store_true", help="list the chapters")


def _is_chapter(word: str) -> bool:
    from robomorph.evidence.chapters import TITLES

    return all(name in TITLES for name in names([word]))


def run(args: argparse.Namespace) -> int:
    """1 if a chapter failed."""
    from robomorph.cli.terminal import Steps, make_console, print_warning, write_text
    from robomorph.evidence.chapters import TITLES, choose
    from robomorph.evidence.context import DEFAULT_ROBOTS, Context
    from robomorph.evidence.page import page
    from robomorph.evidence.run import failures, make_report
    from robomorph.evidence.store import PartStore

    if args.list:
        _list(make_console())
        return 0
    chosen = choose(args.only)
    output, json_file = _outputs(args)
    with Steps("report", len(chosen)) as steps:
        context = Context(
            tuple(args.robots) or DEFAULT_ROBOTS, args.quick, tuple(args.results), tell=steps.detail
        )
        for message in _loaded(context):
            print_warning(message)
        document = make_report(
            context,
            chosen,
            PartStore(output.with_suffix(".parts")),
            fresh=args.fresh,
            begin=lambda name: steps.step(TITLES[name]),
        )
    write_text(json_file, _text(document))
    write_text(output, page(document))
    return _told(make_console(), document, failures(document), (output, json_file))


def _loaded(context: Any) -> list[str]:
    """What loading the robots warns of: wrong names are refused here, before the first chapter."""
    assert context.robots
    return list(context.warnings)


def _text(document: dict[str, Any]) -> str:
    from robomorph.cli.terminal import json_text

    return json_text(document)


def _list(console: Any) -> None:
    from robomorph.evidence.chapters import TITLES

    for name, title in TITLES.items():
        console.print(f"{name:<12} {title}", markup=False)


def _outputs(args: argparse.Namespace) -> tuple[Path, Path]:
    """The page and its JSON; what would fail only after minutes of work is refused here."""
    from robomorph.cli.outputs import check_outputs
    from robomorph.errors import ArgumentError
    from robomorph.report.synthesis import load_results

    output = args.output
    if output.is_dir():
        raise ArgumentError(f"-o: expected a file to write, found the folder {output}")
    json_file: Path = output.with_suffix(".json") if args.json is None else args.json
    if output.absolute() == json_file.absolute():
        raise ArgumentError(f"--json: expected another file than the page, found {json_file}")
    check_outputs(str(output), None)
    check_outputs(str(json_file), None)
    load_results(list(args.results))
    return output, json_file


def _told(console: Any, document: dict[str, Any], failed: list[str], files: tuple[Path, Path]) -> int:
    kept = [name for name, record in document["chapters"].items() if record["kept"]]
    if kept:
        console.print(f"kept from an earlier run: {', '.join(kept)} (--fresh runs them again)", markup=False)
    for name in failed:
        console.print(f"failed: {name}: {document['chapters'][name]['error']}", markup=False, style="red")
    for path in files:
        console.print(f"written: {path} ({path.stat().st_size / 1e6:.2f} MB)", markup=False)
    return 1 if failed else 0
