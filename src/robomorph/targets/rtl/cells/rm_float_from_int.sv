// A signed integer as a float word, rounded once, halves up. The result comes a cycle after the integer.
// A word is {sign, exponent, mantissa}, the mantissa's highest bit set; zero is {0, lowest exponent, 0}.
module rm_float_from_int #(
  parameter int unsigned InW       = 48,
  parameter int unsigned MantissaW = 32,
  parameter int unsigned ExponentW = 10,
  localparam int unsigned W = 1 + ExponentW + MantissaW
) (
  input  logic                  clk_i,
  input  logic signed [InW-1:0] x_i,
  output logic        [W-1:0]   y_o
);
  localparam int unsigned P      = MantissaW;
  localparam int unsigned Wide   = InW > P + 1 ? InW : P + 1;
  localparam int unsigned Places = $clog2(Wide);

  logic           negative_q;
  logic [InW-1:0] size_q;

  always_ff @(posedge clk_i) begin
    negative_q <= x_i[InW-1];
    size_q     <= x_i[InW-1] ? -x_i : x_i;
  end

  // Normalise: up by the zeros in front, halves of halves at a time.
  logic [Wide-1:0]      high;
  logic [Places-1:0]    zeros;
  logic [P:0]           rounded;
  logic [ExponentW-1:0] exponent;

  always_comb begin
    high  = Wide'(size_q) << (Wide - InW);
    zeros = '0;
    for (int unsigned k = 0; k < Places; k++) begin
      if (~|(high >> (Wide - (1 << (Places - 1 - k))))) begin
        high                  = high << (1 << (Places - 1 - k));
        zeros[Places - 1 - k] = 1'b1;
      end
    end
  end

  assign rounded  = {1'b0, high[Wide-1-:P]} + {{P{1'b0}}, high[Wide-1-P]};
  assign exponent = ExponentW'(InW - 1) - ExponentW'(zeros) + ExponentW'(rounded[P]);
  assign y_o      = high[Wide-1] ? {negative_q, exponent, rounded[P] || rounded[P-1], rounded[P-2:0]} :
                                   {2'b01, {(W - 2) {1'b0}}};

  logic unused_below;
  assign unused_below = ^high[Wide-1-P:0];
endmodule
