"""When everything happens on the chip: schedules of the two sweeps, the cycles between stages, and the
formula for an iteration, which simulation must meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from robomorph.errors import TargetError
from robomorph.targets.rtl.ik.definition import weight_spec
from robomorph.targets.rtl.ik.plan import IkPlan
from robomorph.targets.rtl.ik.plan_weights import latency
from robomorph.targets.rtl.ik.weights import NEWTON, QUICK, WeightSpec
from robomorph.targets.rtl.schedule import Knobs, Schedule
from robomorph.targets.rtl.scheduler import make_schedule

_AXES_AND_ORIGIN = 12  # results of the columns that the next joint needs
_LEAST_GAP, _MOST_GAP = 4, 24  # cycles between joints in the serial unit; M takes three of them
_ANY = 1_000  # cycles: more than any schedule here has


@dataclass(frozen=True)
class Timing:
    """Cycles of a chip's stages. Those of the serial pass count from the cycle that begins a joint there,
    those of a search from the one that begins the joint's first speculation."""

    plan: IkPlan

    @property
    def spec(self) -> WeightSpec:
        return weight_spec(self.plan)

    # --- the serial pass ----------------------------------------------------------------------------------

    @cached_property
    def columns(self) -> Schedule:
        """Of one joint in the serial unit; its interval is the time between joints."""
        chosen = self.plan.knobs.fold
        for gap in [chosen] if chosen else range(_LEAST_GAP, _MOST_GAP):
            try:
                return self._folded(gap)
            except TargetError:
                if chosen:
                    raise
        raise TargetError(f"rtl: {self.plan.name}: no loop of the serial unit closes in {_MOST_GAP} cycles")

    def _folded(self, gap: int) -> Schedule:
        k, fixed = self.plan.knobs, self.plan.columns
        knobs = Knobs(
            interval=gap, period=k.period, multiply_stages=k.multiply_stages, latency=_ANY, memories=False
        )
        made = make_schedule(fixed, knobs, loop=fixed.program.results[:_AXES_AND_ORIGIN])
        return _early(made)

    @property
    def gap(self) -> int:
        """L: cycles a joint takes in the serial unit."""
        return self.columns.knobs.interval

    @property
    def own(self) -> int:
        """A joint's own angle is known."""
        return 6 if self.plan.coupled else 4

    @property
    def serial_core(self) -> int:
        """Its sine and cosine are."""
        return self.own + self.plan.knobs.rotate_stages + 1

    def born(self, result: int) -> int:
        """When a result of the columns is born, after the core has begun."""
        return self.columns.birth[self.plan.columns.program.results[result]]

    @property
    def column(self) -> int:
        """All words of the column stand in registers."""
        last = 1 + max(self.born(_AXES_AND_ORIGIN + a) for a in range(3))
        return self.serial_core + (max(last, self.gap + 1) if self.plan.sliding else last)

    @property
    def spread(self) -> int:
        """Cycles between the first and the last word of a column."""
        births = [self.born(_AXES_AND_ORIGIN + a) for a in range(3)]
        return max(births) - min(births)

    @property
    def direct(self) -> bool:
        """Is the column held long enough as it is?"""
        plain = not (self.plan.coupled or self.plan.limited or self.plan.sliding)
        return plain and self.gap >= 3 + self.spread

    @property
    def gram(self) -> int:
        """The column is added to M."""
        more = 3 * self.plan.coupled + 3 * self.plan.limited
        return self.column + more + (0 if self.direct else 1)

    @property
    def serial(self) -> int:
        """From the start of a pass to the start of the w unit."""
        return (self.plan.joints - 1) * self.gap + self.gram + 4

    def weights(self, newton: bool) -> int:
        return latency(self.spec, NEWTON if newton else QUICK)

    @property
    def last_pass(self) -> int:
        """From the start of the pass that only moves the angles to its end."""
        return self.plan.joints - 1 + 4

    # --- the search ---------------------------------------------------------------------------------------

    @cached_property
    def reach(self) -> Schedule:
        """Of one joint in a search unit, which begins one a cycle."""
        k = self.plan.knobs
        knobs = Knobs(interval=1, period=k.period, multiply_stages=k.multiply_stages, memories=False)
        return _early(make_schedule(self.plan.reach, knobs))

    @property
    def loop(self) -> int:
        """Cycles from a position to the next joint's."""
        return self.moved - self.unit_core + self.reach.length

    @property
    def step(self) -> int:
        """The step of the joint's coordinate is known."""
        return 7 if self.plan.sliding else 5

    @property
    def own_step(self) -> int:
        """And the joint's own."""
        return self.step + (2 if self.plan.coupled else 0)

    @property
    def tried(self) -> int:
        """The first angle that a unit tries is."""
        return self.own_step + 2 + self.plan.limited

    @property
    def unit_core(self) -> int:
        """Its sine and cosine are, unless CORDIC turns positions itself, and the position's turn begins."""
        return self.tried + (0 if self.plan.cordic else self.plan.knobs.rotate_stages + 1)

    @property
    def moved(self) -> int:
        """What the template does begins: the turn too, unless CORDIC has done it."""
        return self.unit_core + (self.plan.knobs.rotate_stages if self.plan.cordic else 0)

    def slots(self, speculations: int) -> int:
        """Cycles a joint takes in a search."""
        return max(speculations // self.plan.knobs.units, self.loop)

    def search(self, speculations: int, relaxed: bool = False) -> int:
        """From the start of a search to its end."""
        k = self.plan.knobs
        inside = (self.plan.joints - 1) * self.slots(speculations) + self.unit_core + self.loop
        groups = max(speculations, k.units) // k.judged
        levels = k.judged.bit_length() - 1
        return inside + groups - 1 + 4 + levels + 3 + (3 if relaxed else 0)

    # --- the whole ----------------------------------------------------------------------------------------

    def iteration(self, speculations: int, *, newton: bool = False, relaxed: bool = False) -> int:
        """Cycles of one iteration: N (L + K / F) and a constant."""
        return self.serial + self.weights(newton) + 1 + self.search(speculations, relaxed) + 2

    def solve(
        self, iterations: int, speculations: int, *, newton: bool = False, relaxed: bool = False
    ) -> int:
        """From the cycle that accepts a problem's last word to the one that offers its result, if no other
        problem is in flight and it does not stall."""
        first = 1 + self.search(1, relaxed) + 2
        each = self.iteration(speculations, newton=newton, relaxed=relaxed)
        return first + iterations * each + self.last_pass + 2


def _early(schedule: Schedule) -> Schedule:
    """Results in their cycles of birth, and a flag that travels with every call."""
    return replace(schedule, early=True)
