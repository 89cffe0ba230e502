// Cosine and sine of an angle by CORDIC, pipelined: one angle per cycle, the results Stages (at least 2) cycles
// later. The constants come from the generator (see robomorph.ir.cordic, which defines every bit).
module rm_rotate #(
  parameter int unsigned             W      = 32,  // width of the angle
  parameter int unsigned             PhaseW = 37,  // bits of a turn
  parameter int unsigned             Inner  = 36,  // fraction bits of the vector, and its steps
  parameter int unsigned             ScaleW = 30,
  parameter logic [ScaleW-1:0]       Scale  = '0,  // turns per angle
  parameter int unsigned             Shift  = 1,   // fraction bits dropped after scaling
  parameter logic [Inner-1:0]        Start  = '0,  // 1 / gain
  parameter logic [Inner*PhaseW-1:0] Angles = '0,  // arctangents of 2^-i, the first lowest
  parameter int unsigned             Stages = 8,
  parameter int unsigned             Drop   = 0    // fraction bits dropped from the results, rounded
) (
  input  logic                    clk_i,
  input  logic                    en_i,
  input  logic signed [W-1:0]     angle_i,
  output logic signed [Inner+1-Drop:0] cos_o,
  output logic signed [Inner+1-Drop:0] sin_o
);
  localparam int unsigned Working  = Stages - 1;
  localparam int unsigned Each     = (Inner + Working - 1) / Working;
  localparam int unsigned VectorW  = Inner + 2;
  localparam int unsigned ProductW = W + ScaleW + 1 > PhaseW + Shift + 1 ? W + ScaleW + 1 : PhaseW + Shift + 1;

  // The angle as a fraction of a turn; whole turns drop out.
  logic signed [ProductW-1:0] product, scaled;
  assign product = ProductW'(angle_i) * $signed(ProductW'({1'b0, Scale}));
  if (Shift == 0) begin : gen_exact
    assign scaled = product;
  end else begin : gen_round
    assign scaled = (product + (ProductW'(1) <<< (Shift - 1))) >>> Shift;
  end
  logic unused_turns;
  assign unused_turns = ^scaled[ProductW-1:PhaseW];

  logic [Working:0]                       behind;  // in the half turn behind: both results change sign
  logic signed [(Working+1)*VectorW-1:0]  x, y;
  logic signed [(Working+1)*PhaseW-1:0]   z;
  logic                                   far_side;
  assign far_side = scaled[PhaseW-1] != scaled[PhaseW-2];

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      behind[0]      <= far_side;
      z[PhaseW-1:0]  <= {scaled[PhaseW-1] ^ far_side, scaled[PhaseW-2:0]};
    end
  end
  assign x[VectorW-1:0] = {2'b00, Start};
  assign y[VectorW-1:0] = '0;

  for (genvar k = 0; k < Working; k++) begin : gen_stage
    localparam int unsigned Last = (k + 1) * Each < Inner ? (k + 1) * Each : Inner;
    rm_rotate_stage #(
      .PhaseW(PhaseW),
      .Inner (Inner),
      .Angles(Angles),
      .First (k * Each),
      .Last  (Last)
    ) u_stage (
      .clk_i,
      .en_i,
      .behind_i(behind[k]),
      .x_i     (x[k*VectorW +: VectorW]),
      .y_i     (y[k*VectorW +: VectorW]),
      .z_i     (z[k*PhaseW +: PhaseW]),
      .behind_o(behind[k+1]),
      .x_o     (x[(k+1)*VectorW +: VectorW]),
      .y_o     (y[(k+1)*VectorW +: VectorW]),
      .z_o     (z[(k+1)*PhaseW +: PhaseW])
    );
  end

  // Both signs and the rounding by one adder each: -x is ~x and a carry, which a place below the last brings. No
  // cosine comes near 2, where rounding would leave the word.
  localparam logic [VectorW-1:0] Half = Drop > 0 ? VectorW'(1) << (Drop > 0 ? Drop - 1 : 0) : '0;

  logic                      minus;
  logic signed [VectorW-1:0] last_x, last_y;
  logic        [VectorW:0]   cosine, sine;
  assign minus  = behind[Working];
  assign last_x = x[Working*VectorW +: VectorW];
  assign last_y = y[Working*VectorW +: VectorW];
  assign cosine = {last_x ^ {VectorW{minus}}, minus} + {Half, minus};
  assign sine   = {last_y ^ {VectorW{minus}}, minus} + {Half, minus};
  assign cos_o  = cosine[VectorW:Drop+1];
  assign sin_o  = sine[VectorW:Drop+1];
  logic unused_places;
  assign unused_places = ^{cosine[Drop:0], sine[Drop:0]};
  logic unused_angle;
  assign unused_angle = ^z[Working*PhaseW +: PhaseW];

`ifndef SYNTHESIS
  initial assert_stages : assert (Stages >= 2);
`endif
endmodule
