// y = a + b or a - b of float words: exact, rounded once, halves up. The result comes two cycles after the operands.
// A word is {sign, exponent, mantissa}, the mantissa's highest bit set; zero is {0, lowest exponent, 0}.
module rm_float_add #(
  parameter int unsigned MantissaW = 32,
  parameter int unsigned ExponentW = 10,
  localparam int unsigned W = 1 + ExponentW + MantissaW
) (
  input  logic         clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  input  logic         subtract_i,
  output logic [W-1:0] y_o
);
  localparam int unsigned P      = MantissaW;
  localparam int unsigned Wide   = P + 3;          // a mantissa, two bits below it, and one for all others
  localparam int unsigned Steps  = $clog2(Wide + 1);
  localparam int unsigned Near   = 3;              // bits of the distance that the first cycle takes
  localparam int unsigned Places = $clog2(Wide + 2);

  // Align: the larger magnitude stays, the other one moves down to it, by up to Near places here.
  logic                 a_first, b_negative, near_lost;
  logic [W-2:0]         greater, lesser;
  logic [ExponentW-1:0] distance;
  logic [Wide-1:0]      near;

  assign b_negative = b_i[W-1] ^ subtract_i;
  // With their highest bits turned, exponents compare like the rest.
  assign a_first    = {!a_i[W-2], a_i[W-3:0]} >= {!b_i[W-2], b_i[W-3:0]};
  assign greater    = a_first ? a_i[W-2:0] : b_i[W-2:0];
  assign lesser     = a_first ? b_i[W-2:0] : a_i[W-2:0];
  assign distance   = greater[P +: ExponentW] - lesser[P +: ExponentW];

  always_comb begin
    near      = {lesser[P-1:0], 3'b0};
    near_lost = 1'b0;
    for (int unsigned k = 0; k < Near; k++) begin
      if (distance[k]) begin
        near_lost = near_lost || |(near & ~({Wide{1'b1}} << (1 << k)));
        near      = near >> (1 << k);
      end
    end
  end

  logic [P-1:0]            base_q;
  logic [Wide-1:0]         near_q;
  logic [ExponentW-1:Near] distance_q;
  logic [ExponentW-1:0]    place_q;
  logic                    near_lost_q, negative_q, minus_q;

  always_ff @(posedge clk_i) begin
    base_q      <= greater[P-1:0];
    near_q      <= near;
    near_lost_q <= near_lost;
    distance_q  <= distance[ExponentW-1:Near];
    place_q     <= greater[P +: ExponentW];
    negative_q  <= a_first ? a_i[W-1] : b_negative;
    minus_q     <= a_i[W-1] ^ b_negative;
  end

  // The rest of the way, and add.
  logic                 lost;
  logic [Wide-1:0]      moved;
  logic [Wide:0]        base, term, total, total_q;
  logic [ExponentW-1:0] exponent_q;
  logic                 sign_q;

  always_comb begin
    moved = near_q;
    lost  = near_lost_q;
    for (int unsigned k = Near; k < Steps; k++) begin
      if (distance_q[k]) begin
        lost  = lost || |(moved & ~({Wide{1'b1}} << (1 << k)));
        moved = moved >> (1 << k);
      end
    end
    if (|distance_q[ExponentW-1:Steps]) begin
      lost  = lost || |moved;
      moved = '0;
    end
  end

  assign base = {1'b0, base_q, 3'b0};
  assign term = {1'b0, moved[Wide-1:1], moved[0] || lost};
  // One adder for both: base - term is base + ~term and a carry, which a place below the last brings.
  logic unused_place;
  assign {total, unused_place} = {base, 1'b1} + {term ^ {(Wide + 1) {minus_q}}, minus_q};

  always_ff @(posedge clk_i) begin
    total_q    <= total;
    exponent_q <= place_q + ExponentW'(1);
    sign_q     <= negative_q;
  end

  // Normalise: up by the zeros in front, halves of halves at a time.
  logic [Wide:0]        high;
  logic [Places-1:0]    zeros;
  logic [P:0]           rounded;
  logic [ExponentW-1:0] exponent;

  always_comb begin
    high  = total_q;
    zeros = '0;
    for (int unsigned k = 0; k < Places; k++) begin
      if (~|(high >> (Wide + 1 - (1 << (Places - 1 - k))))) begin
        high                  = high << (1 << (Places - 1 - k));
        zeros[Places - 1 - k] = 1'b1;
      end
    end
  end

  assign rounded  = {1'b0, high[Wide:4]} + {{P{1'b0}}, high[3]};
  assign exponent = exponent_q - ExponentW'(zeros) + ExponentW'(rounded[P]);
  assign y_o      = high[Wide] ? {sign_q, exponent, rounded[P] || rounded[P-1], rounded[P-2:0]} :
                                 {2'b01, {(W - 2) {1'b0}}};

  logic unused_below;
  assign unused_below = ^high[2:0];
endmodule
