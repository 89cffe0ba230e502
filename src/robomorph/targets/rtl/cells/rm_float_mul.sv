// y = a * b of float words: the exact product, half a unit of the smaller of the two words that it may become is
// added, and the rest is dropped. The result comes a cycle after the operands.
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
  localparam int unsigned P     = MantissaW;
  localparam int unsigned LowW  = P / 2;
  localparam int unsigned HighW = P - LowW;

  // Products of halves of the mantissas, which multipliers of 18 bits can make; one brings the half to round by.
  logic [P-1:0]         a, b, across_q, back_q;
  logic [2*LowW-1:0]    low_q;
  logic [2*HighW-1:0]   high_q;
  logic [ExponentW-1:0] exponent_q;
  logic                 negative_q, zero_q;

  assign a = a_i[P-1:0];
  assign b = b_i[P-1:0];

  always_ff @(posedge clk_i) begin
    low_q      <= (2 * LowW)'(a[LowW-1:0]) * (2 * LowW)'(b[LowW-1:0]);
    across_q   <= P'(a[LowW-1:0]) * P'(b[P-1:LowW]) + (P'(1) << (P - 2 - LowW));
    back_q     <= P'(a[P-1:LowW]) * P'(b[LowW-1:0]);
    high_q     <= (2 * HighW)'(a[P-1:LowW]) * (2 * HighW)'(b[P-1:LowW]);
    exponent_q <= a_i[P +: ExponentW] + b_i[P +: ExponentW];
    negative_q <= a_i[W-1] ^ b_i[W-1];
    zero_q     <= !(a[P-1] && b[P-1]);
  end

  // Their sum is a mantissa, or twice one, and bits below it.
  logic [2*P-1:0] sum;
  logic           twice;

  assign sum = {high_q, low_q} + ((2 * P)'(across_q) << LowW) + ((2 * P)'(back_q) << LowW);
  assign twice = sum[2*P-1];
  assign y_o   = zero_q ? {2'b01, {(W - 2) {1'b0}}} :
                          {negative_q, exponent_q + ExponentW'(twice), twice ? sum[2*P-1:P] : sum[2*P-2:P-1]};

  logic unused_below;
  assign unused_below = ^sum[P-2:0];
endmodule
