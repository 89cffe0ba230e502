// y = 1 / x of a float word, truncated to Bits bits; zero if x is not positive. A restoring division, two bits a
// cycle: the result is there 1 + ceil((Bits - 2) / 2) cycles after load_i, until the next one.
// A word is {sign, exponent, mantissa}, the mantissa's highest bit set; zero is {0, lowest exponent, 0}.
module rm_float_recip #(
  parameter int unsigned MantissaW = 32,
  parameter int unsigned ExponentW = 10,
  parameter int unsigned Bits      = 14,
  localparam int unsigned W = 1 + ExponentW + MantissaW
) (
  input  logic         clk_i,
  input  logic         load_i,
  input  logic [W-1:0] x_i,
  output logic [W-1:0] y_o
);
  localparam int unsigned P      = MantissaW;
  localparam int unsigned Cycles = (Bits - 1) / 2;  // (Bits - 2) / 2, rounded up
  localparam int unsigned All    = 2 + 2 * Cycles;

  logic                 zero_q, power_q;
  logic [ExponentW-1:0] exponent_q;
  logic [P-1:0]         divisor_q, remainder_q;
  logic [All-1:0]       quotient_q;  // its first bit is a one, so it tells when all are there

  // The first two bits: twice the dividend, less the divisor, is a remainder at once.
  logic [P-1:0] first;
  logic [P+1:0] second;  // its highest bit: below zero
  assign first  = -x_i[P-1:0];
  assign second = {1'b0, first, 1'b0} - {2'b0, x_i[P-1:0]};

  logic [P-1:0]   remainder;
  logic [P+1:0]   less;
  logic [All-1:0] quotient;
  always_comb begin
    remainder = remainder_q;
    quotient  = quotient_q;
    less      = '0;
    for (int unsigned k = 0; k < 2; k++) begin
      less      = {1'b0, remainder, 1'b0} - {2'b0, divisor_q};
      quotient  = {quotient[All-2:0], !less[P+1]};
      remainder = less[P+1] ? {remainder[P-2:0], 1'b0} : less[P-1:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      zero_q      <= x_i[W-1] || !x_i[P-1];
      power_q     <= ~|x_i[P-2:0];
      exponent_q  <= ~|x_i[P-2:0] ? -x_i[P +: ExponentW] : ~x_i[P +: ExponentW];
      divisor_q   <= x_i[P-1:0];
      remainder_q <= second[P+1] ? {first[P-2:0], 1'b0} : second[P-1:0];
      quotient_q  <= {{(All - 2) {1'b0}}, 1'b1, !second[P+1]};
    end else if (!quotient_q[All-1]) begin
      remainder_q <= remainder;
      quotient_q  <= quotient;
    end
  end

  // A power of two is its own reciprocal, exponents apart; the division would give ones without end.
  logic [P-1:0] mantissa;
  if (Bits < P) begin : gen_short
    assign mantissa = {quotient_q[All-1-:Bits], {(P - Bits) {1'b0}}};
  end else begin : gen_full
    assign mantissa = quotient_q[All-1-:Bits];
  end
  assign y_o = zero_q ? {2'b01, {(W - 2) {1'b0}}} :
                        {1'b0, exponent_q, power_q ? {1'b1, {(P - 1) {1'b0}}} : mantissa};

  logic unused_above;
  assign unused_above = second[P] ^ less[P];
  if (All > Bits) begin : gen_spare
    logic unused_below;
    assign unused_below = ^quotient_q[All-Bits-1:0];
  end

`ifndef SYNTHESIS
  initial assert_bits : assert (Bits >= 5 && Bits <= P);
`endif
endmodule
