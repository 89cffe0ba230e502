// Gathers the results of several senders into one stream, a whole result from each in turn: in the order in which
// rm_dispatch gave them their states. What is not in its turn waits. No cycle is spent.
module rm_collect #(
  parameter int unsigned Ways = 2,
  parameter int unsigned W    = 256  // of a beat
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [Ways*W-1:0] data_i,   // the first sender's lowest
  input  logic [Ways-1:0]   valid_i,
  input  logic [Ways-1:0]   last_i,   // the last beat of a result
  output logic [Ways-1:0]   ready_o,
  output logic [W-1:0]      data_o,
  output logic              valid_o,
  output logic              last_o,
  input  logic              ready_i
);
  logic [Ways-1:0] turn_q;  // one bit set: whose turn it is

  assign valid_o = |(turn_q & valid_i);
  assign last_o  = |(turn_q & last_i);
  assign ready_o = turn_q & {Ways{ready_i}};

  always_comb begin
    data_o = '0;
    for (int unsigned k = 0; k < Ways; k++) data_o |= data_i[k*W+:W] & {W{turn_q[k]}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= Ways'(1);
    else if (valid_o && last_o && ready_i) turn_q <= Ways'({turn_q, turn_q[Ways-1]});
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) assert_one_turn : assert ($onehot(turn_q));
  end
`endif
endmodule
