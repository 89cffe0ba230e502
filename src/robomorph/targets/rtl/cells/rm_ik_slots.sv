// The order of a search: joints from the tip inward, and for each the speculations of a unit, one a cycle, with
// pauses if the loop of a unit takes longer than they do. The first is in the cycle of the start.
module rm_ik_slots #(
  parameter int unsigned Joints = 7,
  parameter int unsigned JointW = 3,
  parameter int unsigned SlotW  = 4,
  parameter int unsigned Loop   = 4    // cycles from a position to the next
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              start_i,
  input  logic [SlotW:0]    count_i,  // speculations of a unit in this search, held through it
  output logic              begin_o,  // the first cycle of a joint
  output logic              valid_o,
  output logic [JointW-1:0] joint_o,
  output logic [SlotW-1:0]  slot_o,
  output logic              outer_o,  // the joint at the tip
  output logic              inner_o   // the joint at the base
);
  localparam int unsigned CountW = SlotW + 1;

  logic              running_q, done;
  logic [JointW-1:0] joint_q;
  logic [CountW-1:0] slot_q, last;

  // As long as the speculations, or as the loop.
  assign last    = count_i > CountW'(Loop) ? count_i - CountW'(1) : CountW'(Loop - 1);
  assign begin_o = start_i || (running_q && slot_q == '0);
  assign valid_o = start_i || (running_q && slot_q < count_i);
  assign joint_o = start_i ? JointW'(Joints - 1) : joint_q;
  assign slot_o  = start_i ? '0 : SlotW'(slot_q);
  assign outer_o = joint_o == JointW'(Joints - 1);
  assign inner_o = joint_o == '0;
  assign done    = start_i ? last == '0 : slot_q == last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      joint_q   <= '0;
      slot_q    <= '0;
    end else if (start_i || running_q) begin
      running_q <= !(done && inner_o);
      joint_q   <= done ? joint_o - JointW'(1) : joint_o;
      slot_q    <= done ? '0 : (start_i ? '0 : slot_q) + CountW'(1);
    end
  end
endmodule
