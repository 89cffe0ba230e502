// y = 1 / x of a float word, truncated to Bits bits; zero if x is not positive. A division of radix four: the
// result is there 1 + ceil((Bits - 1) / 2) cycles after load_i, until the next one.
// A word is {sign, exponent, mantissa}, the mantissa's highest bit set; zero is {0, lowest exponent, 0}.
module rm_float_recip #(
  parameter int unsigned MantissaW = 32,
  parameter int unsigned ExponentW = 10,
  parameter int unsigned Bits      = 13,
  localparam int unsigned W = 1 + ExponentW + MantissaW
) (
  input  logic         clk_i,
  input  logic         load_i,
  input  logic [W-1:0] x_i,
  output logic [W-1:0] y_o
);
  localparam int unsigned P      = MantissaW;
  localparam int unsigned Cycles = Bits / 2;  // (Bits - 1) / 2, rounded up
  localparam int unsigned All    = 1 + 2 * Cycles;

  logic                 zero_q, power_q;
  logic [ExponentW-1:0] exponent_q;
  logic [P-1:0]         divisor_q, remainder_q;
  logic [P+1:0]         triple_q;    // of the divisor
  logic [All-1:0]       quotient_q;  // its first bit is a one, so it tells when all are there

  // Two bits of the quotient: how often the divisor fits into four times the remainder.
  logic [P+1:0]   four;
  logic [P+2:0]   less_one, less_two, less_three;  // the highest bit: below zero
  logic [P-1:0]   remainder;
  logic [1:0]     digit;

  assign four       = {remainder_q, 2'b0};
  assign less_one   = {1'b0, four} - {3'b0, divisor_q};
  assign less_two   = {1'b0, four} - {2'b0, divisor_q, 1'b0};
  assign less_three = {1'b0, four} - {1'b0, triple_q};
  assign digit      = {!less_two[P+2], less_two[P+2] ? !less_one[P+2] : !less_three[P+2]};
  always_comb begin
    case (digit)
      2'd3:    remainder = less_three[P-1:0];
      2'd2:    remainder = less_two[P-1:0];
      2'd1:    remainder = less_one[P-1:0];
      default: remainder = four[P-1:0];
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      zero_q      <= x_i[W-1] || !x_i[P-1];
      power_q     <= ~|x_i[P-2:0];
      exponent_q  <= ~|x_i[P-2:0] ? -x_i[P +: ExponentW] : ~x_i[P +: ExponentW];
      divisor_q   <= x_i[P-1:0];
      triple_q    <= {2'b0, x_i[P-1:0]} + {1'b0, x_i[P-1:0], 1'b0};
      // The first bit: twice the dividend, a power of two, less the divisor.
      remainder_q <= -x_i[P-1:0];
      quotient_q  <= {{(All - 1) {1'b0}}, 1'b1};
    end else if (!quotient_q[All-1]) begin
      remainder_q <= remainder;
      quotient_q  <= {quotient_q[All-3:0], digit};
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
  assign unused_above = ^{less_one[P+1:P], less_two[P+1:P], less_three[P+1:P]};
  if (All > Bits) begin : gen_spare
    logic unused_below;
    assign unused_below = ^quotient_q[All-Bits-1:0];
  end

`ifndef SYNTHESIS
  initial assert_bits : assert (Bits >= 5 && Bits <= P);
`endif
endmodule
