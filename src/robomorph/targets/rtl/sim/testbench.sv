// Streams the vectors through a design with pauses on both sides and compares every result word.
// The macros of vectors.svh name the design and the shapes; run with --binary, or in any simulator.
`include "vectors.svh"
`ifndef RM_TOO_LONG
`define RM_TOO_LONG 100_000
`endif
module testbench;
  localparam int unsigned DataIn  = `RM_LANES_IN * `RM_CONTAINER;
  localparam int unsigned DataOut = `RM_LANES_OUT * `RM_CONTAINER;
  localparam int unsigned BeatsIn  = `RM_STATES * `RM_BEATS_IN;
  localparam int unsigned BeatsOut = `RM_STATES * `RM_BEATS_OUT;

  logic clk = 1'b0, rst_n = 1'b0;
  logic [DataIn-1:0]  s_tdata;
  logic               s_tvalid, s_tready, s_tlast;
  logic [DataOut-1:0] m_tdata;
  logic               m_tvalid, m_tready, m_tlast, m_tuser, overflow, misaligned;

  logic [DataIn-1:0]  stimulus [BeatsIn];
  logic [DataOut:0]   expected [BeatsOut];  // the overflow flag above the data

  `RM_TOP dut (
    .clk_i(clk), .rst_ni(rst_n),
    .s_axis_tdata(s_tdata), .s_axis_tvalid(s_tvalid), .s_axis_tready(s_tready), .s_axis_tlast(s_tlast),
    .m_axis_tdata(m_tdata), .m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready), .m_axis_tlast(m_tlast),
    .m_axis_tuser(m_tuser), .overflow_o(overflow), .misaligned_o(misaligned)
  );

  always #5 clk = !clk;

  // Cycles after the last result in which no further beat may come, and without any beat that mean failure.
  localparam int unsigned Quiet = 100, TooLong = `RM_TOO_LONG;

  int unsigned sent, next, got, wrong, cycle, noise, still;
  // The beat offered now, if any, is accepted at the next edge.
  assign next = s_tvalid && s_tready ? sent + 1 : sent;

  initial begin
    $readmemh("stimulus.hex", stimulus);
    $readmemh("expected.hex", expected);
    repeat (4) @(negedge clk);
    rst_n = 1'b1;
  end

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      sent     <= 0;
      noise    <= 1;
      cycle    <= 0;
      s_tvalid <= 1'b0;
      s_tlast  <= 1'b0;
      s_tdata  <= '0;
      m_tready <= 1'b0;
    end else begin
      cycle    <= cycle + 1;
      noise    <= noise * 1664525 + 1013904223;
      m_tready <= noise[27:26] != 2'b00;
      sent     <= next;
      // AXI4-Stream: an offered beat stays until it is accepted.
      if (!s_tvalid || s_tready) begin
        s_tvalid <= next < BeatsIn && noise[31:30] != 2'b00;
        s_tdata  <= stimulus[next < BeatsIn ? next : 0];
        s_tlast  <= (next % `RM_BEATS_IN) == `RM_BEATS_IN - 1;
      end
    end
  end

  // Unknown bits count as wrong.
  logic beat, wrong_beat;
  logic [DataOut:0] wanted;
  assign beat       = m_tvalid && m_tready;
  assign wanted     = expected[got < BeatsOut ? got : 0];
  assign wrong_beat = got >= BeatsOut || {m_tuser, m_tdata} !== wanted ||
                      m_tlast !== (got % `RM_BEATS_OUT == `RM_BEATS_OUT - 1);

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      got   <= 0;
      wrong <= 0;
      still <= 0;
    end else if (beat) begin
      got   <= got + 1;
      still <= 0;
      if (wrong_beat) begin
        wrong <= wrong + 1;
        if (got < BeatsOut) $display("beat %0d: expected %h, found %h", got, wanted, {m_tuser, m_tdata});
        else $display("beat %0d: none expected, found %h", got, {m_tuser, m_tdata});
      end
      if (got == BeatsOut - 1) $display("%0d states in %0d cycles", `RM_STATES, cycle);
    end else begin
      still <= still + 1;
      if (got >= BeatsOut && still == Quiet) begin
        $display("%0d wrong beats", wrong);
        if (wrong != 0 || misaligned !== 1'b0) $fatal(1, "FAILED");
        $display("PASSED%s", overflow ? " (some states saturate, as expected)" : "");
        $finish;
      end
      if (still == TooLong) $fatal(1, "FAILED: no beat for %0d cycles after beat %0d", TooLong, got);
    end
  end
endmodule
