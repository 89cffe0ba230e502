// y = 2^Exponent / a, the magnitude rounded to the nearest; the reciprocal of zero saturates upwards.
// A restoring division, pipelined: one operand per cycle, the result Stages (at least 2) cycles later.
module rm_recip #(
  parameter int unsigned W        = 32,
  parameter int unsigned Exponent = 32,  // fraction bits of operand and result together
  parameter int unsigned Stages   = 12
) (
  input  logic                clk_i,
  input  logic                en_i,
  input  logic signed [W-1:0] a_i,
  output logic signed [W-1:0] y_o,
  output logic                overflow_o
);
  // Twice the quotient is computed, so that its lowest bit decides the rounding. The last stage rounds.
  localparam int unsigned Steps   = Exponent + 2;
  localparam int unsigned Working = Stages - 1;
  localparam int unsigned Each    = (Steps + Working - 1) / Working;

  logic [Working:0]           negative, lost;
  logic [(Working+1)*W-1:0]   divisor, remainder;
  logic [(Working+1)*(W+1)-1:0] quotient;

  assign negative[0]       = a_i[W-1];
  assign lost[0]           = 1'b0;
  assign divisor[W-1:0]    = a_i[W-1] ? -a_i : a_i;
  assign remainder[W-1:0]  = '0;
  assign quotient[W:0]     = '0;

  for (genvar k = 0; k < Working; k++) begin : gen_stage
    localparam int unsigned Last = (k + 1) * Each < Steps ? (k + 1) * Each : Steps;
    rm_recip_stage #(
      .W    (W),
      .First(k * Each),
      .Last (Last)
    ) u_stage (
      .clk_i,
      .en_i,
      .negative_i (negative[k]),
      .lost_i     (lost[k]),
      .divisor_i  (divisor[k*W +: W]),
      .remainder_i(remainder[k*W +: W]),
      .quotient_i (quotient[k*(W+1) +: W+1]),
      .negative_o (negative[k+1]),
      .lost_o     (lost[k+1]),
      .divisor_o  (divisor[(k+1)*W +: W]),
      .remainder_o(remainder[(k+1)*W +: W]),
      .quotient_o (quotient[(k+1)*(W+1) +: W+1])
    );
  end

  logic [W:0]          twice, rounded;
  logic                minus, too_big;
  logic signed [W-1:0] value;

  assign twice   = quotient[Working*(W+1) +: W+1];
  assign minus   = negative[Working];
  assign rounded = {1'b0, twice[W:1]} + {{W{1'b0}}, twice[0]};
  // The magnitude 2^(W-1) fits a word only if it is negative.
  assign too_big = lost[Working] || divisor[Working*W +: W] == '0 ||
                   (minus ? rounded > {2'b01, {(W - 1){1'b0}}} : rounded >= {2'b01, {(W - 1){1'b0}}});
  assign value   = too_big ? {minus, {(W - 1){!minus}}} : minus ? -rounded[W-1:0] : rounded[W-1:0];

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      y_o        <= value;
      overflow_o <= too_big;
    end
  end

  logic unused_remainder;
  assign unused_remainder = ^remainder[Working*W +: W];

`ifndef SYNTHESIS
  initial assert_stages : assert (Stages >= 2);
`endif
endmodule
