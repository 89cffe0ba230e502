"""The three partitionings of the gradient: compiled for GPUs that need not be here, and run on PoCL."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.measuring import relative_error, time_calls
from robomorph.bench.ours import make_kernel
from robomorph.bench.sections.dynamics.timesteps import COUNTS
from robomorph.bench.subject import Subject
from robomorph.compiler.partition import PARTITIONINGS
from robomorph.evidence import papers
from robomorph.evidence.charts import Series, curves, figure_panels, panel
from robomorph.evidence.context import Context
from robomorph.evidence.parts import (
    COMPUTED,
    ESTIMATED,
    MEASURED,
    PUBLISHED,
    Exhibit,
    Part,
    Table,
    absent_parts,
    sentence,
)
from robomorph.evidence.tools import cuda_compiler, cuda_device, opencl_device, quick_only
from robomorph.evidence.view import UNITS, Html, View, join, number, words
from robomorph.report.gpu_kernels import OUTPUTS, gpu_report, kernel_data
from robomorph.targets.gpu.cuda.architectures import ARCHITECTURES
from robomorph.targets.gpu.kernel import MAPPINGS

_DTYPE = "float32"
_CALLS = 20
_US = UNITS["us"]


def run(context: Context) -> dict[str, Any]:
    lack, (device, no_device) = cuda_compiler(), opencl_device()
    absent = [one.data() for one in (lack, no_device, cuda_device()) if one is not None]
    compiled: list[dict[str, Any]] = []
    ran: list[dict[str, Any]] = []
    for source in context.sources:
        subject = Subject(source)
        if lack is None:
            compiled.append({"robot": subject.robot.name, **_compiled(context, subject, not compiled)})
        if device is not None and not (context.quick and ran):
            ran.append({"robot": subject.robot.name, "rows": _runs(context, subject)})
    if context.quick and len(compiled) > 1:
        absent.append(quick_only("Other robots, one thread to an evaluation", "only groups here").data())
    if device is not None and len(ran) < len(context.sources):
        absent.append(quick_only("Other robots on OpenCL", "a quick run has the first").data())
    names = " ".join(context.sources)
    return {
        "dtype": _DTYPE,
        "compiled": compiled,
        "device": device,
        "ran": ran,
        "absent": absent,
        "papers": papers.GPU,
        "commands": {
            "compiled": f"robomorph gpu-report {context.sources[0]}",
            "ran": f"robomorph report {names} --only gpu",
        },
    }


def _compiled(context: Context, subject: Subject, first: bool) -> dict[str, Any]:
    """In a quick run for the newest architecture alone, and after the first robot without the long straight
    code of single threads."""
    chosen = ARCHITECTURES[-1:] if context.quick else ARCHITECTURES
    reports, missing = gpu_report(
        subject.robot,
        dtype=_DTYPE,
        architectures=chosen,
        mappings=MAPPINGS if first or not context.quick else ("group",),
        progress=lambda name: context.tell(f"{subject.name}, NVRTC: {name}"),
    )
    return {"kernels": [kernel_data(one) for one in reports], "missing": [vars(one) for one in missing]}


def _runs(context: Context, subject: Subject) -> list[dict[str, Any]]:
    """Seconds of all N, and errors against the CPU's kernel."""
    kernels = {
        name: subject.robot.compile(
            FORWARD_DYNAMICS_GRADIENT.name,
            target="opencl",
            dtype=_DTYPE,
            outputs=OUTPUTS,
            partitioning=name,
        )
        for name in PARTITIONINGS
    }
    exact = make_kernel(subject, FORWARD_DYNAMICS_GRADIENT)
    rows = []
    for count in COUNTS[:: 3 if context.quick else 1]:
        states = subject.states(count)
        arguments = [states[name] for name in FORWARD_DYNAMICS_GRADIENT.arguments]
        single = [a.astype(_DTYPE) for a in arguments]
        true = dict(zip(FORWARD_DYNAMICS_GRADIENT.outputs, exact(*arguments), strict=True))
        row: dict[str, Any] = {"count": count}
        for name, kernel in kernels.items():
            context.tell(f"{subject.name}, PoCL: {name}, N = {count}")
            found = dict(zip(OUTPUTS, kernel(*single), strict=True))
            values = {key: np.asarray(value, np.float64) for key, value in found.items()}
            timing = time_calls(partial(kernel, *single), _CALLS)
            row[name] = {"seconds": timing.median_ns * 1e-9, "error": relative_error(values, true)}
        row["completely_fused_over_split"] = row["split"]["seconds"] / row["completely_fused"]["seconds"]
        rows.append(row)
    return rows


