"""One run of the benchmark: the robots, the libraries found, and how contests are held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.bench.cpus import available_cpus
from robomorph.bench.functions import Function
from robomorph.bench.measuring import QUICK, THOROUGH, Contestant, Results, measure, relative_error
from robomorph.bench.peers.dynamics_peer import DynamicsPeer
from robomorph.bench.peers.peer import Peer
from robomorph.bench.records import OURS, Record
from robomorph.bench.subject import Subject

_INTERPRETER_ROWS = 128  # the interpreter is slow; so many states are enough to see an error


class Session:
    """What all sections share. `notes` collects what the reader must know about this run."""

    def __init__(self, sources: Sequence[str], peers: Sequence[type[Peer]], *, quick: bool = False) -> None:
        self.quick = quick
        self.effort = QUICK if quick else THOROUGH
        self.subjects = [Subject(source) for source in sources]
        reasons = {peer: peer.absence() for peer in peers}
        self.present = [peer for peer in peers if reasons[peer] is None]
        self.absent = {peer.name: str(why) for peer, why in reasons.items() if why is not None}
        self.cpus = available_cpus()
        self.notes: list[str] = []
        self._peers: dict[tuple[str, str], DynamicsPeer | None] = {}

    @property
    def first(self) -> list[Subject]:
        """The robot for sections that look at one; in a quick run also for those that look at all."""
        return self.subjects[:1]

    @property
    def some(self) -> list[Subject]:
        return self.first if self.quick else self.subjects

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def theirs(
        self, subject: Subject, function: Function, batch: int, *, reference_only: bool = False
    ) -> list[Contestant]:
        """Every way of every other library to compute this; what fails is noted and left out."""
        found: list[Contestant] = []
        able = [peer for peer in self.present if issubclass(peer, DynamicsPeer)]
        for peer_class in able[:1] if reference_only else able:
            peer = self._peer(peer_class, subject)
            if peer is None:
                continue
            try:
                found += peer.contestants(function, batch)
            except Exception as error:  # a peer's trouble must not end the run
                self.note(f"{peer.name} left out of {function.name} on {subject.name}: {in_short(error)}")
        return found

    def _peer(self, peer_class: type[DynamicsPeer], subject: Subject) -> DynamicsPeer | None:
        key = peer_class.name, subject.name
        if key not in self._peers:
            try:
                self._peers[key] = peer_class(subject, quick=self.quick)
            except Exception as error:  # likewise
                self._peers[key] = None
                self.note(f"{peer_class.name} cannot read {subject.name}: {in_short(error)}")
        return self._peers[key]

    def contest(
        self,
        section: str,
        subject: Subject,
        function: Function,
        contestants: Sequence[Contestant],
        *,
        batch: int | None = None,
    ) -> list[Record]:
        """Measure contestants of one function together, and their errors against one reference."""
        timings = measure(contestants, self.effort)
        referee, name, reference = self._reference(subject, function, contestants)
        records = []
        for contestant, timing in zip(contestants, timings, strict=True):
            results = contestant.results() if contestant.results is not None else {}
            records.append(
                Record(
                    section=section,
                    robot=subject.name,
                    function=function.name,
                    who=contestant.who,
                    how=contestant.how,
                    dtype=contestant.dtype,
                    batch=batch or contestant.evaluations,
                    threads=contestant.threads,
                    timing=timing,
                    error=None if contestant is referee else relative_error(results, reference),
                    reference=name,
                    figures={"dofs": float(subject.nv), **contestant.figures},
                )
            )
        return records

    def _reference(
        self, subject: Subject, function: Function, contestants: Sequence[Contestant]
    ) -> tuple[Contestant | None, str, Results]:
        """The first other library's results, or the interpreter's where there is none."""
        for contestant in contestants:
            if contestant.who != OURS and contestant.results is not None:
                return contestant, contestant.who, contestant.results()
        rows = min(_INTERPRETER_ROWS, max(c.evaluations for c in contestants))
        kernel = subject.robot.compile(
            function.name,
            target="interpreter",
            outputs=function.outputs,
            frame=subject.frame if function.about_frame else None,
        )
        states = subject.states(rows)
        found = kernel(*(states[name] for name in function.arguments))
        values = found if len(function.outputs) > 1 else (found,)
        named = zip(function.outputs, values, strict=True)
        return None, "interpreter", {name: np.asarray(value) for name, value in named}


def in_short(error: Exception) -> str:
    """The kind of an error and its first words, for notes."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:120] if lines else ''}"
