"""What the papers print, chapter by chapter, in SI units: always shown as theirs, of their machines."""

from __future__ import annotations

from typing import Any

from robomorph.report.papers import ANCHOR, KEPT_BY_PAPERS, PAPERS_CHIP

GRADIENTS = "Plancher, Neuman et al., Accelerating Robot Dynamics Gradients on a CPU, GPU, and FPGA"
ROBOMORPHIC = "Neuman et al., Robomorphic Computing"
QUICK_IK = "Lian et al., Dadu: Accelerating Inverse Kinematics for High-DOF Robots"
PLANNING = "Chretien, Escande, Kheddar, GPU Robot Motion Planning using Semi-Infinite Nonlinear Programming"

SPARSITY: dict[str, Any] = {
    "paper": ROBOMORPHIC,
    "populated": 13,
    "fewer_multipliers": 0.64,
    "fewer_adders": 0.77,
    "kept_by_superposed": KEPT_BY_PAPERS,
}
# Qualities that the paper gives the algorithm's features on each platform (its Table I).
FEATURES: dict[str, Any] = {
    "paper": GRADIENTS,
    "rows": [
        {"feature": feature, "cpu": cpu, "gpu": gpu, "fpga": fpga}
        for feature, cpu, gpu, fpga in (
            ("coarse-grained parallelism", "moderate", "excellent", "moderate"),
            ("fine-grained parallelism", "poor", "moderate", "excellent"),
            ("structured sparsity", "good", "moderate", "excellent"),
            ("irregular data patterns", "moderate", "poor", "excellent"),
            ("sequential dependencies", "good", "poor", "good"),
            ("small working set size", "good", "moderate", "excellent"),
            ("I/O overhead", "excellent", "poor", "poor"),
        )
    ],
}
STEPS: dict[str, Any] = {
    "paper": GRADIENTS,
    "claims": [
        {"what": "its CPU code over the state of the art, one computation", "ratio": 1.5},
        {"what": "its GPU code over earlier GPU code, one computation", "ratio": 6.4},
        {"what": "its GPU code over earlier GPU code, in the step dc'/du", "ratio": 9.2},
        {"what": "its FPGA over its CPU, one computation", "ratio": 5.6},
        {"what": "its FPGA over its GPU, one computation", "ratio": 13.8},
        {"what": "robomorphic computing: FPGA over CPU, one computation", "ratio": 8.0},
        {"what": "robomorphic computing: FPGA over GPU, one computation", "ratio": 86.0},
    ],
}
BATCHES: dict[str, Any] = {
    "paper": GRADIENTS,
    "counts": [16, 128],
    "claims": [
        {"what": "persistent threads over launching them", "from": 1.9, "to": None},
        {
            "what": "its GPU, all fused, over its CPU, fewest to most time steps",
            "from": 1.2,
            "to": 3.0,
        },
        {"what": "its FPGA over its CPU, fewest to most time steps", "from": 1.9, "to": 1.6},
    ],
}
GPU: dict[str, Any] = {
    "paper": GRADIENTS,
    "claims": [
        {"what": "completely fused over split, sixteen time steps", "ratio": 1.9},
        {"what": "completely fused over split, a hundred and twenty-eight time steps", "ratio": 2.8},
    ],
}
CHIP: dict[str, Any] = {
    "paper": ROBOMORPHIC,
    "clock_hz": 55.6e6,
    "dsp_blocks": 5301,
    "dsp_blocks_there_are": 6840,
    "dsp_share": 0.775,
    "anchor": {
        "name": ANCHOR.name,
        "latency": ANCHOR.latency,
        "interval": ANCHOR.interval,
        "multipliers": ANCHOR.multipliers,
        "constant_multipliers": ANCHOR.constant_multipliers,
        "adders": ANCHOR.adders,
        "flip_flops": ANCHOR.flip_flops,
    },
}
FORMATS: dict[str, Any] = {
    "paper": f"{GRADIENTS}; {ROBOMORPHIC}",
    "design": {"format": "Q16.16", "bits": 32},
    "sufficed": [{"format": "Q14.6", "bits": 20}, {"format": "Q12.5", "bits": 17}],
}
AREA: dict[str, Any] = {
    "paper": ROBOMORPHIC,
    "name": PAPERS_CHIP.name,
    "area_m2": [x * 1e-6 for x in PAPERS_CHIP.area_mm2],
    "power_w": list(PAPERS_CHIP.power_w),
    "clock_hz": [x * 1e6 for x in PAPERS_CHIP.clock_mhz],
    "fpga_power_w": 9.572,
    "faster_than_fpga": [4.5, 7.2],
}
COPROCESSOR: dict[str, Any] = {
    "paper": ROBOMORPHIC,
    "steps": [10, 128],
    "over_cpu": [2.2, 2.9],
    "over_gpu": [1.9, 5.5],
}
RATES: dict[str, Any] = {
    "paper": ROBOMORPHIC,
    "lines_hz": [250.0, 1000.0],
    "iterations": 10,
    "steps_at_first_line": {"CPU": 80, "FPGA": 100, "chip": 115},
}
SCENARIOS: dict[str, Any] = {
    "paper": PLANNING,
    "robot": "HRP-2, 28 joints",
    "rows": {
        "squat": {
            "variables": 196,
            "constraints": 1224,
            "nonzeros": 11424,
            "total_s": {"single": 0.312, "double": 0.426},
            "iteration_s": {"single": 0.024, "double": 0.030},
        },
        "feet": {
            "variables": 196,
            "constraints": 1524,
            "nonzeros": 34944,
            "total_s": {"single": 0.392, "double": 0.496},
            "iteration_s": {"single": 0.033, "double": 0.041},
        },
        "kick": {
            "variables": 336,
            "constraints": 1960,
            "nonzeros": 30688,
            "total_s": {"single": 0.680, "double": 0.766},
            "iteration_s": {"single": 0.036, "double": 0.048},
        },
    },
    "iteration_of_their_cpu_s": {"one thread": 2.235, "twelve threads": 0.479, "GPU": 0.036},
}
