// Three float words as integers of OutW bits, truncated, with a common shift: the largest one fills its integer,
// and the shift is offset_i less its exponent. A shift below zero becomes zero; one that is too large, or three zeros,
// give zeros, and zero_o. The result comes a cycle after the words.
// A word is {sign, exponent, mantissa}, the mantissa's highest bit set; zero is {0, lowest exponent, 0}.
module rm_float_align #(
  parameter int unsigned MantissaW = 32,
  parameter int unsigned ExponentW = 10,
  parameter int unsigned OutW      = 24,
  parameter int unsigned ShiftW    = 6,
  localparam int unsigned W       = 1 + ExponentW + MantissaW,
  localparam int unsigned OffsetW = ExponentW + 2
) (
  input  logic                clk_i,
  input  logic [3*W-1:0]      words_i,   // the first one lowest
  input  logic [OffsetW-1:0]  offset_i,  // signed
  output logic [3*OutW-1:0]   integers_o,
  output logic [ShiftW-1:0]   shift_o,
  output logic                zero_o
);
  localparam int unsigned P    = MantissaW;
  localparam int unsigned Wide = P + OutW;

  // The highest exponent, and how far the others are below it.
  logic [2:0]                       one, negative_q;
  logic [2:0][ExponentW-1:0]        exponents, distance_q;
  logic [2:0][OutW-2:0]             top_q;
  logic signed [ExponentW-1:0]      pair, highest;
  logic signed [OffsetW-1:0]        shift_q;
  logic                             some_q;

  for (genvar k = 0; k < 3; k++) begin : gen_word
    logic [Wide-1:0] padded;
    assign one[k]       = words_i[k*W+P-1];
    assign exponents[k] = words_i[k*W+P +: ExponentW];
    assign padded       = {words_i[k*W +: P], {OutW{1'b0}}};
    always_ff @(posedge clk_i) begin
      negative_q[k] <= words_i[k*W+W-1];
      distance_q[k] <= highest - exponents[k];
      top_q[k]      <= padded[Wide-1-:OutW-1];
    end
    logic unused_below;
    assign unused_below = ^padded[Wide-OutW:0];
  end

  assign pair    = $signed(exponents[0]) > $signed(exponents[1]) ? exponents[0] : exponents[1];
  assign highest = pair > $signed(exponents[2]) ? pair : exponents[2];

  always_ff @(posedge clk_i) begin
    shift_q <= $signed(offset_i) - OffsetW'(highest);
    some_q  <= |one;
  end

  logic keep;
  assign keep    = some_q && (shift_q[OffsetW-1] || ~|shift_q[OffsetW-2:ShiftW]);
  assign zero_o  = !keep;
  assign shift_o = !keep ? '1 : shift_q[OffsetW-1] ? '0 : shift_q[ShiftW-1:0];

  for (genvar k = 0; k < 3; k++) begin : gen_integer
    logic [OutW-1:0] size;
    assign size = {1'b0, top_q[k] >> distance_q[k]};
    assign integers_o[k*OutW +: OutW] = !keep ? '0 : negative_q[k] ? -size : size;
  end
endmodule
