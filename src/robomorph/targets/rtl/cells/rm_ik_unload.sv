// Sends results as an AXI4-Stream, in the order in which their problems came: a header, then the angles, which are
// read while nobody else does. A word on offer stands in a register.
module rm_ik_unload #(
  parameter int unsigned Problems    = 2,
  parameter int unsigned IndexW      = 1,
  parameter int unsigned Coordinates = 7,
  parameter int unsigned PlaceW      = 3,
  parameter int unsigned SquareW     = 42,
  parameter int unsigned CountW      = 24,
  parameter int unsigned ThetaW      = 25
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [Problems-1:0]         ready_i,       // results that wait
  input  logic [Problems*2-1:0]       status_i,
  input  logic [Problems-1:0]         flag_i,
  input  logic [Problems*CountW-1:0]  iterations_i,
  input  logic [Problems*SquareW-1:0] square_i,
  input  logic                        busy_i,        // another reads the memory of angles
  output logic [PlaceW-1:0]           place_o,
  output logic [IndexW-1:0]           at_o,
  input  logic [ThetaW-1:0]           theta_i,
  output logic                        sent_o,
  output logic [31:0]                 m_axis_tdata,
  output logic                        m_axis_tvalid,
  input  logic                        m_axis_tready,
  output logic                        m_axis_tlast,
  output logic                        m_axis_tuser,
  output logic                        overflow_o     // sticky
);
  localparam int unsigned Header = 4;
  localparam int unsigned CountingW = $clog2(Header + Coordinates);
  localparam logic [CountingW-1:0] Last = CountingW'(Header + Coordinates - 1);

  logic [CountingW-1:0] word_q;
  logic [IndexW-1:0]    at_q;
  logic                 load, last, valid_q, last_q, user_q, overflow_q;
  logic [31:0]          word, data_q;
  logic [63:0]          square;

  assign at_o    = at_q;
  assign place_o = PlaceW'(word_q - CountingW'(Header));
  assign last    = word_q == Last;
  assign load    = ready_i[at_q] && (!valid_q || m_axis_tready) && (word_q < CountingW'(Header) || !busy_i);
  assign sent_o  = load && last;
  assign square  = 64'(square_i[at_q*SquareW+:SquareW]);

  always_comb begin
    unique case (word_q)
      CountingW'(0): word = {27'b0, flag_i[at_q], 2'b0, status_i[at_q*2+:2]};
      CountingW'(1): word = 32'(iterations_i[at_q*CountW+:CountW]);
      CountingW'(2): word = square[31:0];
      CountingW'(3): word = square[63:32];
      default:       word = 32'($signed(theta_i));
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q     <= '0;
      at_q       <= '0;
      valid_q    <= 1'b0;
      overflow_q <= 1'b0;
    end else begin
      if (load) begin
        word_q     <= last ? '0 : word_q + CountingW'(1);
        overflow_q <= overflow_q || flag_i[at_q];
        if (last) at_q <= at_q == IndexW'(Problems - 1) ? '0 : at_q + IndexW'(1);
      end
      valid_q <= load || (valid_q && !m_axis_tready);
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      data_q <= word;
      last_q <= last;
      user_q <= flag_i[at_q];
    end
  end

  assign m_axis_tdata  = data_q;
  assign m_axis_tvalid = valid_q;
  assign m_axis_tlast  = last_q;
  assign m_axis_tuser  = user_q;
  assign overflow_o    = overflow_q;
endmodule
