// y = a + b or a - b: operands aligned exactly, the sum rounded once and saturated.
module rm_add #(
  parameter int unsigned W        = 32,   // word width of operands and result
  parameter int unsigned AShift   = 0,    // left shifts that align the operands
  parameter int unsigned BShift   = 0,
  parameter bit          Subtract = 1'b0,
  parameter int unsigned Drop     = 0     // fraction bits dropped from the sum
) (
  input  logic signed [W-1:0] a_i,
  input  logic signed [W-1:0] b_i,
  output logic signed [W-1:0] y_o,
  output logic                overflow_o
);
  localparam int unsigned Most = AShift > BShift ? AShift : BShift;
  localparam int unsigned SumW = W + Most + 1;
  // Half of the result's last place, which rounds, costs nothing where an operand has zeros in its place.
  localparam bit HalfInA = Drop > 0 && AShift >= Drop;
  localparam bit HalfInB = Drop > 0 && BShift >= Drop && !Subtract && !HalfInA;
  localparam logic [SumW-1:0] Half = SumW'(1) << (Drop > 0 ? Drop - 1 : 0);

  logic signed [SumW-1:0] a, b, sum;

  assign a   = (SumW'(a_i) <<< AShift) | (HalfInA ? $signed(Half) : '0);
  assign b   = (SumW'(b_i) <<< BShift) | (HalfInB ? $signed(Half) : '0);
  assign sum = Subtract ? a - b : a + b;

  rm_round #(
    .InW    (SumW),
    .Shift  (Drop),
    .OutW   (W),
    .Rounded(HalfInA || HalfInB)
  ) u_round (
    .x_i(sum),
    .y_o,
    .overflow_o
  );
endmodule
