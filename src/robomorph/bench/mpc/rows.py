"""A contest as records, rows of a table, and goals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robomorph.bench.functions import PREDICTIVE_CONTROL
from robomorph.bench.mpc.contest import Contest, Rules, compete, timing_of
from robomorph.bench.mpc.ours import OurSolver
from robomorph.bench.mpc.problem import ProblemSet
from robomorph.bench.peers.control_peer import ControlPeer
from robomorph.bench.peers.peer import PeerError
from robomorph.bench.records import OURS, REFUSED, Record, first, select
from robomorph.bench.sections.section import Records, TableData, show_ns, show_ratio
from robomorph.bench.session import Session, in_short

ALLOWED = 1e-6  # of a limit's range: what we call kept
_HONEST = 1e-7  # relative: a cost that a side claims and the referee does not find is no result
_PLAUSIBLE = 1e-6  # N m and rad/s: what rounding leaves of the dynamics
_COLUMNS = (
    "robot", "problem", "solver", "same cost", "mean cost", "over the best", "iterations", "CPU best",
    "CPU median", "wall best", "wall median", "an iteration", "faster, best", "faster, median",
)  # fmt: skip


def contest(
    session: Session, section: str, problems: ProblemSet, peer: type[ControlPeer], rules: Rules, rounds: int
) -> list[Record]:
    """Ours and a peer on a set of problems; ours alone where the peer is absent or fails."""
    ours = OurSolver(problems)
    if peer not in session.present:
        why = session.absent.get(peer.name) or peer.absence()
        session.note(f"{problems.name}: not measured against {peer.title}: {why}")
        return _alone(session, section, problems, peer, ours, rules)
    try:
        with peer.start(problems) as theirs:
            found = compete(problems, [(OURS, ours), (peer.name, theirs)], rules, rounds)
    except PeerError as error:
        session.note(f"{problems.name}: {peer.title} failed: {in_short(error)}")
        return _alone(session, section, problems, peer, ours, rules)
    return _records(session, section, problems, peer, ours, found)


def _alone(
    session: Session,
    section: str,
    problems: ProblemSet,
    peer: type[ControlPeer],
    ours: OurSolver,
    rules: Rules,
) -> list[Record]:
    found = compete(problems, [(OURS, ours)], rules, rounds=3)
    return _records(session, section, problems, peer, ours, found)


def _records(
    session: Session,
    section: str,
    problems: ProblemSet,
    peer: type[ControlPeer],
    ours: OurSolver,
    found: Contest,
) -> list[Record]:
    out = []
    for entry in found.entries:
        mine = entry.name == OURS
        figures = found.figures(entry)
        if mine:
            figures[REFUSED] = _refused(session, problems, ours, found)
        elif figures["misreported"] > _HONEST:
            session.note(
                f"{problems.name}: {peer.title} claims costs that differ from the referee's by "
                f"{figures['misreported']:.1e}: its packages do not fit each other, and it is not compared"
            )
        how = f"beside {peer.title}" if mine else peer.title
        out.append(
            Record(
                section, problems.source, PREDICTIVE_CONTROL, entry.name, how,
                timing=timing_of(entry.wall), figures=figures, case=problems.name,
            )
        )  # fmt: skip
    return out


def _refused(session: Session, problems: ProblemSet, ours: OurSolver, found: Contest) -> float:
    """How many plans of ours, reported as solved, the referee does not find so."""
    entry, count = found.entries[0], 0
    for k, judgement in enumerate(entry.converged):
        if not ours.result(k, found.rules.most).success:
            continue
        honest = abs(entry.claimed[k] / judgement.cost - 1.0) <= _HONEST
        obeys = max(judgement.gap, judgement.torque_error) <= _PLAUSIBLE
        if not (honest and obeys and judgement.violation <= ALLOWED):
            count += 1
            session.note(f"{problems.name}, problem {k}: reported as solved, and refused: {judgement}")
    return float(count)


# --- tables and goals ----------------------------------------------------------------------------------


def contest_table(title: str, caption: str, records: Records) -> TableData:
    """Two rows a contest: ours, and the peer's with what it takes more."""
    rows = []
    for ours in select(records, who=OURS):
        theirs = _other(records, ours)
        rows.append(_row(ours, "robomorph", ours, None))
        if theirs is not None:
            rows.append(_row(theirs, theirs.how, theirs, ours))
    return TableData(title, _COLUMNS, rows, left=3, caption=caption)


def _other(records: Records, ours: Record) -> Record | None:
    title = ours.how.removeprefix("beside ")
    return first(records, robot=ours.robot, case=ours.case, how=title)


def _row(record: Record, name: str, times: Record, ours: Record | None) -> tuple[str, ...]:
    f = record.figures
    same = f"{f['agreed']:.0f} of {f['problems']:.0f}"
    same += f", {f['lower']:.0f} lower" if f["lower"] else ""
    cost = (
        ("-", "-", "-")
        if not f["agreed"]
        else (f"{f['cost']:.6f}", f"{f['excess']:.0e}", f"{f['iterations']:.1f}")
    )
    wall = (None, None) if times.timing is None else (times.timing.best_ns, times.timing.median_ns)
    spent = (f.get("cpu_best_ns"), f.get("cpu_median_ns"), *wall, _iteration_ns(record))
    ratios = (ratio(ours, record, "cpu_best_ns"), ratio(ours, record, "cpu_median_ns"))
    return (
        *(record.robot, record.case, name, same, *cost),
        *map(show_ns, spent),
        *("" if ours is None else show_ratio(r) for r in ratios),
    )


def _iteration_ns(record: Record) -> float | None:
    """CPU time of an iteration, by the median."""
    spent = record.figures.get("cpu_median_ns")
    return None if spent is None else spent / record.figures["iterations"]


def ratio(ours: Record | None, theirs: Record | None, figure: str) -> float | None:
    """How many times longer the peer takes; None unless both reached the same costs, and honestly."""
    if ours is None or theirs is None or theirs.figures["misreported"] > _HONEST:
        return None
    mine, other = ours.figures.get(figure), theirs.figures.get(figure)
    return None if mine is None or other is None else other / mine


def faster(robot: str, case: str, peer: type[ControlPeer]) -> Callable[[Records], float | None]:
    """By the medians of CPU time."""

    def find(records: Records) -> float | None:
        common = {"robot": robot, "case": case}
        ours = first(records, **common, who=OURS, how=f"beside {peer.title}")
        return ratio(ours, first(records, **common, how=peer.title), "cpu_median_ns")

    return find


def share_agreed(records: Records) -> float | None:
    """% of the problems, over all contests, on which both sides converged to the same cost."""
    theirs = [r for r in records if r.who != OURS]
    asked = sum(r.figures["problems"] for r in theirs)
    return 100.0 * sum(r.figures["agreed"] for r in theirs) / asked if asked else None


def largest(records: Records, figure: str) -> float | None:
    found = [r.figures[figure] for r in select(records, who=OURS) if figure in r.figures]
    return float(np.max(found)) if found else None
