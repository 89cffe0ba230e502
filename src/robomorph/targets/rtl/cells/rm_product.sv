// The exact product of two signed words. A module of its own, so that synthesis maps it once.
module rm_product #(
  parameter int unsigned W = 32
) (
  input  logic signed [W-1:0]   a_i,
  input  logic signed [W-1:0]   b_i,
  output logic signed [2*W-1:0] y_o
);
  assign y_o = a_i * b_i;
endmodule
