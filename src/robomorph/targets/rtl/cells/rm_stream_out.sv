// Holds one result and sends it beat by beat as an AXI4-Stream; tuser tells that an operation saturated.
module rm_stream_out #(
  parameter int unsigned DataW = 256,
  parameter int unsigned Beats = 13,
  localparam int unsigned CountW = Beats > 1 ? $clog2(Beats) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   load_i,  // only while not busy
  input  logic [Beats*DataW-1:0] data_i,
  input  logic                   flag_i,
  output logic                   busy_o,
  output logic [CountW-1:0]      beat_o,  // the number of the beat on offer in its result
  output logic [DataW-1:0]       m_axis_tdata,
  output logic                   m_axis_tvalid,
  input  logic                   m_axis_tready,
  output logic                   m_axis_tlast,
  output logic                   m_axis_tuser
);
  localparam logic [CountW-1:0] Last = CountW'(Beats - 1);

  logic [Beats-1:0][DataW-1:0] data_q;
  logic [CountW-1:0]           count_q;
  logic                        busy_q, flag_q;

  assign busy_o        = busy_q;
  assign beat_o        = count_q;
  assign m_axis_tvalid = busy_q;
  assign m_axis_tdata  = data_q[count_q];
  assign m_axis_tlast  = count_q == Last;
  assign m_axis_tuser  = flag_q;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      data_q <= data_i;
      flag_q <= flag_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      count_q <= '0;
    end else if (load_i) begin
      busy_q  <= 1'b1;
      count_q <= '0;
    end else if (busy_q && m_axis_tready) begin
      busy_q  <= count_q != Last;
      count_q <= count_q == Last ? '0 : count_q + CountW'(1);
    end
  end

`ifndef SYNTHESIS
  // AXI4-Stream: an offered beat stays until it is taken. A result must not overwrite another.
  logic             waiting_q;
  logic [DataW-1:0] offered_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
      offered_q <= '0;
    end else begin
      waiting_q <= m_axis_tvalid && !m_axis_tready;
      offered_q <= m_axis_tdata;
      assert_stable : assert (!waiting_q || (m_axis_tvalid && m_axis_tdata == offered_q));
      assert_not_lost : assert (!(load_i && busy_q));
    end
  end
`endif
endmodule
