// A float32 as a fixed-point word with frac_i fraction bits: rounded to the nearest (halves upwards), saturated.
// Infinities and NaNs saturate by their sign. Subnormals are zero, as rounding would make them.
module rm_float_to_fixed #(
  parameter int unsigned Width = 32  // of the fixed-point word, at most 32
) (
  input  logic        [31:0]      float_i,
  input  logic        [6:0]       frac_i,  // signed
  output logic signed [Width-1:0] word_o,
  output logic                    overflow_o
);
  // The mantissa starts so far left that a value further left leaves every word; from there it only moves right.
  localparam int unsigned Left  = Width > 24 ? Width - 24 : 0;
  localparam int unsigned WideW = 26 + Left;  // sign, 24 bits of mantissa, Left, and one bit to round by
  localparam int unsigned MoveW = $clog2(WideW + 1);
  // 150: the exponent of a mantissa that counts whole ones.
  localparam logic signed [9:0] Whole = 10'(150 + Left);

  logic                     negative, zero, special, far_left, far_right, saturated;
  logic        [7:0]        exponent;
  logic signed [24:0]       mantissa;
  logic signed [9:0]        right;
  logic        [MoveW-1:0]  move;
  logic signed [WideW-1:0]  wide;
  logic signed [Width-1:0]  rounded;

  assign negative  = float_i[31];
  assign exponent  = float_i[30:23];
  assign zero      = exponent == '0;
  assign special   = exponent == '1;
  assign mantissa  = zero ? '0 : negative ? -$signed({2'b01, float_i[22:0]}) : $signed({2'b01, float_i[22:0]});

  assign right     = Whole - 10'($signed(frac_i)) - $signed({2'b00, exponent});
  assign far_left  = right < 0;
  assign far_right = right >= $signed(10'(WideW));
  assign move      = far_right ? MoveW'(WideW) : right[MoveW-1:0];
  assign wide      = $signed({mantissa, {(Left + 1) {1'b0}}}) >>> move;

  rm_round #(
    .InW  (WideW),
    .Shift(1),
    .OutW (Width)
  ) u_round (
    .x_i(wide),
    .y_o(rounded),
    .overflow_o(saturated)
  );

  always_comb begin
    word_o     = rounded;
    overflow_o = saturated;
    if (special || (far_left && !zero)) begin
      word_o     = {negative, {(Width - 1) {!negative}}};
      overflow_o = 1'b1;
    end
  end

`ifndef SYNTHESIS
  initial assert_width : assert (Width <= 32);
`endif
endmodule
