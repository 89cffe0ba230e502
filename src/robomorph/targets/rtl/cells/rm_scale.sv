// y = x * factor, a constant given by its signed digits: shifted copies of x, added and subtracted.
module rm_scale #(
  parameter int unsigned         W        = 32,
  parameter int unsigned         Digits   = 1,
  parameter logic [8*Digits-1:0] Shifts   = '0,  // places of the digits, eight bits each, ascending
  parameter logic [Digits-1:0]   Negative = '0,  // digits that are -1; the others are 1
  parameter int unsigned         Drop     = 0    // fraction bits dropped from the product
) (
  input  logic signed [W-1:0] x_i,
  output logic signed [W-1:0] y_o,
  output logic                overflow_o
);
  localparam int unsigned ProductW = W + 32'(Shifts[8*Digits-8+:8]) + 1;

  logic        [Digits*W-1:0] copies;
  logic signed [ProductW-1:0] product;

  assign copies = {Digits{x_i}};

  rm_adder_tree #(
    .W       (W),
    .Terms   (Digits),
    .Shifts  (Shifts),
    .Negative(Negative)
  ) u_tree (
    .terms_i(copies),
    .y_o    (product)
  );

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
