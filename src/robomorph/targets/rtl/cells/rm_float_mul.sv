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
  localparam int unsigned P       = MantissaW;
  localparam int unsigned Quarter = P / 4;
  localparam int unsigned LowW    = P + Quarter;
  localparam int unsigned HighW   = 2 * P - 3 * Quarter;

  // Products of a whole mantissa and quarters of the other; the lowest one brings the half.
  logic [P-1:0]         a, b;
  logic [LowW-1:0]      first_q, second_q, third_q;
  logic [HighW-1:0]     fourth_q;
  logic [ExponentW-1:0] exponent_q;
  logic                 negative_q, zero_q;

  assign a = a_i[P-1:0];
  assign b = b_i[P-1:0];

  always_ff @(posedge clk_i) begin
    first_q    <= LowW'(a) * LowW'(b[Quarter-1:0]) + (LowW'(1) << (P - 2));
    second_q   <= LowW'(a) * LowW'(b[2*Quarter-1:Quarter]);
    third_q    <= LowW'(a) * LowW'(b[3*Quarter-1:2*Quarter]);
    fourth_q   <= HighW'(a) * HighW'(b[P-1:3*Quarter]);
    exponent_q <= a_i[P +: ExponentW] + b_i[P +: ExponentW];
    negative_q <= a_i[W-1] ^ b_i[W-1];
    zero_q     <= !(a[P-1] && b[P-1]);
  end

  // Their sum is a mantissa, or twice one, and bits below it.
  logic [2*P-1:0] sum;
  logic           twice;

  assign sum = (2 * P)'(first_q) + ((2 * P)'(second_q) << Quarter) +
               ((2 * P)'(third_q) << (2 * Quarter)) + ((2 * P)'(fourth_q) << (3 * Quarter));
  assign twice = sum[2*P-1];
  assign y_o   = zero_q ? {2'b01, {(W - 2) {1'b0}}} :
                          {negative_q, exponent_q + ExponentW'(twice), twice ? sum[2*P-1:P] : sum[2*P-2:P-1]};

  logic unused_below;
  assign unused_below = ^sum[P-2:0];
endmodule
