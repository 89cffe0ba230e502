"""The hardware target: a fixed-point program as SystemVerilog, simulated by Verilator, measured by Yosys."""
