// y = x * factor, a constant given by its signed digits: shifted copies of x, added and subtracted.
module rm_scale #(
  parameter int unsigned        W       = 32,
  parameter int unsigned        FactorW = 21,  // width of the factor's magnitude
  parameter logic [FactorW:0]   Plus    = '0,  // digits that are 1
  parameter logic [FactorW:0]   Minus   = '0,  // digits that are -1
  parameter int unsigned        Drop    = 0    // fraction bits dropped from the product
) (
  input  logic signed [W-1:0] x_i,
  output logic signed [W-1:0] y_o,
  output logic                overflow_o
);
  localparam int unsigned ProductW = W + FactorW + 1;

  logic signed [ProductW-1:0] x, product;

  assign x = ProductW'(x_i);
  always_comb begin
    product = '0;
    for (int unsigned k = 0; k <= FactorW; k++) begin
      if (Plus[k]) product = product + (x <<< k);
      if (Minus[k]) product = product - (x <<< k);
    end
  end

  rm_round #(
    .InW  (ProductW),
    .Shift(Drop),
    .OutW (W)
  ) u_round (
    .x_i(product),
    .y_o,
    .overflow_o
  );
endmodule
