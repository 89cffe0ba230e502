// Some steps of a restoring division, and a register after them.
module rm_recip_stage #(
  parameter int unsigned W     = 32,
  parameter int unsigned First = 0,  // the steps done here: First up to, not including, Last
  parameter int unsigned Last  = 1
) (
  input  logic         clk_i,
  input  logic         en_i,
  input  logic         negative_i,
  input  logic         lost_i,       // a quotient bit left the word
  input  logic [W-1:0] divisor_i,
  input  logic [W-1:0] remainder_i,
  input  logic [W:0]   quotient_i,
  output logic         negative_o,
  output logic         lost_o,
  output logic [W-1:0] divisor_o,
  output logic [W-1:0] remainder_o,
  output logic [W:0]   quotient_o
);
  logic [W-1:0] remainder;
  logic [W:0]   quotient, partial;
  logic         lost, fits;

  always_comb begin
    remainder = remainder_i;
    quotient  = quotient_i;
    lost      = lost_i;
    partial   = '0;
    fits      = 1'b0;
    for (int unsigned j = First; j < Last; j++) begin
      // The dividend is a power of two: one, then zeros.
      partial   = {remainder, j == 0};
      fits      = partial >= {1'b0, divisor_i};
      partial   = fits ? partial - {1'b0, divisor_i} : partial;
      remainder = partial[W-1:0];
      lost      = lost || quotient[W];
      quotient  = {quotient[W-1:0], fits};
    end
  end

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      negative_o  <= negative_i;
      lost_o      <= lost;
      divisor_o   <= divisor_i;
      remainder_o <= remainder;
      quotient_o  <= quotient;
    end
  end
endmodule
