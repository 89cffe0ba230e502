// y = a * b of float words: the exact product, rounded once, halves up. The result comes a cycle after the operands.
// A word is {sign, exponent, mantissa}, the mantissa's highest bit set; zero is {0, lowest exponent, 0}.
module rm_float_mul #(
  parameter int unsigned MantissaW = 32,
  parameter int unsigned ExponentW = 10,
  localparam int unsigned W = 1 + ExponentW + MantissaW
) (
  input  logic         clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  output logic [W-1:0] y_o
);
  localparam int unsigned P    = MantissaW;
  localparam int unsigned Half = P / 2;

  // Two products of a whole mantissa and half of the other.
  logic [P-1:0]         a, b;
  logic [P+Half-1:0]    low_q;
  logic [2*P-Half-1:0]  high_q;
  logic [ExponentW-1:0] exponent_q;
  logic                 negative_q, zero_q;

  assign a = a_i[P-1:0];
  assign b = b_i[P-1:0];

  always_ff @(posedge clk_i) begin
    low_q      <= (P + Half)'(a) * (P + Half)'(b[Half-1:0]);
    high_q     <= (2 * P - Half)'(a) * (2 * P - Half)'(b[P-1:Half]);
    exponent_q <= a_i[P +: ExponentW] + b_i[P +: ExponentW];
    negative_q <= a_i[W-1] ^ b_i[W-1];
    zero_q     <= !(a[P-1] && b[P-1]);
  end

  // Their sum is a word's mantissa, or twice one, and bits that round it.
  logic [2*P-1:0]       product;
  logic [P-1:0]         kept;
  logic [P:0]           rounded;
  logic [ExponentW-1:0] exponent;
  logic                 twice, up;

  assign product  = {high_q, {Half{1'b0}}} + (2 * P)'(low_q);
  assign twice    = product[2*P-1];
  assign kept     = twice ? product[2*P-1:P] : product[2*P-2:P-1];
  assign up       = twice ? product[P-1] : product[P-2];
  assign rounded  = {1'b0, kept} + {{P{1'b0}}, up};
  assign exponent = exponent_q + ExponentW'(twice || rounded[P]);
  assign y_o      = zero_q ? {2'b01, {(W - 2) {1'b0}}} :
                             {negative_q, exponent, rounded[P] || rounded[P-1], rounded[P-2:0]};

  logic unused_below;
  assign unused_below = ^product[P-3:0];
endmodule
