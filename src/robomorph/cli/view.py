"""`robomorph view`: robots in the browser, with sliders, a handle and motions; or as one file."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING, Any

from robomorph.cli.options import add_robot_options, load_robot, path_text
from robomorph.cli.parser import is_number, names, numbers

if TYPE_CHECKING:
    from robomorph.robot import Robot
    from robomorph.viewer.exhibit import Exhibit

_EPILOG = """\
examples:
  robomorph view iiwa14
  robomorph view atlas --floating-base --frame r_hand l_hand
  robomorph view iiwa14 --trajectory plan.csv --html motion.html
  robomorph view arm.urdf --q 0,-1.5,1.5,0,0,0 --no-browser --port 8080

exit codes: 0 ended by Ctrl-C, or the file is written, 2 wrong usage or bad input
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "view",
        help="show a robot in the browser",
        description="Opens a page of this computer, for this computer only, that shows robots: sliders move "
        "joints, inverse kinematics follows a handle, a motion is played beside plots of angles, speeds and "
        "torques against their limits. Ctrl-C ends it (docs/viewer.md).",
        epilog=_EPILOG,
    )
    add_robot_options(parser, several=True)
    text = "a motion of the first robot: .npz or .csv; may be repeated"
    parser.add_argument("--trajectory", metavar="FILE", type=path_text, action="append", help=text)
    parser.add_argument("--rate", type=float, help="samples a second of a motion without times")
    parser.add_list(
        "--q", metavar="Q ...", read=numbers, accepts=is_number, help="configuration to begin with (rad, m)"
    )
    parser.add_list(
        "--frame", metavar="NAME ...", read=names, help="what the handle can hold (default: all that moves)"
    )
    parser.add_argument("--move-base", action="store_true", help="a floating base follows the handle, too")
    parser.add_argument("--port", type=int, default=0, help="default: any that is free")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    text = "write one page that opens without a server, and end"
    parser.add_argument("--html", metavar="FILE", type=path_text, help=text)


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.outputs import check_outputs
    from robomorph.errors import ArgumentError

    if not args.robots:
        raise ArgumentError("ROBOT: expected one robot at least, found none (see `robomorph robots`)")
    if args.q is not None and len(args.robots) > 1:
        raise ArgumentError(f"--q: expected one robot with it, found {len(args.robots)}")
    check_outputs(None, None, args.html)
    exhibit = _exhibit(args, [_loaded(args, source) for source in args.robots])
    if args.html:
        exhibit.save(args.html)
        print(f"written: {args.html}")
        return 0
    return _serve(args, exhibit)


def _loaded(args: argparse.Namespace, source: str) -> Robot:
    return load_robot(argparse.Namespace(**{**vars(args), "robot": source}))[0]


def _exhibit(args: argparse.Namespace, robots: list[Robot]) -> Exhibit:
    from robomorph.cli.terminal import warnings_shown
    from robomorph.viewer.exhibit import make_exhibit
    from robomorph.viewer.trajectory import Trajectory

    motions = [Trajectory.read(path, robots[0], args.rate) for path in args.trajectory or []]
    rest = [None] * (len(robots) - 1)
    if len(robots) > 1 and len(motions) > 1:
        from robomorph.errors import ArgumentError

        raise ArgumentError(f"--trajectory: expected one with several robots, found {len(motions)}")
    with warnings_shown():
        exhibit = make_exhibit(
            robots[0] if len(robots) == 1 else robots,
            [*motions, *rest] if motions else None,
            q=args.q,
            frames=args.frame,
            move_base=args.move_base,
        )
        exhibit.document()
    return exhibit


def _serve(args: argparse.Namespace, exhibit: Exhibit) -> int:
    from robomorph.cli import interrupts
    from robomorph.viewer.live import Viewer, open_page

    with Viewer(exhibit, args.port) as viewer:
        print(viewer.url, flush=True)
        sys.stderr.write("Ctrl-C ends it\n")
        try:
            if not args.no_browser and not open_page(viewer.url):
                sys.stderr.write("no browser could be opened: open the address above\n")
            viewer.wait()
        except KeyboardInterrupt:
            if interrupts.seen() not in (None, signal.SIGINT):
                raise
            interrupts.expected()
    return 0
