// Words that wait for a later cycle: one port to write, one to read. Reading takes no cycle, so that the
// memories of small lookup tables (LUTRAM) will do; where a technology has none, it becomes registers.
module rm_memory #(
  parameter int unsigned W     = 18,
  parameter int unsigned Depth = 16,  // a power of two
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             write_i,
  input  logic [AddrW-1:0] write_addr_i,
  input  logic [W-1:0]     data_i,
  input  logic [AddrW-1:0] read_addr_i,
  output logic [W-1:0]     data_o
);
  logic [W-1:0] words_q [Depth];

  assign data_o = words_q[read_addr_i];

  always_ff @(posedge clk_i) if (write_i) words_q[write_addr_i] <= data_i;

`ifndef SYNTHESIS
  initial assert_power_of_two : assert (Depth > 1 && Depth == 1 << AddrW);
`endif
endmodule
