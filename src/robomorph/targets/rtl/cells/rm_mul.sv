// y = a * b: the exact product, rounded once and saturated.
module rm_mul #(
  parameter int unsigned W    = 32,
  parameter int unsigned Drop = 16  // fraction bits dropped from the product
) (
  input  logic signed [W-1:0] a_i,
  input  logic signed [W-1:0] b_i,
  output logic signed [W-1:0] y_o,
  output logic                overflow_o
);
  logic signed [2*W-1:0] product;

  rm_product #(
    .W(W)
  ) u_product (
    .a_i,
    .b_i,
    .y_o(product)
  );

  rm_round #(
    .InW  (2 * W),
    .Shift(Drop),
    .OutW (W)
  ) u_round (
    .x_i(product),
    .y_o,
    .overflow_o
  );
endmodule
