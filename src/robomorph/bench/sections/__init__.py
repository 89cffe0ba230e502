"""All sections, in the order they run. A new one is a file with a Section and one entry here."""

from __future__ import annotations

from robomorph.bench.sections.dynamics.batches import BATCHES
from robomorph.bench.sections.dynamics.chains import CHAINS
from robomorph.bench.sections.dynamics.compile import COMPILE
from robomorph.bench.sections.dynamics.export import EXPORT
from robomorph.bench.sections.dynamics.family import FAMILY_SECTION
from robomorph.bench.sections.dynamics.gradients import GRADIENTS
from robomorph.bench.sections.dynamics.peak import PEAK_SECTION
from robomorph.bench.sections.dynamics.schedule import SCHEDULE_SECTION
from robomorph.bench.sections.dynamics.steps import STEPS
from robomorph.bench.sections.dynamics.threads import THREADS
from robomorph.bench.sections.dynamics.timesteps import TIMESTEPS
from robomorph.bench.sections.section import Section

SECTIONS: dict[str, Section] = {
    s.name: s
    for s in (
        GRADIENTS,
        FAMILY_SECTION,
        STEPS,
        TIMESTEPS,
        THREADS,
        BATCHES,
        PEAK_SECTION,
        SCHEDULE_SECTION,
        COMPILE,
        CHAINS,
        EXPORT,
    )
}
