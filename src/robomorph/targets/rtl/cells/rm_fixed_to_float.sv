// A fixed-point word with frac_i fraction bits as a float32: rounded to the nearest, halves to even; zero is +0.
module rm_fixed_to_float #(
  parameter int unsigned Width = 32  // of the fixed-point word, at most 32
) (
  input  logic signed [Width-1:0] word_i,
  input  logic        [6:0]       frac_i,  // signed
  output logic        [31:0]      float_o
);
  localparam int unsigned PlaceW = $clog2(Width);
  // A word of Width bits whose highest bit is set, then the bits that a shorter word lacks for a mantissa.
  localparam int unsigned WideW = Width > 25 ? Width : 25;

  logic              negative, up;
  logic [Width-1:0]  size, high;
  logic [PlaceW-1:0] zeros;  // in front of the highest bit of size
  logic [WideW-1:0]  wide;
  logic [7:0]        exponent;
  logic [30:0]       rounded;

  assign negative = word_i[Width-1];
  assign size     = negative ? -word_i : word_i;

  always_comb begin
    zeros = '0;
    for (int unsigned k = 0; k < Width; k++) begin
      if (size[k]) zeros = PlaceW'(Width - 1 - k);
    end
  end

  assign high = size << zeros;
  if (WideW > Width) begin : gen_short
    assign wide = {high, {(WideW - Width) {1'b0}}};
  end else begin : gen_long
    assign wide = high;
  end

  // wide holds 1.mantissa in its upper 24 bits; the rest decides the rounding.
  assign exponent = 8'(127 + Width - 1) - 8'(zeros) - 8'($signed(frac_i));
  if (WideW > 25) begin : gen_sticky
    assign up = wide[WideW-25] && (wide[WideW-24] || |wide[WideW-26:0]);
  end else begin : gen_tie
    assign up = wide[0] && wide[1];
  end
  // A carry out of the mantissa goes to the exponent, as it should.
  assign rounded = {exponent, wide[WideW-2-:23]} + 31'(up);
  assign float_o = size == '0 ? '0 : {negative, rounded};

  logic unused_leading;
  assign unused_leading = wide[WideW-1];

`ifndef SYNTHESIS
  initial assert_width : assert (Width <= 32);
`endif
endmodule
