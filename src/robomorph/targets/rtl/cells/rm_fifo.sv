// A queue with valid and ready on both sides. What enters in one cycle can leave in the next.
module rm_fifo #(
  parameter int unsigned W     = 32,
  parameter int unsigned Depth = 16  // a power of two
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [W-1:0] data_i,
  input  logic         valid_i,
  output logic         ready_o,
  output logic [W-1:0] data_o,
  output logic         valid_o,
  input  logic         ready_i
);
  localparam int unsigned AddrW = $clog2(Depth);

  // One bit more than an address needs tells a full queue from an empty one.
  logic [AddrW:0] in_q, out_q;
  logic           enter, leave;

  assign ready_o = in_q != (out_q ^ {1'b1, {AddrW{1'b0}}});
  assign valid_o = in_q != out_q;
  assign enter   = valid_i && ready_o;
  assign leave   = valid_o && ready_i;

  rm_memory #(
    .W    (W),
    .Depth(Depth)
  ) u_memory (
    .clk_i,
    .write_i     (enter),
    .write_addr_i(in_q[AddrW-1:0]),
    .data_i,
    .read_addr_i (out_q[AddrW-1:0]),
    .data_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_q  <= '0;
      out_q <= '0;
    end else begin
      if (enter) in_q <= in_q + (AddrW + 1)'(1);
      if (leave) out_q <= out_q + (AddrW + 1)'(1);
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) assert_not_overfull : assert (in_q - out_q <= (AddrW + 1)'(Depth));
  end
`endif
endmodule
