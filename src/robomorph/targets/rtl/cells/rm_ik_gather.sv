// A joint's share of its coordinate's column: the column times the joint's ratio, rounded and saturated, added to
// what joints of the coordinate further in gave. Three cycles.
module rm_ik_gather #(
  parameter int unsigned W           = 20,
  parameter int unsigned RatioW      = 26,
  parameter int unsigned Frac        = 22,
  parameter int unsigned Coordinates = 7,
  parameter int unsigned PlaceW      = 3
) (
  input  logic              clk_i,
  input  logic              valid_i,
  input  logic              clear_i,    // all coordinates, ahead of a pass
  input  logic [PlaceW-1:0] place_i,
  input  logic [3*W-1:0]    column_i,
  input  logic signed [RatioW-1:0] ratio_i,
  output logic [3*W-1:0]    column_o,
  output logic              overflow_o
);
  logic [Coordinates-1:0][3*W-1:0] sums_q;
  logic [PlaceW-1:0]               place_q, place_qq;
  logic                            valid_q, valid_qq;
  logic [3*W-1:0]                  scaled_q, so_far;
  logic [2:0]                      lost_q, lost_scale, lost_sum;
  logic [3*W-1:0]                  scaled, sums;

  for (genvar a = 0; a < 3; a++) begin : gen_axis
    logic signed [W+RatioW-1:0] product_q;
    logic signed [W:0]          sum;
    always_ff @(posedge clk_i) product_q <= $signed(column_i[a*W+:W]) * ratio_i;
    rm_round #(
      .InW  (W + RatioW),
      .Shift(Frac),
      .OutW (W)
    ) u_scale (
      .x_i       (product_q),
      .y_o       (scaled[a*W+:W]),
      .overflow_o(lost_scale[a])
    );
    assign sum = (W + 1)'($signed(so_far[a*W+:W])) + (W + 1)'($signed(scaled_q[a*W+:W]));
    rm_round #(
      .InW  (W + 1),
      .Shift(0),
      .OutW (W)
    ) u_sum (
      .x_i       (sum),
      .y_o       (sums[a*W+:W]),
      .overflow_o(lost_sum[a])
    );
  end

  assign so_far = sums_q[place_qq];

  always_ff @(posedge clk_i) begin
    valid_q    <= valid_i;
    valid_qq   <= valid_q;
    place_q    <= place_i;
    place_qq   <= place_q;
    scaled_q   <= scaled;
    lost_q     <= lost_scale;
    column_o   <= sums;
    overflow_o <= valid_qq && (|lost_q || |lost_sum);
    if (valid_qq) sums_q[place_qq] <= sums;
    if (clear_i) sums_q <= '0;
  end
endmodule
