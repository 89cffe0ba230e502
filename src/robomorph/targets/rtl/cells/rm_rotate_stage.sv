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
  logic signed [Inner+1:0]  x, y, dx, dy;
  logic signed [PhaseW-1:0] z;

  always_comb begin
    x  = x_i;
    y  = y_i;
    z  = z_i;
    dx = '0;
    dy = '0;
    for (int unsigned j = First; j < Last; j++) begin
      dx = y >>> j;
      dy = x >>> j;
      if (z[PhaseW-1]) begin
        x = x + dx;
        y = y - dy;
        z = z + $signed(Angles[j*PhaseW +: PhaseW]);
      end else begin
        x = x - dx;
        y = y + dy;
        z = z - $signed(Angles[j*PhaseW +: PhaseW]);
      end
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
