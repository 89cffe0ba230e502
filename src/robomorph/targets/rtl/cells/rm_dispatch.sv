// Sends the states of one stream to several receivers in turn: all beats of a state to one of them. Only the
// handshake passes here, without a cycle; data goes to all receivers, and those whose turn it is not see nothing
// valid.
module rm_dispatch #(
  parameter int unsigned Ways  = 2,
  parameter int unsigned Beats = 16  // of a state
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  output logic            ready_o,
  output logic [Ways-1:0] valid_o,
  input  logic [Ways-1:0] ready_i
);
  localparam int unsigned CountW = Beats > 1 ? $clog2(Beats) : 1;
  localparam logic [CountW-1:0] Last = CountW'(Beats - 1);

  logic [Ways-1:0]   turn_q;  // one bit set: whose turn it is
  logic [CountW-1:0] count_q;

  assign valid_o = turn_q & {Ways{valid_i}};
  assign ready_o = |(turn_q & ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q  <= Ways'(1);
      count_q <= '0;
    end else if (valid_i && ready_o) begin
      count_q <= count_q == Last ? '0 : count_q + CountW'(1);
      if (count_q == Last) turn_q <= Ways'({turn_q, turn_q[Ways-1]});
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) assert_one_turn : assert ($onehot(turn_q));
  end
`endif
endmodule
