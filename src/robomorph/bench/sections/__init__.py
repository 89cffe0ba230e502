"""All sections, in the order they run. A new one is a file with a Section and one entry here."""

from __future__ import annotations

from robomorph.bench.sections.batches import BATCHES
from robomorph.bench.sections.chains import CHAINS
from robomorph.bench.sections.compile import COMPILE
from robomorph.bench.sections.export import EXPORT
from robomorph.bench.sections.family import FAMILY_SECTION
from robomorph.bench.sections.gradients import GRADIENTS
from robomorph.bench.sections.peak import PEAK_SECTION
from robomorph.bench.sections.schedule import SCHEDULE_SECTION
from robomorph.bench.sections.section import Section
from robomorph.bench.sections.steps import STEPS
from robomorph.bench.sections.threads import THREADS
from robomorph.bench.sections.timesteps import TIMESTEPS

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
