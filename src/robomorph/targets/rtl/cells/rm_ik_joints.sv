// The order of a serial pass: joints from the base outward, one every Gap cycles, or one a cycle if the angles
// are only to be moved. The first is in the cycle of the start.
module rm_ik_joints #(
  parameter int unsigned Joints = 7,
  parameter int unsigned JointW = 3,
  parameter int unsigned Gap    = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              start_i,
  input  logic              quick_i,  // one a cycle; held through the pass
  output logic              valid_o,
  output logic [JointW-1:0] joint_o,
  output logic              final_o   // the outermost joint
);
  localparam int unsigned GapW = Gap > 1 ? $clog2(Gap) : 1;

  logic              running_q;
  logic [JointW-1:0] joint_q;
  logic [GapW-1:0]   wait_q;

  assign valid_o = start_i || (running_q && wait_q == '0);
  assign joint_o = start_i ? '0 : joint_q;
  assign final_o = joint_o == JointW'(Joints - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      joint_q   <= '0;
      wait_q    <= '0;
    end else if (valid_o) begin
      running_q <= !final_o;
      joint_q   <= joint_o + JointW'(1);
      wait_q    <= quick_i ? '0 : GapW'(Gap - 1);
    end else if (running_q) begin
      wait_q <= wait_q - GapW'(1);
    end
  end
endmodule
