"""A small chip: inverse dynamics of three joints as SystemVerilog, simulated, and equal to the bit.

Without Verilator (or a C++ compiler for what it makes) it says what is missing.
"""

import numpy as np

import robomorph

robot = robomorph.load("chain:3")
q, qd = robot.random_state(rng=0, batch=64)
qdd = np.zeros_like(q)

chip = robot.compile("inverse_dynamics", target="rtl", format="Q16.16", interval=8)
design = chip.accelerator.design.stats
print(
    f"{design.multipliers} multipliers for {design.multiplications} products, {design.flip_flops} flip-flops"
)
print(f"a state every {design.interval} cycles, its first result after {design.latency}")
print(f"{len(chip.source.code.splitlines())} lines of SystemVerilog")

try:
    torques = chip(q, qd, qdd)  # Verilator compiles the chip and runs it, cycle by cycle
except robomorph.TargetError as missing:
    print("not simulated:", missing)
else:
    same = robot.compile("inverse_dynamics", target="fixed", format="Q16.16")(q, qd, qdd)
    exact = robot.inverse_dynamics(q, qd, qdd)
    print("the same bits as 32-bit fixed point on the CPU:", np.array_equal(torques, same))
    print(f"rounding costs {np.abs(torques - exact).max():.0e} of {np.abs(exact).max():.1f} N m")
    assert np.array_equal(torques, same)
