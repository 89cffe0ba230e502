// Words in a memory with one port to write and two to read; a word that is being written is read as it was.
module rm_memory_two #(
  parameter int unsigned W     = 32,
  parameter int unsigned Depth = 2,
  localparam int unsigned AddrW = Depth > 1 ? $clog2(Depth) : 1
) (
  input  logic             clk_i,
  input  logic             write_i,
  input  logic [AddrW-1:0] write_addr_i,
  input  logic [W-1:0]     data_i,
  input  logic [AddrW-1:0] first_addr_i,
  output logic [W-1:0]     first_o,
  input  logic [AddrW-1:0] second_addr_i,
  output logic [W-1:0]     second_o
);
  logic [W-1:0] words[Depth];

  assign first_o  = words[first_addr_i];
  assign second_o = words[second_addr_i];

  always_ff @(posedge clk_i) if (write_i) words[write_addr_i] <= data_i;
endmodule
