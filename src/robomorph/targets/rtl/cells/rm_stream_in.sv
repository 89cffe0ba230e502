// Collects the beats of one state from an AXI4-Stream and offers them side by side.
module rm_stream_in #(
  parameter int unsigned DataW = 128,
  parameter int unsigned Beats = 16,
  localparam int unsigned CountW = Beats > 1 ? $clog2(Beats) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [DataW-1:0]       s_axis_tdata,
  input  logic                   s_axis_tvalid,
  output logic                   s_axis_tready,
  input  logic                   s_axis_tlast,
  output logic                   misaligned_o,  // sticky: tlast was not where a state ends
  output logic                   full_o,
  input  logic                   take_i,
  output logic [CountW-1:0]      beat_o,        // the number of the next beat in its state
  output logic [Beats*DataW-1:0] data_o
);
  localparam logic [CountW-1:0] Last = CountW'(Beats - 1);

  logic [Beats-1:0][DataW-1:0] data_q;
  logic [CountW-1:0]           count_q;
  logic                        full_q, misaligned_q, accept;

  assign accept        = s_axis_tvalid && s_axis_tready;
  assign s_axis_tready = !full_q;
  assign full_o        = full_q;
  assign beat_o        = count_q;
  assign data_o        = data_q;
  assign misaligned_o  = misaligned_q;

  // An enable per beat. Writing data_q[count_q] says the same, but tools make a shifter as wide as all beats of it.
  for (genvar k = 0; k < Beats; k++) begin : gen_beat
    always_ff @(posedge clk_i) if (accept && count_q == CountW'(k)) data_q[k] <= s_axis_tdata;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q      <= '0;
      full_q       <= 1'b0;
      misaligned_q <= 1'b0;
    end else begin
      if (accept) begin
        count_q      <= count_q == Last ? '0 : count_q + CountW'(1);
        misaligned_q <= misaligned_q || (s_axis_tlast != (count_q == Last));
      end
      full_q <= full_q ? !take_i : accept && count_q == Last;
    end
  end

`ifndef SYNTHESIS
  // AXI4-Stream: whoever sends keeps an offered beat until it is taken. Nothing is taken that is not there.
  logic             waiting_q;
  logic [DataW-1:0] offered_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
      offered_q <= '0;
    end else begin
      waiting_q <= s_axis_tvalid && !s_axis_tready;
      offered_q <= s_axis_tdata;
      assert_stable : assert (!waiting_q || (s_axis_tvalid && s_axis_tdata == offered_q));
      assert_taken_full : assert (!(take_i && !full_q));
    end
  end
`endif
endmodule
