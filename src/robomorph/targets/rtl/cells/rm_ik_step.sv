// A K-th of a coordinate's step: the product of its column and the weights, shifted as they say, rounded and
// saturated; of joints that slide, times a factor that brings it to their units. Five cycles, or seven.
module rm_ik_step #(
  parameter int unsigned W          = 20,
  parameter int unsigned WeightW    = 24,
  parameter int unsigned ShiftW     = 6,
  parameter int unsigned DeltaW     = 31,
  parameter bit          Scaled     = 1'b0,
  parameter int unsigned FactorW    = 18,
  parameter int unsigned FactorFrac = 16
) (
  input  logic                     clk_i,
  input  logic                     zero_i,      // no step yet; held through the search
  input  logic [3*W-1:0]           column_i,
  input  logic [3*WeightW-1:0]     weights_i,   // held through the search, as is the shift
  input  logic [ShiftW-1:0]        shift_i,
  input  logic signed [FactorW-1:0] factor_i,   // in the sixth cycle
  output logic signed [DeltaW-1:0] delta_o,
  output logic                     overflow_o   // after five cycles
);
  localparam int unsigned ProductW = W + WeightW;
  localparam int unsigned SumW     = ProductW + 2;

  logic [3*W-1:0]               column_q;
  logic signed [3*ProductW-1:0] product_q;
  logic signed [SumW-1:0]       sum_q;
  logic signed [SumW:0]         moved_q;   // one place more than the result has
  logic signed [DeltaW-1:0]     delta, delta_q;
  logic                         lost, lost_q;

  for (genvar a = 0; a < 3; a++) begin : gen_axis
    always_ff @(posedge clk_i) begin
      product_q[a*ProductW+:ProductW] <=
        ProductW'($signed(column_q[a*W+:W])) * ProductW'($signed(weights_i[a*WeightW+:WeightW]));
    end
  end

  always_ff @(posedge clk_i) begin
    column_q <= zero_i ? '0 : column_i;
    sum_q    <= SumW'($signed(product_q[0+:ProductW])) + SumW'($signed(product_q[ProductW+:ProductW]))
              + SumW'($signed(product_q[2*ProductW+:ProductW]));
    moved_q  <= shift_i == '0 ? $signed({sum_q, 1'b0}) : (SumW + 1)'(sum_q) >>> (shift_i - ShiftW'(1));
    delta_q  <= delta;
    lost_q   <= lost;
  end

  rm_round #(
    .InW  (SumW + 1),
    .Shift(1),
    .OutW (DeltaW)
  ) u_round (
    .x_i       (moved_q),
    .y_o       (delta),
    .overflow_o(lost)
  );
  assign overflow_o = lost_q;

  if (Scaled) begin : gen_scale
    logic signed [DeltaW+FactorW-1:0] scaled_q;
    logic signed [DeltaW-1:0]         rounded, rounded_q;
    logic                             unused_lost;
    rm_round #(
      .InW  (DeltaW + FactorW),
      .Shift(FactorFrac),
      .OutW (DeltaW)
    ) u_scale (
      .x_i       (scaled_q),
      .y_o       (rounded),
      .overflow_o(unused_lost)  // factors are at most one
    );
    always_ff @(posedge clk_i) begin
      scaled_q  <= delta_q * factor_i;
      rounded_q <= rounded;
    end
    assign delta_o = rounded_q;
  end else begin : gen_plain
    logic unused_factor;
    assign unused_factor = ^factor_i;
    assign delta_o       = delta_q;
  end
endmodule
