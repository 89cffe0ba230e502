// Drops Shift fraction bits, rounding to the nearest (halves upwards), and saturates to OutW bits.
module rm_round #(
  parameter int unsigned InW     = 64,
  parameter int unsigned Shift   = 16,
  parameter int unsigned OutW    = 32,
  parameter bit          Rounded = 1'b0  // half of the result's last place is already in x
) (
  input  logic signed [InW-1:0]  x_i,
  output logic signed [OutW-1:0] y_o,
  output logic                   overflow_o
);
  if (Shift >= InW) begin : gen_nothing
    // Every word is less than one half of the result's last place, or minus one half: that rounds upwards.
    logic unused_word;
    assign unused_word = ^x_i;
    assign overflow_o  = 1'b0;
    assign y_o         = '0;
  end else begin : gen_something
    localparam int unsigned KeptW = InW + 1 - Shift;

    logic signed [KeptW-1:0] kept;

    if (Shift == 0) begin : gen_exact
      assign kept = {x_i[InW-1], x_i};
    end else if (Rounded) begin : gen_rounded
      assign kept = $signed({x_i[InW-1], x_i[InW-1:Shift]});
      logic unused_dropped;
      assign unused_dropped = ^x_i[Shift-1:0];
    end else begin : gen_round
      // Adding the highest dropped bit to what is kept rounds to the nearest.
      assign kept = $signed({x_i[InW-1], x_i[InW-1:Shift]}) + $signed({{(KeptW - 1){1'b0}}, x_i[Shift-1]});
      if (Shift > 1) begin : gen_dropped
        logic unused_dropped;
        assign unused_dropped = ^x_i[Shift-2:0];
      end
    end

    if (KeptW > OutW) begin : gen_saturate
      // It fits if all bits from the result's sign upwards agree.
      assign overflow_o = |(kept[KeptW-1:OutW-1] ^ {(KeptW - OutW + 1) {kept[KeptW-1]}});
      assign y_o        = overflow_o ? {kept[KeptW-1], {(OutW - 1) {!kept[KeptW-1]}}} : kept[OutW-1:0];
    end else begin : gen_fits
      assign overflow_o = 1'b0;
      assign y_o        = OutW'(kept);
    end
  end
endmodule