# --- shown ---------------------------------------------------------------------------------------------


def draw(data: View) -> list[Part]:
    commands = data["commands"]
    parts: list[Part] = [
        sentence(
            "Split: the host has motions and forces, the device the gradient of inverse dynamics, the host "
            "multiplies. Fused: motions and forces on the device too. Completely fused: everything. A group "
            "of threads, or one thread, works on an evaluation. Nothing here was run on a GPU, and nothing "
            "is claimed of one."
        ),
        *absent_parts(data),
    ]
    if data["compiled"]:
        parts.append(
            Exhibit(
                "Compiled for GPUs",
                (COMPUTED, ESTIMATED),
                _kernels(data),
                commands["compiled"],
                "per evaluation, in the precision named above the table. Registers and spills are the "
                "assembler's, occupancy follows from them; the rate is what peak rates allow at most, with "
                "data on the device: an estimate, and no measurement.",
            )
        )
    if data["ran"]:
        parts.append(
            Exhibit(
                "Run on OpenCL",
                (MEASURED,),
                _ran(data),
                commands["ran"],
                "us for all N, median, data there and back; the device is named: PoCL is the CPU itself. "
                "Errors: against the CPU's kernel in float64, relative to the largest entry.",
            )
        )
    parts.append(Exhibit("What the papers print", (PUBLISHED,), _claims(data), data["papers"]["paper"]))
    return parts


def _kernels(data: View) -> Html:
    rows = []
    for robot in data["compiled"]:
        for kernel in robot["kernels"]:
            compiled = kernel["compiled"][-1] if kernel["compiled"] else None
            roof = kernel["roofline_estimates"][-1] if kernel["roofline_estimates"] else None
            registers = ("registers", "spill_store_bytes", "code_bytes")
            rows.append(
                (
                    words(robot["robot"]),
                    join(words(kernel["partitioning"]), ", ", words(kernel["mapping"])),
                    *(number(kernel[k], "whole") for k in ("threads_per_evaluation", "barriers", "flops")),
                    join(number(kernel["bytes_in"], "whole"), " / ", number(kernel["bytes_out"], "whole")),
                    words(compiled and compiled["architecture"]),
                    *(number(compiled and compiled[k], "whole") for k in registers),
                    number(compiled and compiled["occupancy"], "percent"),
                    number(roof and roof["resident_evaluations_per_second_at_most"], "whole", 1e-6),
                )
            )
    columns = (
        *("robot", "partitioning, mapping", "threads", "barriers", "operations", "bytes in / out"),
        *("compiled for", "registers", "spilt bytes", "code bytes", "occupancy", "million/s at most"),
    )
    return join(words(data["dtype"]), Table(columns, rows, left=2).html())


def _ran(data: View) -> Html:
    rows, panels = [], []
    for robot in data["ran"]:
        for row in robot["rows"]:
            times = [number(row[name]["seconds"], "sig3", _US) for name in PARTITIONINGS]
            errors = [number(row[name]["error"], "power") for name in PARTITIONINGS]
            ratio = number(row["completely_fused_over_split"], "times")
            rows.append((words(robot["robot"]), number(row["count"], "plain"), *times, ratio, *errors))
        series = [
            Series(name.replace("_", " "), [(row["count"], row[name]["seconds"]) for row in robot["rows"]], k)
            for k, name in enumerate(PARTITIONINGS)
        ]
        about = f"microseconds for N gradients of {robot['robot'].value} on PoCL"
        drawn = curves(about, series, x_label="N", y_label="us", log="xy", scales=(1.0, _US))
        panels.append(panel(robot["robot"].value, drawn))
    names = [name.replace("_", " ") for name in PARTITIONINGS]
    columns = ("robot", "N", *names, "completely fused over split", *(f"error, {name}" for name in names))
    device = join("Device: ", words(data["device"]), ", ", words(data["dtype"]))
    return join(device, figure_panels(*panels), Table(columns, rows).html())


def _claims(data: View) -> Html:
    rows = [(words(c["what"]), number(c["ratio"], "ratio")) for c in data["papers"]["claims"]]
    return Table(("claim", "ratio"), rows, theirs=frozenset(range(len(rows)))).html()
