"""The cells, written by hand in cells/, one module a file: what the netlist has to know of each.

A test reads the files and compares. Width of a port: a number, a parameter, or what follows from several.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from robomorph.targets.rtl.expressions import count_bits
from robomorph.targets.rtl.netlist import Cell, Width

_CLOCK: dict[str, Width] = {"clk_i": 1}
_CLOCK_ENABLE: dict[str, Width] = {"clk_i": 1, "en_i": 1}
_CLOCK_RESET: dict[str, Width] = {"clk_i": 1, "rst_ni": 1}


def _beat_bits(p: Mapping[str, int]) -> int:
    return count_bits(p["Beats"])


def _address_bits(p: Mapping[str, int]) -> int:
    return (p["Depth"] - 1).bit_length()


def _words_kept(p: Mapping[str, int]) -> int:
    return p["W"] * p["Depth"]


def _all_beats(p: Mapping[str, int]) -> int:
    return p["Beats"] * p["DataW"]


def _float(p: Mapping[str, int]) -> int:
    """A float word: a sign, an exponent and a mantissa."""
    return 1 + p["ExponentW"] + p["MantissaW"]


def _vector(p: Mapping[str, int]) -> int:
    return p["Inner"] + 2


def _rotated(p: Mapping[str, int]) -> int:
    return _vector(p) - p["Drop"]


# Arithmetic.
ROUND = Cell(
    "rm_round", ("InW", "Shift", "OutW", "Rounded"), {"x_i": "InW"}, {"y_o": "OutW", "overflow_o": 1}
)
ADD = Cell(
    "rm_add",
    ("W", "AShift", "BShift", "Subtract", "Drop"),
    {"a_i": "W", "b_i": "W"},
    {"y_o": "W", "overflow_o": 1},
    (ROUND,),
)
ADDER_TREE = Cell(
    "rm_adder_tree",
    ("W", "Terms", "Shifts", "Negative"),
    {"terms_i": lambda p: p["Terms"] * p["W"]},
    {"y_o": lambda p: p["W"] + (p["Shifts"] >> 8 * p["Terms"] - 8) + 1},
)
SCALE = Cell(
    "rm_scale",
    ("W", "Digits", "Shifts", "Negative", "Drop"),
    {"x_i": "W"},
    {"y_o": "W", "overflow_o": 1},
    (ADDER_TREE, ROUND),
)
PRODUCT = Cell("rm_product", ("W",), {"a_i": "W", "b_i": "W"}, {"y_o": lambda p: 2 * p["W"]})
MULTIPLY = Cell(
    "rm_mul",
    ("W", "Drop", "Stages"),
    {**_CLOCK_ENABLE, "a_i": "W", "b_i": "W"},
    {"y_o": "W", "overflow_o": 1},
    (PRODUCT, ROUND),
)
RECIPROCAL_STAGE = Cell(
    "rm_recip_stage",
    ("W", "First", "Last"),
    {
        **_CLOCK_ENABLE,
        "negative_i": 1,
        "lost_i": 1,
        "divisor_i": "W",
        "remainder_i": "W",
        "quotient_i": lambda p: p["W"] + 1,
    },
    {"negative_o": 1, "lost_o": 1, "divisor_o": "W", "remainder_o": "W", "quotient_o": lambda p: p["W"] + 1},
)
RECIPROCAL = Cell(
    "rm_recip",
    ("W", "Exponent", "Stages"),
    {**_CLOCK_ENABLE, "a_i": "W"},
    {"y_o": "W", "overflow_o": 1},
    (RECIPROCAL_STAGE,),
)
ROTATE_STAGE = Cell(
    "rm_rotate_stage",
    ("PhaseW", "Inner", "Angles", "First", "Last"),
    {**_CLOCK_ENABLE, "behind_i": 1, "x_i": _vector, "y_i": _vector, "z_i": "PhaseW"},
    {"behind_o": 1, "x_o": _vector, "y_o": _vector, "z_o": "PhaseW"},
)
ROTATE = Cell(
    "rm_rotate",
    ("W", "PhaseW", "Inner", "ScaleW", "Scale", "Shift", "Start", "Angles", "Stages", "Drop"),
    {**_CLOCK_ENABLE, "angle_i": "W"},
    {"cos_o": _rotated, "sin_o": _rotated},
    (ROTATE_STAGE,),
)
TURN = Cell(
    "rm_turn",
    (
        *("W", "Guard", "AngleW", "PhaseW", "Steps", "Angles", "Digits", "Shifts", "Negative", "Drop"),
        "Stages",
    ),
    {**_CLOCK, "angle_i": "AngleW", "x_i": "W", "y_i": "W"},
    {"x_o": "W", "y_o": "W", "overflow_o": 1},
    (SCALE, ROTATE_STAGE, ROUND),
)
QUARTER = Cell(
    "rm_quarter",
    ("W",),
    {"quarter_i": 2, "y_i": "W", "z_i": "W"},
    {"y_o": "W", "z_o": "W", "overflow_o": 1},
    (ROUND,),
)
FLOAT_TO_FIXED = Cell(
    "rm_float_to_fixed",
    ("Width",),
    {"float_i": 32, "frac_i": 7},
    {"word_o": "Width", "overflow_o": 1},
    (ROUND,),
)
FIXED_TO_FLOAT = Cell("rm_fixed_to_float", ("Width",), {"word_i": "Width", "frac_i": 7}, {"float_o": 32})
_FLOAT = ("MantissaW", "ExponentW")
_TWO_FLOATS: dict[str, Width] = {**_CLOCK, "a_i": _float, "b_i": _float}
FLOAT_MULTIPLY = Cell("rm_float_mul", _FLOAT, _TWO_FLOATS, {"y_o": _float})
FLOAT_ADD = Cell("rm_float_add", _FLOAT, {**_TWO_FLOATS, "subtract_i": 1}, {"y_o": _float})
FLOAT_FROM_INT = Cell("rm_float_from_int", ("InW", *_FLOAT), {**_CLOCK, "x_i": "InW"}, {"y_o": _float})
FLOAT_RECIPROCAL = Cell(
    "rm_float_recip", (*_FLOAT, "Bits"), {**_CLOCK, "load_i": 1, "x_i": _float}, {"y_o": _float}
)
FLOAT_ALIGN = Cell(
    "rm_float_align",
    (*_FLOAT, "OutW", "ShiftW"),
    {**_CLOCK, "words_i": lambda p: 3 * _float(p), "offset_i": lambda p: p["ExponentW"] + 2},
    {"integers_o": lambda p: 3 * p["OutW"], "shift_o": "ShiftW", "zero_o": 1},
)

# What keeps words.
MEMORY = Cell(
    "rm_memory",
    ("W", "Depth"),
    {**_CLOCK, "write_i": 1, "write_addr_i": _address_bits, "data_i": "W", "read_addr_i": _address_bits},
    {"data_o": "W"},
    memory_bits=_words_kept,
)
FIFO = Cell(
    "rm_fifo",
    ("W", "Depth"),
    {**_CLOCK_RESET, "data_i": "W", "valid_i": 1, "ready_i": 1},
    {"ready_o": 1, "data_o": "W", "valid_o": 1},
    (MEMORY,),
    _words_kept,
)

# Control and streams.
CONTROL = Cell(
    "rm_control",
    ("Interval", "Length", "Rounds", "PhaseW", "TurnW"),
    {**_CLOCK_RESET, "full_i": 1, "busy_i": 1, "overflow_i": "Rounds"},
    {
        **{"take_o": 1, "done_o": 1, "en_o": 1, "flag_o": 1},
        **{"phase_o": "PhaseW", "next_phase_o": "PhaseW", "next_turn_o": "TurnW"},
    },
)
STREAM_IN = Cell(
    "rm_stream_in",
    ("DataW", "Beats"),
    {**_CLOCK_RESET, "s_axis_tdata": "DataW", "s_axis_tvalid": 1, "s_axis_tlast": 1, "take_i": 1},
    {"s_axis_tready": 1, "misaligned_o": 1, "full_o": 1, "beat_o": _beat_bits, "data_o": _all_beats},
)
STREAM_OUT = Cell(
    "rm_stream_out",
    ("DataW", "Beats"),
    {**_CLOCK_RESET, "load_i": 1, "data_i": _all_beats, "flag_i": 1, "m_axis_tready": 1},
    {
        **{"busy_o": 1, "beat_o": _beat_bits, "m_axis_tdata": "DataW"},
        **{"m_axis_tvalid": 1, "m_axis_tlast": 1, "m_axis_tuser": 1},
    },
)
DISPATCH = Cell(
    "rm_dispatch",
    ("Ways", "Beats"),
    {**_CLOCK_RESET, "valid_i": 1, "ready_i": "Ways"},
    {"ready_o": 1, "valid_o": "Ways"},
)
COLLECT = Cell(
    "rm_collect",
    ("Ways", "W"),
    {
        **_CLOCK_RESET,
        **{"data_i": lambda p: p["Ways"] * p["W"], "valid_i": "Ways", "last_i": "Ways", "ready_i": 1},
    },
    {"ready_o": "Ways", "data_o": "W", "valid_o": 1, "last_o": 1},
)


# Inverse kinematics.
def _three(name: str) -> Width:
    return lambda p: 3 * p[name]


def _each(name: str, times: int = 1) -> Width:
    """A word for every problem in flight."""
    return lambda p: p["Problems"] * times * p[name]


def _each_bits(bits: int) -> Width:
    return lambda p: p["Problems"] * bits


def _judge_group(p: Mapping[str, int]) -> int:
    return max(1, (p["Units"] // p["Lanes"]).bit_length() - 1)


MEMORY_TWO = Cell(
    "rm_memory_two",
    ("W", "Depth"),
    {
        **{**_CLOCK, "write_i": 1, "write_addr_i": _address_bits, "data_i": "W"},
        **{"first_addr_i": _address_bits, "second_addr_i": _address_bits},
    },
    {"first_o": "W", "second_o": "W"},
    memory_bits=_words_kept,
)
IK_CONTROL = Cell(
    "rm_ik_control",
    ("Problems", "IndexW", "CountW", "SquareW", "StepW", "TipW"),
    {
        **{**_CLOCK_RESET, "loaded_i": 1, "load_at_i": "IndexW"},
        **{"cap_i": _each("CountW"), "threshold_i": _each("SquareW")},
        **{"patience_i": _each_bits(8), "seed_i": _each_bits(16)},
        **{"serial_done_i": 1, "stalled_i": 1, "serial_lost_i": 1, "search_done_i": 1, "search_lost_i": 1},
        **{"step_i": "StepW", "square_i": "SquareW", "tip_i": "TipW", "sent_i": 1, "sent_at_i": "IndexW"},
    },
    {
        **{"empty_o": "Problems", "serial_start_o": 1, "serial_at_o": "IndexW", "serial_last_o": 1},
        **{"search_start_o": 1, "search_at_o": "IndexW", "search_first_o": 1, "search_draw_o": 16},
        **{"ready_o": "Problems", "step_o": _each("StepW"), "square_o": _each("SquareW")},
        **{"tip_o": _each("TipW"), "iterations_o": _each("CountW"), "status_o": _each_bits(2)},
        "flag_o": "Problems",
    },
)
IK_LOAD = Cell(
    "rm_ik_load",
    ("Problems", "IndexW", "Coordinates", "PlaceW", "TargetW", "SquareW", "CountW", "ThetaW", "MostLog"),
    {
        **{**_CLOCK_RESET, "s_axis_tdata": 32, "s_axis_tvalid": 1, "s_axis_tlast": 1},
        **{"empty_i": "Problems", "busy_i": 1},
    },
    {
        **{"s_axis_tready": 1, "misaligned_o": 1, "loaded_o": 1, "at_o": "IndexW", "write_o": 1},
        **{"place_o": "PlaceW", "theta_o": "ThetaW", "target_o": _each("TargetW", 3)},
        **{"threshold_o": _each("SquareW"), "cap_o": _each("CountW"), "patience_o": _each_bits(8)},
        **{"seed_o": _each_bits(16), "relaxed_o": "Problems", "newton_o": "Problems", "log_o": _each_bits(4)},
    },
)
IK_UNLOAD = Cell(
    "rm_ik_unload",
    ("Problems", "IndexW", "Coordinates", "PlaceW", "SquareW", "CountW", "ThetaW"),
    {
        **{**_CLOCK_RESET, "ready_i": "Problems", "status_i": _each_bits(2), "flag_i": "Problems"},
        **{"iterations_i": _each("CountW"), "square_i": _each("SquareW"), "busy_i": 1, "theta_i": "ThetaW"},
        "m_axis_tready": 1,
    },
    {
        **{"place_o": "PlaceW", "at_o": "IndexW", "sent_o": 1, "m_axis_tdata": 32, "m_axis_tvalid": 1},
        **{"m_axis_tlast": 1, "m_axis_tuser": 1, "overflow_o": 1},
    },
)
IK_JOINTS = Cell(
    "rm_ik_joints",
    ("Joints", "JointW", "Gap"),
    {**_CLOCK_RESET, "start_i": 1, "quick_i": 1},
    {"valid_o": 1, "joint_o": "JointW", "final_o": 1},
)
IK_SLOTS = Cell(
    "rm_ik_slots",
    ("Joints", "JointW", "SlotW", "Loop"),
    {**_CLOCK_RESET, "start_i": 1, "count_i": lambda p: p["SlotW"] + 1},
    {"begin_o": 1, "valid_o": 1, "joint_o": "JointW", "slot_o": "SlotW", "outer_o": 1, "inner_o": 1},
)
IK_MOVE = Cell(
    "rm_ik_move",
    ("ThetaW", "DeltaW", "StepW", "Limited"),
    {
        **{**_CLOCK, "theta_i": "ThetaW", "delta_i": "DeltaW", "step_i": "StepW"},
        **{"clamped_i": 1, "lower_i": "ThetaW", "upper_i": "ThetaW"},
    },
    {"theta_o": "ThetaW"},
)
IK_COUPLE = Cell(
    "rm_ik_couple",
    ("W", "RatioW", "Frac", "OutW"),
    {**_CLOCK, "x_i": "W", "ratio_i": "RatioW", "shift_i": "OutW"},
    {"y_o": "OutW"},
)
IK_GATHER = Cell(
    "rm_ik_gather",
    ("W", "RatioW", "Frac", "Coordinates", "PlaceW"),
    {
        **{**_CLOCK, "valid_i": 1, "clear_i": 1, "place_i": "PlaceW"},
        **{"column_i": _three("W"), "ratio_i": "RatioW"},
    },
    {"column_o": _three("W"), "overflow_o": 1},
    (ROUND,),
)
IK_HELD = Cell(
    "rm_ik_held",
    ("W", "ErrorW"),
    {**_CLOCK, "column_i": _three("W"), "error_i": _three("ErrorW"), "low_i": 1, "high_i": 1},
    {"column_o": _three("W")},
)
IK_GRAM = Cell(
    "rm_ik_gram",
    ("W", "SumW"),
    {**_CLOCK_RESET, "clear_i": 1, "valid_i": 1, "column_i": _three("W")},
    {"gram_o": lambda p: 6 * p["SumW"]},
)
IK_STEP = Cell(
    "rm_ik_step",
    ("W", "WeightW", "ShiftW", "DeltaW", "Scaled", "FactorW", "FactorFrac"),
    {
        **{**_CLOCK, "zero_i": 1, "column_i": _three("W"), "weights_i": _three("WeightW")},
        **{"shift_i": "ShiftW", "factor_i": "FactorW"},
    },
    {"delta_o": "DeltaW", "overflow_o": 1},
    (ROUND,),
)
IK_ANGLE = Cell(
    "rm_ik_angle",
    ("W", "OutW", "First", "FirstW", "Stride", "Limited"),
    {
        **{**_CLOCK, "load_i": 1, "theta_i": "W", "step_i": "W"},
        **{"clamped_i": 1, "lower_i": "W", "upper_i": "W"},
    },
    {"tried_o": "OutW"},
)
IK_JUDGE = Cell(
    "rm_ik_judge",
    ("Units", "Lanes", "W", "TargetW", "SquareW", "SlotW", "StepW"),
    {
        **{**_CLOCK_RESET, "start_i": 1, "count_i": "StepW", "target_i": _three("TargetW")},
        **{"threshold_i": "SquareW", "relaxed_i": 1, "draw_i": 8},
        "tips_i": lambda p: 3 * p["W"] * p["Lanes"],
    },
    {
        **{"slot_o": "SlotW", "group_o": _judge_group, "done_o": 1, "step_o": "StepW"},
        **{"square_o": "SquareW", "tip_o": _three("W")},
    },
)
IK_CELLS = (
    *(MEMORY_TWO, IK_CONTROL, IK_LOAD, IK_UNLOAD, IK_JOINTS, IK_SLOTS, IK_MOVE, IK_COUPLE, IK_GATHER),
    *(IK_HELD, IK_GRAM, IK_STEP, IK_ANGLE, IK_JUDGE),
)

CELLS = (
    *(ROUND, ADD, ADDER_TREE, SCALE, PRODUCT, MULTIPLY, RECIPROCAL_STAGE, RECIPROCAL, ROTATE_STAGE, ROTATE),
    *(TURN, QUARTER),
    *(FLOAT_MULTIPLY, FLOAT_ADD, FLOAT_FROM_INT, FLOAT_RECIPROCAL, FLOAT_ALIGN),
    *(FLOAT_TO_FIXED, FIXED_TO_FLOAT, MEMORY, FIFO, CONTROL, STREAM_IN, STREAM_OUT, DISPATCH, COLLECT),
    *IK_CELLS,
)


def cell_text(cell: Cell) -> str:
    """The file of a cell."""
    return (resources.files("robomorph.targets.rtl") / "cells" / f"{cell.name}.sv").read_text()
