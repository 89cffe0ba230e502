// y = 2^Exponent / a, the magnitude rounded to the nearest; the reciprocal of zero saturates upwards.
// A restoring division, pipelined: one operand per cycle, the result Stages cycles later.
module rm_recip #(
  parameter int unsigned W        = 32,
  parameter int unsigned Exponent = 32,  // fraction bits of operand and result together
  parameter int unsigned Stages   = 12
) (
  input  logic                clk_i,
  input  logic                en_i,
  input  logic signed [W-1:0] a_i,
  output logic signed [W-1:0] y_o,
  output logic                overflow_o
);
  // Twice the quotient is computed, so that its lowest bit decides the rounding.
  localparam int unsigned Steps   = Exponent + 2;
  localparam int unsigned Working = Stages > 1 ? Stages - 1 : 1;
  localparam int unsigned Each    = (Steps + Working - 1) / Working;

  typedef struct packed {
    logic         negative;
    logic         lost;       // a quotient bit left the word
    logic [W-1:0] divisor;
    logic [W-1:0] remainder;
    logic [W:0]   quotient;
  } state_t;

  function automatic state_t divide_step(state_t s, logic bit_in);
    state_t       next;
    logic [W:0]   partial;
    logic [W:0]   reduced;
    logic         fits;
    partial        = {s.remainder, bit_in};
    fits           = partial >= {1'b0, s.divisor};
    reduced        = fits ? partial - {1'b0, s.divisor} : partial;
    next           = s;
    next.remainder = reduced[W-1:0];
    next.lost      = s.lost | s.quotient[W];
    next.quotient  = {s.quotient[W-1:0], fits};
    return next;
  endfunction

  state_t chain[Working+1];

  always_comb begin
    chain[0]          = '0;
    chain[0].negative = a_i[W-1];
    chain[0].divisor  = a_i[W-1] ? -a_i : a_i;
  end

  for (genvar k = 0; k < Working; k++) begin : gen_stage
    state_t next, held;
    always_comb begin
      next = chain[k];
      for (int unsigned j = k * Each; j < (k + 1) * Each; j++) begin
        if (j < Steps) next = divide_step(next, j == 0);
      end
    end
    always_ff @(posedge clk_i) if (en_i) held <= next;
    assign chain[k+1] = held;
  end

  // Rounding, sign and saturation.
  state_t                last;
  logic [W:0]            rounded;
  logic                  too_big;
  logic signed [W-1:0]   value;
  assign last    = chain[Working];
  assign rounded = {1'b0, last.quotient[W:1]} + {{W{1'b0}}, last.quotient[0]};
  // The magnitude 2^(W-1) fits a word only if it is negative.
  assign too_big   = last.lost || last.divisor == '0 ||
                   (last.negative ? rounded > {2'b01, {(W - 1){1'b0}}} : rounded >= {2'b01, {(W - 1){1'b0}}});
  always_comb begin
    value = last.negative ? -rounded[W-1:0] : rounded[W-1:0];
    if (too_big) value = {last.negative, {(W - 1){!last.negative}}};
  end

  if (Stages > 1) begin : gen_output_register
    always_ff @(posedge clk_i) begin
      if (en_i) begin
        y_o        <= value;
        overflow_o <= too_big;
      end
    end
  end else begin : gen_output_wire
    assign y_o        = value;
    assign overflow_o = too_big;
  end

  logic unused_remainder;
  assign unused_remainder = ^last.remainder;
endmodule
