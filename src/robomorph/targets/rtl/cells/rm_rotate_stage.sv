// Some steps of a CORDIC rotation, and a register after them.
module rm_rotate_stage #(
  parameter int unsigned             PhaseW = 37,
  parameter int unsigned             Inner  = 36,
  parameter logic [Inner*PhaseW-1:0] Angles = '0,
  parameter int unsigned             First  = 0,  // the steps done here: First up to, not including, Last
  parameter int unsigned             Last   = 1
) (
  input  logic                     clk_i,
  input  logic                     en_i,
  input  logic                     behind_i,
  input  logic signed [Inner+1:0]  x_i,
  input  logic signed [Inner+1:0]  y_i,
  input  logic signed [PhaseW-1:0] z_i,
  output logic                     behind_o,
  output logic signed [Inner+1:0]  x_o,
  output logic signed [Inner+1:0]  y_o,
  output logic signed [PhaseW-1:0] z_o
);
  localparam int unsigned VectorW = Inner + 2;

  // One adder a word, whichever way it turns: a - b is a + ~b and a carry, which a place below the last brings.
  logic signed [Inner+1:0]  x, y, dx, dy;
  logic signed [PhaseW-1:0] z;
  logic                     back;
  logic                     unused_x, unused_y, unused_z;

  always_comb begin
    x    = x_i;
    y    = y_i;
    z    = z_i;
    dx   = '0;
    dy   = '0;
    back = 1'b0;
    {unused_x, unused_y, unused_z} = '0;
    for (int unsigned j = First; j < Last; j++) begin
      back          = z[PhaseW-1];
      dx            = y >>> j;
      dy            = x >>> j;
      {x, unused_x} = {x, 1'b1} + {dx ^ {VectorW{!back}}, !back};
      {y, unused_y} = {y, 1'b1} + {dy ^ {VectorW{back}}, back};
      {z, unused_z} = {z, 1'b1} + {Angles[j*PhaseW +: PhaseW] ^ {PhaseW{!back}}, !back};
    end
  end

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      behind_o <= behind_i;
      x_o      <= x;
      y_o      <= y;
      z_o      <= z;
    end
  end
endmodule
