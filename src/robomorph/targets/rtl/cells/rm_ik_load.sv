// Takes problems from an AXI4-Stream: the header into registers of the problem, angles to a memory, which may be
// busy. Problems are given their places in turn.
module rm_ik_load #(
  parameter int unsigned Problems    = 2,
  parameter int unsigned IndexW      = 1,
  parameter int unsigned Coordinates = 7,
  parameter int unsigned PlaceW      = 3,   // of a coordinate's number
  parameter int unsigned TargetW     = 20,
  parameter int unsigned SquareW     = 42,
  parameter int unsigned CountW      = 24,
  parameter int unsigned ThetaW      = 25,
  parameter int unsigned MostLog     = 6    // log2 of the most speculations
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [31:0]                   s_axis_tdata,
  input  logic                          s_axis_tvalid,
  output logic                          s_axis_tready,
  input  logic                          s_axis_tlast,
  output logic                          misaligned_o,  // sticky
  input  logic [Problems-1:0]           empty_i,
  input  logic                          busy_i,        // the memory of angles is written by another
  output logic                          loaded_o,
  output logic [IndexW-1:0]             at_o,
  output logic                          write_o,       // an angle
  output logic [PlaceW-1:0]             place_o,
  output logic [ThetaW-1:0]             theta_o,
  output logic [Problems*3*TargetW-1:0] target_o,
  output logic [Problems*SquareW-1:0]   threshold_o,
  output logic [Problems*CountW-1:0]    cap_o,
  output logic [Problems*8-1:0]         patience_o,
  output logic [Problems*16-1:0]        seed_o,
  output logic [Problems-1:0]           relaxed_o,
  output logic [Problems-1:0]           newton_o,
  output logic [Problems*4-1:0]         log_o          // log2 of the speculations
);
  localparam int unsigned Header = 7;
  localparam int unsigned CountingW = $clog2(Header + Coordinates);
  localparam logic [CountingW-1:0] Last = CountingW'(Header + Coordinates - 1);

  logic [CountingW-1:0] word_q;
  logic [IndexW-1:0]    at_q;
  logic                 misaligned_q, accept, in_header;
  logic [31:0]          low_q;

  assign in_header     = word_q < CountingW'(Header);
  assign s_axis_tready = empty_i[at_q] && (in_header || !busy_i);
  assign accept        = s_axis_tvalid && s_axis_tready;
  assign write_o       = accept && !in_header;
  assign place_o       = PlaceW'(word_q - CountingW'(Header));
  assign theta_o       = s_axis_tdata[ThetaW-1:0];
  assign at_o          = at_q;
  assign loaded_o      = accept && word_q == Last;
  assign misaligned_o  = misaligned_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q       <= '0;
      at_q         <= '0;
      misaligned_q <= 1'b0;
    end else if (accept) begin
      word_q       <= loaded_o ? '0 : word_q + CountingW'(1);
      misaligned_q <= misaligned_q || (s_axis_tlast != loaded_o);
      if (loaded_o) at_q <= at_q == IndexW'(Problems - 1) ? '0 : at_q + IndexW'(1);
    end
  end

  always_ff @(posedge clk_i) if (accept && word_q == CountingW'(3)) low_q <= s_axis_tdata;

  for (genvar k = 0; k < Problems; k++) begin : gen_problem
    logic mine;
    assign mine = accept && at_q == IndexW'(k);
    for (genvar a = 0; a < 3; a++) begin : gen_axis
      always_ff @(posedge clk_i) begin
        if (mine && word_q == CountingW'(a)) target_o[(3*k+a)*TargetW+:TargetW] <= s_axis_tdata[TargetW-1:0];
      end
    end
    always_ff @(posedge clk_i) begin
      if (mine && word_q == CountingW'(4)) threshold_o[k*SquareW+:SquareW] <= SquareW'({s_axis_tdata, low_q});
      if (mine && word_q == CountingW'(5)) cap_o[k*CountW+:CountW] <= s_axis_tdata[CountW-1:0];
      if (mine && word_q == CountingW'(6)) begin
        relaxed_o[k]         <= s_axis_tdata[0];
        newton_o[k]          <= s_axis_tdata[1];
        log_o[k*4+:4]        <= s_axis_tdata[7:4] > 4'(MostLog) ? 4'(MostLog) : s_axis_tdata[7:4];
        patience_o[k*8+:8]   <= s_axis_tdata[15:8];
        seed_o[k*16+:16]     <= s_axis_tdata[31:16];
      end
    end
  end

`ifndef SYNTHESIS
  // AXI4-Stream: whoever sends keeps an offered beat until it is taken.
  logic        waiting_q;
  logic [31:0] offered_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
      offered_q <= '0;
    end else begin
      waiting_q <= s_axis_tvalid && !s_axis_tready;
      offered_q <= s_axis_tdata;
      assert_stable : assert (!waiting_q || (s_axis_tvalid && s_axis_tdata == offered_q));
    end
  end
`endif
endmodule
