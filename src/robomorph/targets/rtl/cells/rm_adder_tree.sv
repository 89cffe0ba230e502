// y = the sum of terms, each shifted and added or subtracted: a balanced tree of adders no wider than their
// operands. Bits below a node's right operand pass by its adder.
module rm_adder_tree #(
  parameter int unsigned        W        = 32,
  parameter int unsigned        Terms    = 2,
  parameter logic [8*Terms-1:0] Shifts   = '0,  // left shifts, eight bits each, ascending
  parameter logic [Terms-1:0]   Negative = '0,  // terms that are subtracted
  localparam int unsigned       OutW     = W + 32'(Shifts[8*Terms-8+:8]) + 1
) (
  input  logic [Terms*W-1:0]     terms_i,
  output logic signed [OutW-1:0] y_o
);
  localparam int unsigned Levels = $clog2(Terms);

  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    for (genvar n = 0; n < (Terms + (1 << l) - 1) >> l; n++) begin : gen_node
      // The node sums terms First to Last: their sum, or its opposite if all of them are subtracted.
      localparam int unsigned First = n << l;
      localparam int unsigned End   = (n + 1) << l;
      localparam int unsigned Last  = (End < Terms ? End : Terms) - 1;
      localparam int unsigned Mid   = First + (1 << l) / 2;
      localparam int unsigned Low   = 32'(Shifts[8*First+:8]);
      // The node's bits Low to Low + NodeW - 1; those below are zero, those above are signs.
      localparam int unsigned NodeW = W + 32'(Shifts[8*Last+:8]) - Low + 1;

      logic signed [NodeW-1:0] sum;

      if (l == 0) begin : gen_term
        assign sum = NodeW'($signed(terms_i[n*W+:W]));
      end else if (Mid > Last) begin : gen_alone
        assign sum = gen_level[l-1].gen_node[2*n].sum;
      end else begin : gen_sum
        localparam bit LeftNegative  = &Negative[Mid-1:First];
        localparam bit RightNegative = &Negative[Last:Mid];
        localparam int unsigned Gap  = 32'(Shifts[8*Mid+:8]) - Low;

        logic signed [NodeW-1:0] left;
        logic signed [NodeW-Gap-1:0] right;
        assign left  = NodeW'(gen_level[l-1].gen_node[2*n].sum);
        assign right = (NodeW - Gap)'(gen_level[l-1].gen_node[2*n+1].sum);

        if (LeftNegative && !RightNegative) begin : gen_from_right
          assign sum = (NodeW'(right) <<< Gap) - left;
        end else begin : gen_from_left
          logic signed [NodeW-Gap-1:0] high;
          assign high = left[NodeW-1:Gap];
          assign sum[NodeW-1:Gap] = RightNegative && !LeftNegative ? high - right : high + right;
          if (Gap > 0) begin : gen_below
            assign sum[Gap-1:0] = left[Gap-1:0];
          end
        end
      end
    end
  end

  logic signed [OutW-1:0] total;
  assign total = OutW'(gen_level[Levels].gen_node[0].sum) <<< Shifts[7:0];
  assign y_o   = &Negative ? -total : total;
endmodule
