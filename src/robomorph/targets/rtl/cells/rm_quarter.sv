// Turns (y, z) about x by whole quarters of a turn: words change places and signs. Only the opposite of the most
// negative word saturates.
module rm_quarter #(
  parameter int unsigned W = 18
) (
  input  logic        [1:0]   quarter_i,
  input  logic signed [W-1:0] y_i,
  input  logic signed [W-1:0] z_i,
  output logic signed [W-1:0] y_o,
  output logic signed [W-1:0] z_o,
  output logic                overflow_o
);
  localparam int unsigned WideW = W + 1;

  logic signed [W-1:0]     y, z;
  logic signed [WideW-1:0] wide_y, wide_z;
  logic        [1:0]       lost;

  assign y      = quarter_i[0] ? z_i : y_i;
  assign z      = quarter_i[0] ? y_i : z_i;
  assign wide_y = quarter_i[0] != quarter_i[1] ? -(WideW'(y)) : WideW'(y);
  assign wide_z = quarter_i[1] ? -(WideW'(z)) : WideW'(z);

  rm_round #(
    .InW  (WideW),
    .Shift(0),
    .OutW (W)
  ) u_round_y (
    .x_i       (wide_y),
    .y_o,
    .overflow_o(lost[0])
  );
  rm_round #(
    .InW  (WideW),
    .Shift(0),
    .OutW (W)
  ) u_round_z (
    .x_i       (wide_z),
    .y_o       (z_o),
    .overflow_o(lost[1])
  );
  assign overflow_o = |lost;
endmodule
