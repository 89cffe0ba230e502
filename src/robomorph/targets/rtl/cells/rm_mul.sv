// y = a * b: the exact product, rounded once and saturated. Registers inside on request.
module rm_mul #(
  parameter int unsigned W      = 32,
  parameter int unsigned Drop   = 16,  // fraction bits dropped from the product
  parameter int unsigned Stages = 0    // cycles: 1 keeps the product in a register, 2 the operands too
) (
  input  logic                clk_i,
  input  logic                en_i,
  input  logic signed [W-1:0] a_i,
  input  logic signed [W-1:0] b_i,
  output logic signed [W-1:0] y_o,
  output logic                overflow_o
);
  logic signed [W-1:0]   a, b;
  logic signed [2*W-1:0] made, product;

  if (Stages > 1) begin : gen_operands
    always_ff @(posedge clk_i) begin
      if (en_i) begin
        a <= a_i;
        b <= b_i;
      end
    end
  end else begin : gen_no_operands
    assign a = a_i;
    assign b = b_i;
  end

  rm_product #(
    .W(W)
  ) u_product (
    .a_i(a),
    .b_i(b),
    .y_o(made)
  );

  if (Stages > 0) begin : gen_product
    always_ff @(posedge clk_i) if (en_i) product <= made;
  end else begin : gen_no_product
    logic unused_clock;
    assign unused_clock = clk_i ^ en_i;
    assign product      = made;
  end

  rm_round #(
    .InW  (2 * W),
    .Shift(Drop),
    .OutW (W)
  ) u_round (
    .x_i(product),
    .y_o,
    .overflow_o
  );

`ifndef SYNTHESIS
  initial assert_stages : assert (Stages <= 2);
`endif
endmodule
