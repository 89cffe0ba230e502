// M = J J^T, exact: every column's six products on two multipliers, in three cycles. Columns come no faster.
module rm_ik_gram #(
  parameter int unsigned W    = 20,
  parameter int unsigned SumW = 44
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              clear_i,   // before the first column
  input  logic              valid_i,
  input  logic [3*W-1:0]    column_i,  // held for three cycles
  output logic [6*SumW-1:0] gram_o     // xx, xy, xz, yy, yz, zz; whole four cycles after the last column
);
  logic [1:0]            turn_q, turn, added_q;
  logic                  busy_q, busy, adding_q;
  logic signed [W-1:0]   x, y, z, a, b, c, d;
  logic signed [2*W-1:0] first_q, second_q;
  logic [5:0][SumW-1:0]  sums_q;

  assign {z, y, x} = column_i;
  assign turn      = valid_i ? 2'd0 : turn_q;
  assign busy      = valid_i || busy_q;

  always_comb begin
    unique case (turn)
      2'd0:    {a, b, c, d} = {x, x, x, y};
      2'd1:    {a, b, c, d} = {x, z, y, y};
      default: {a, b, c, d} = {y, z, z, z};
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      adding_q <= 1'b0;
    end else begin
      busy_q   <= busy && turn != 2'd2;
      adding_q <= busy;
    end
  end

  always_ff @(posedge clk_i) begin
    turn_q   <= turn + 2'd1;
    added_q  <= turn;
    first_q  <= a * b;
    second_q <= c * d;
    for (int unsigned k = 0; k < 3; k++) begin
      if (clear_i) begin
        sums_q[2*k]   <= '0;
        sums_q[2*k+1] <= '0;
      end else if (adding_q && added_q == 2'(k)) begin
        sums_q[2*k]   <= sums_q[2*k] + SumW'(first_q);
        sums_q[2*k+1] <= sums_q[2*k+1] + SumW'(second_q);
      end
    end
  end
  assign gram_o = sums_q;
endmodule
