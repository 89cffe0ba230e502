// Holds a coordinate at its limit: its column is zero if it is at an end and the error pushes it further. Three
// cycles.
module rm_ik_held #(
  parameter int unsigned W      = 20,
  parameter int unsigned ErrorW = 21
) (
  input  logic                clk_i,
  input  logic [3*W-1:0]      column_i,
  input  logic [3*ErrorW-1:0] error_i,
  input  logic                low_i,     // at its lower limit, in the first cycle
  input  logic                high_i,
  output logic [3*W-1:0]      column_o
);
  localparam int unsigned ProductW = W + ErrorW;

  logic signed [3*ProductW-1:0] product_q;
  logic signed [ProductW+1:0]   push_q;
  logic [3*W-1:0]               column_q, column_qq;
  logic [1:0]                   low_q, high_q;

  for (genvar a = 0; a < 3; a++) begin : gen_axis
    always_ff @(posedge clk_i) begin
      product_q[a*ProductW+:ProductW] <= $signed(column_i[a*W+:W]) * $signed(error_i[a*ErrorW+:ErrorW]);
    end
  end

  always_ff @(posedge clk_i) begin
    push_q <= (ProductW + 2)'($signed(product_q[0+:ProductW]))
            + (ProductW + 2)'($signed(product_q[ProductW+:ProductW]))
            + (ProductW + 2)'($signed(product_q[2*ProductW+:ProductW]));
    column_q  <= column_i;
    column_qq <= column_q;
    low_q     <= {low_q[0], low_i};
    high_q    <= {high_q[0], high_i};
    column_o  <= (low_q[1] && push_q < 0) || (high_q[1] && push_q > 0) ? '0 : column_qq;
  end
endmodule
