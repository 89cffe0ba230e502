"""`robomorph mpc rate`: control rate against horizon, and round trips of a chip, as the papers have them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.mpc.studies.rate import RateStudy

DESCRIPTION = """\
Which horizon fits which control rate: ten iterations of a reach, timed over horizons on one core of this
machine, without and with limits on torque, speed and position; beside it the peers of `robomorph bench mpc`
where they are found (ROBOMORPH_MPC_PEERS), and for iiwa14 the papers' model, derived
from the horizons that they print. With --chip, gradients come from a simulated chip behind a link to a host:
its round trips are simulated cycle by cycle, its clock and the link are assumptions, and what control would
then take is an estimate.
"""
EPILOG = """\
examples:
  robomorph mpc rate
  robomorph mpc rate iiwa14 hyq atlas --plots figures
  robomorph mpc rate iiwa14 --chip --pipelines 1,4 --link pcie3x8 --clock 100e6 --json
"""


def add_arguments(parser: Any) -> None:
    """The options of the study, on a parser of its own."""
    from robomorph.cli.parser import whole_numbers

    parser.add_argument("robots", metavar="ROBOT", nargs="*", help="names or URDF files (default iiwa14)")
    parser.add_list("--horizons", metavar="N,N,...", read=whole_numbers, help="steps to try")
    parser.add_argument("--iterations", type=int, default=10, help="of a plan (default 10)")
    parser.add_argument("--chip", action="store_true", help="simulate a chip for gradients (Verilator)")
    parser.add_list("--pipelines", metavar="N,N,...", read=whole_numbers, help="copies of it (default 1)")
    parser.add_argument("--link", default="pcie1x8", help="pcie1x8, pcie3x8, none (default pcie1x8)")
    parser.add_argument("--bandwidth", type=float, metavar="BYTES/S", help="of the link, each way")
    parser.add_argument("--latency", type=float, metavar="S", help="of the link, one way")
    parser.add_argument("--clock", type=float, metavar="HZ", help="of the chip (default 55.6e6, the papers')")
    parser.add_argument("--plots", metavar="FOLDER", help="draw the curves there")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from robomorph.cli.outputs import check_outputs
    from robomorph.cli.terminal import Steps, make_console, print_json, warnings_shown
    from robomorph.loading import load
    from robomorph.mpc.studies.documents import rate_data
    from robomorph.mpc.studies.rate import HORIZONS, rate_study

    check_outputs(None, Path(args.plots) if args.plots else None)
    with warnings_shown():
        robots = [load(name) for name in args.robots or ["iiwa14"]]
    pipelines = tuple(args.pipelines or (1,))
    link = _link(args) if args.chip else None
    with Steps("rates", len(robots) * (2 + (len(pipelines) if link else 0))) as steps:
        study = rate_study(
            robots,
            horizons=tuple(args.horizons or HORIZONS),
            iterations=args.iterations,
            link=link,
            clock=args.clock,
            pipelines=pipelines,
            tell=steps.step,
        )
    study = with_peers(study, robots, args)
    if args.plots:
        from robomorph.report.png import write_figures
        from robomorph.report.rate_plots import rate_figures

        write_figures(rate_figures(study), Path(args.plots))
    if args.json:
        print_json(rate_data(study))
    else:
        print_study(make_console(), study)
    return 0


def with_peers(study: RateStudy, robots: list[Any], args: argparse.Namespace) -> RateStudy:
    """The study with curves of other solvers, where some are found."""
    from dataclasses import replace

    from robomorph.bench.mpc.rates import peer_points
    from robomorph.mpc.studies.rate import HORIZONS

    points = list(study.points)
    for robot, source in zip(robots, args.robots or ["iiwa14"], strict=True):
        points += peer_points(robot.name, source, tuple(args.horizons or HORIZONS), study.iterations)
    return replace(study, points=tuple(points))


def _link(args: argparse.Namespace) -> Any:
    from robomorph.accelerators.coprocessor import LINKS, HostLink
    from robomorph.errors import ArgumentError
    from robomorph.naming import hint

    if args.link not in LINKS:
        raise ArgumentError(f"--link: unknown name {args.link!r}: {hint(args.link, list(LINKS))}")
    known = LINKS[args.link]
    if args.bandwidth is None and args.latency is None:
        return known
    bandwidth = known.bandwidth if args.bandwidth is None else args.bandwidth
    latency = known.latency if args.latency is None else args.latency
    return HostLink(f"{bandwidth:.3g} B/s, {latency:.3g} s", bandwidth, latency)


def print_study(console: Console, study: RateStudy) -> None:
    from robomorph.cli.terminal import make_table
    from robomorph.mpc.studies.horizons import RATES, curves, longest

    columns = ("robot", "who", "known by", *(f"steps at {rate:g} Hz" for rate in RATES))
    caption = "the longest horizon that keeps up, by lines between the horizons tried; + where the curve ends"
    table = make_table(f"{study.iterations} iterations a plan", columns, left=3, caption=caption)
    for (robot, who), points in curves(study.points).items():
        found = [longest(points, rate) for rate in RATES]
        table.add_row(robot, who, points[0].known, *(f"{n}{'+' if ends else ''}" for n, ends in found))
    console.print(table)
    _print_times(console, study)
    _print_trips(console, study)


def _print_times(console: Console, study: RateStudy) -> None:
    from robomorph.cli.terminal import make_table
    from robomorph.mpc.studies.horizons import MEASURED, curves

    for robot in dict.fromkeys(point.robot for point in study.points):
        mine = {
            who: {p.horizon: p.seconds for p in points}
            for (name, who), points in curves(study.points).items()
            if name == robot and points[0].known == MEASURED
        }
        table = make_table(f"{robot}: ms of a plan, median", ("steps", *mine))
        for horizon in sorted({n for times in mine.values() for n in times}):
            table.add_row(str(horizon), *(_ms(times.get(horizon)) for times in mine.values()))
        console.print(table)


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.3f}"


def _print_trips(console: Console, study: RateStudy) -> None:
    from robomorph.cli.terminal import make_table

    for trip in study.trips:
        title = (
            f"{trip.robot}, {trip.who}: round trips of gradients ({trip.multipliers} multipliers, a state "
            f"every {trip.interval:g} cycles)"
        )
        caption = (
            "cycles are simulated, every word equal to the interpreter's; clock, bandwidth "
            f"({trip.link.bandwidth:.3g} B/s) and latency ({trip.link.latency * 1e6:.3g} us) are given"
        )
        table = make_table(title, ("steps", "cycles", "us", "us of the link alone"), caption=caption)
        for t in trip.trips:
            row = (f"{t.cycles:,.0f}", f"{t.seconds * 1e6:.2f}", f"{t.link_seconds * 1e6:.2f}")
            table.add_row(str(t.states), *row)
        console.print(table)
