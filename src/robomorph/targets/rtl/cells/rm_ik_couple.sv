// A joint that follows a coordinate: ratio * x, rounded, plus a shift. Two cycles; the shift is wanted in the
// second.
module rm_ik_couple #(
  parameter int unsigned W      = 25,
  parameter int unsigned RatioW = 26,
  parameter int unsigned Frac   = 22,  // fraction bits of the ratio
  parameter int unsigned OutW   = 29
) (
  input  logic                     clk_i,
  input  logic signed [W-1:0]      x_i,
  input  logic signed [RatioW-1:0] ratio_i,
  input  logic signed [OutW-1:0]   shift_i,
  output logic signed [OutW-1:0]   y_o
);
  localparam int unsigned ProductW = W + RatioW;

  logic signed [ProductW-1:0]    product_q;
  logic signed [ProductW-Frac:0] rounded;

  assign rounded = (ProductW - Frac + 1)'($signed(product_q[ProductW-1:Frac]))
                 + $signed((ProductW - Frac + 1)'({1'b0, product_q[Frac-1]}));

  always_ff @(posedge clk_i) begin
    product_q <= x_i * ratio_i;
    y_o       <= OutW'(rounded) + shift_i;
  end
  logic unused_dropped;
  assign unused_dropped = ^product_q[Frac-2:0];
endmodule
