// Cosine and sine of an angle by CORDIC, pipelined: one angle per cycle, the results Stages cycles later.
// The constants come from the generator (see robomorph.ir.cordic, which defines every bit).
module rm_rotate #(
  parameter int unsigned          W      = 32,  // width of the angle
  parameter int unsigned          PhaseW = 37,  // bits of a turn
  parameter int unsigned          Inner  = 36,  // fraction bits of the vector, and its steps
  parameter int unsigned          ScaleW = 30,
  parameter logic [ScaleW-1:0]    Scale  = '0,  // turns per angle
  parameter int unsigned          Shift  = 0,   // fraction bits dropped after scaling
  parameter logic [Inner-1:0]     Start  = '0,  // 1 / gain
  parameter logic [Inner*PhaseW-1:0] Angles = '0,  // arctangents of 2^-i, the first lowest
  parameter int unsigned          Stages = 8
) (
  input  logic                    clk_i,
  input  logic                    en_i,
  input  logic signed [W-1:0]     angle_i,
  output logic signed [Inner+1:0] cos_o,
  output logic signed [Inner+1:0] sin_o
);
  localparam int unsigned Working  = Stages > 1 ? Stages - 1 : 1;
  localparam int unsigned Each     = (Inner + Working - 1) / Working;
  localparam int unsigned ProductW = W + ScaleW + 1 > PhaseW + Shift + 1 ? W + ScaleW + 1 : PhaseW + Shift + 1;

  typedef struct packed {
    logic                     far;  // in the half turn behind: both results change sign
    logic signed [Inner+1:0]  x;
    logic signed [Inner+1:0]  y;
    logic signed [PhaseW-1:0] z;
  } state_t;

  logic signed [ProductW-1:0] product, scaled;
  assign product = ProductW'(angle_i) * $signed(ProductW'({1'b0, Scale}));
  if (Shift == 0) begin : gen_exact
    assign scaled = product;
  end else begin : gen_round
    assign scaled = (product + (ProductW'(1) <<< (Shift - 1))) >>> Shift;
  end
  logic unused_turns;
  assign unused_turns = ^scaled[ProductW-1:PhaseW];

  state_t folded, folded_q;
  always_comb begin
    folded.far = scaled[PhaseW-1] != scaled[PhaseW-2];
    folded.x   = $signed({2'b00, Start});
    folded.y   = '0;
    folded.z   = {scaled[PhaseW-1] ^ folded.far, scaled[PhaseW-2:0]};
  end
  if (Stages > 1) begin : gen_first_register
    always_ff @(posedge clk_i) if (en_i) folded_q <= folded;
  end else begin : gen_first_wire
    assign folded_q = folded;
  end

  function automatic state_t turn_step(state_t s, int unsigned i);
    state_t                   next;
    logic signed [Inner+1:0]  dx, dy;
    logic signed [PhaseW-1:0] step;
    dx   = s.y >>> i;
    dy   = s.x >>> i;
    step = Angles[i*PhaseW +: PhaseW];
    next = s;
    if (s.z[PhaseW-1]) begin
      next.x = s.x + dx;
      next.y = s.y - dy;
      next.z = s.z + step;
    end else begin
      next.x = s.x - dx;
      next.y = s.y + dy;
      next.z = s.z - step;
    end
    return next;
  endfunction

  state_t chain[Working+1];
  assign chain[0] = folded_q;
  for (genvar k = 0; k < Working; k++) begin : gen_stage
    state_t next, held;
    always_comb begin
      next = chain[k];
      for (int unsigned j = k * Each; j < (k + 1) * Each; j++) begin
        if (j < Inner) next = turn_step(next, j);
      end
    end
    always_ff @(posedge clk_i) if (en_i) held <= next;
    assign chain[k+1] = held;
  end

  state_t last;
  assign last  = chain[Working];
  assign cos_o = last.far ? -last.x : last.x;
  assign sin_o = last.far ? -last.y : last.y;
  logic unused_angle;
  assign unused_angle = ^last.z;
endmodule
