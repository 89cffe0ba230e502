// Turns (x, y) by an angle, a fraction of a turn, by CORDIC: one vector a cycle, the result Stages (at least 2)
// cycles later. The constants come from the generator (see robomorph.targets.rtl.ik.turning, which defines every
// bit). A bit more than a word's on top holds any vector while it is turned, Guard more below round well.
module rm_turn #(
  parameter int unsigned             W        = 18,
  parameter int unsigned             Guard    = 3,
  parameter int unsigned             AngleW   = 18,
  parameter int unsigned             PhaseW   = 21,  // bits of a turn
  parameter int unsigned             Steps    = 10,
  parameter logic [Steps*PhaseW-1:0] Angles   = '0,  // arctangents of 2^-i, the first lowest
  parameter int unsigned             Digits   = 1,   // of 1 / gain
  parameter logic [8*Digits-1:0]     Shifts   = '0,
  parameter logic [Digits-1:0]       Negative = '0,
  parameter int unsigned             Drop     = 0,   // fraction bits of 1 / gain
  parameter int unsigned             Stages   = 7
) (
  input  logic                     clk_i,
  input  logic signed [AngleW-1:0] angle_i,
  input  logic signed [W-1:0]      x_i,
  input  logic signed [W-1:0]      y_i,
  output logic signed [W-1:0]      x_o,
  output logic signed [W-1:0]      y_o,
  output logic                     overflow_o
);
  localparam int unsigned Working = Stages - 1;
  localparam int unsigned VectorW = W + Guard + 1;
  localparam int unsigned Inner   = VectorW - 2;
  localparam logic [Inner*PhaseW-1:0] StageAngles = (Inner * PhaseW)'(Angles);

  logic        [Working:0]               behind;  // in the half turn behind: both results change sign
  logic signed [(Working+1)*VectorW-1:0] x, y;
  logic signed [(Working+1)*PhaseW-1:0]  z;
  logic                                  far_side;
  logic signed [VectorW-1:0]             wide_x, wide_y, scaled_x, scaled_y;
  logic        [1:0]                     unused_flags;  // a factor below one never overflows

  assign far_side = angle_i[AngleW-1] != angle_i[AngleW-2];
  assign wide_x   = VectorW'(x_i) <<< Guard;
  assign wide_y   = VectorW'(y_i) <<< Guard;

  // The steps make a vector longer by their gain: it is made shorter before them.
  rm_scale #(
    .W       (VectorW),
    .Digits  (Digits),
    .Shifts  (Shifts),
    .Negative(Negative),
    .Drop    (Drop)
  ) u_scale_x (
    .x_i       (wide_x),
    .y_o       (scaled_x),
    .overflow_o(unused_flags[0])
  );
  rm_scale #(
    .W       (VectorW),
    .Digits  (Digits),
    .Shifts  (Shifts),
    .Negative(Negative),
    .Drop    (Drop)
  ) u_scale_y (
    .x_i       (wide_y),
    .y_o       (scaled_y),
    .overflow_o(unused_flags[1])
  );

  always_ff @(posedge clk_i) begin
    behind[0]      <= far_side;
    x[VectorW-1:0] <= scaled_x;
    y[VectorW-1:0] <= scaled_y;
    z[PhaseW-1:0]  <= PhaseW'({angle_i[AngleW-1] ^ far_side, angle_i[AngleW-2:0]}) << (PhaseW - AngleW);
  end

  // Steps spread evenly; the first stage has one at least.
  for (genvar k = 0; k < Working; k++) begin : gen_stage
    rm_rotate_stage #(
      .PhaseW(PhaseW),
      .Inner (Inner),
      .Angles(StageAngles),
      .First ((k * Steps + Working - 1) / Working),
      .Last  (((k + 1) * Steps + Working - 1) / Working)
    ) u_stage (
      .clk_i,
      .en_i    (1'b1),
      .behind_i(behind[k]),
      .x_i     (x[k*VectorW +: VectorW]),
      .y_i     (y[k*VectorW +: VectorW]),
      .z_i     (z[k*PhaseW +: PhaseW]),
      .behind_o(behind[k+1]),
      .x_o     (x[(k+1)*VectorW +: VectorW]),
      .y_o     (y[(k+1)*VectorW +: VectorW]),
      .z_o     (z[(k+1)*PhaseW +: PhaseW])
    );
  end
  logic unused_angle;
  assign unused_angle = ^z[Working*PhaseW +: PhaseW];

  logic signed [VectorW-1:0] last_x, last_y;
  logic        [1:0]         lost;
  assign last_x = behind[Working] ? -x[Working*VectorW +: VectorW] : x[Working*VectorW +: VectorW];
  assign last_y = behind[Working] ? -y[Working*VectorW +: VectorW] : y[Working*VectorW +: VectorW];

  rm_round #(
    .InW  (VectorW),
    .Shift(Guard),
    .OutW (W)
  ) u_round_x (
    .x_i       (last_x),
    .y_o       (x_o),
    .overflow_o(lost[0])
  );
  rm_round #(
    .InW  (VectorW),
    .Shift(Guard),
    .OutW (W)
  ) u_round_y (
    .x_i       (last_y),
    .y_o       (y_o),
    .overflow_o(lost[1])
  );
  assign overflow_o = |lost;

`ifndef SYNTHESIS
  initial assert_stages : assert (Stages >= 2);
  initial assert_steps : assert (Steps <= Inner);
`endif
endmodule
