// An angle after the chosen step: theta + k delta, rounded to the angle's places, inside its limits if it has any;
// others wrap. Four cycles; the limits are wanted in the last of them.
module rm_ik_move #(
  parameter int unsigned ThetaW  = 25,
  parameter int unsigned DeltaW  = 31,  // ThetaW and the guard bits
  parameter int unsigned StepW   = 7,
  parameter bit          Limited = 1'b0
) (
  input  logic                     clk_i,
  input  logic signed [ThetaW-1:0] theta_i,
  input  logic signed [DeltaW-1:0] delta_i,
  input  logic [StepW-1:0]         step_i,
  input  logic                     clamped_i,
  input  logic signed [ThetaW-1:0] lower_i,
  input  logic signed [ThetaW-1:0] upper_i,
  output logic signed [ThetaW-1:0] theta_o
);
  localparam int unsigned Guard    = DeltaW - ThetaW;
  localparam int unsigned ProductW = DeltaW + StepW + 1;
  localparam int unsigned MovedW   = ProductW + 2 - Guard;

  logic signed [ThetaW-1:0]   theta_q, waiting_q;
  logic signed [DeltaW-1:0]   delta_q;
  logic signed [ProductW-1:0] product_q;
  logic signed [ProductW:0]   sum_q;
  logic signed [MovedW-1:0]   moved;

  always_ff @(posedge clk_i) begin
    theta_q   <= theta_i;
    delta_q   <= delta_i;
    product_q <= delta_q * $signed({1'b0, step_i});
    waiting_q <= theta_q;
    sum_q     <= (ProductW + 1)'(product_q) + ((ProductW + 1)'(waiting_q) <<< Guard);
  end

  if (Guard == 0) begin : gen_exact
    assign moved = MovedW'(sum_q);
  end else begin : gen_round
    assign moved = MovedW'($signed(sum_q[ProductW:Guard])) + $signed(MovedW'({1'b0, sum_q[Guard-1]}));
    if (Guard > 1) begin : gen_dropped
      logic unused_dropped;
      assign unused_dropped = ^sum_q[Guard-2:0];
    end
  end

  if (Limited) begin : gen_limits
    logic signed [ThetaW-1:0] held;
    always_comb begin
      held = moved[ThetaW-1:0];
      if (clamped_i) begin
        if (moved < MovedW'(lower_i)) held = lower_i;
        else if (moved > MovedW'(upper_i)) held = upper_i;
      end
    end
    always_ff @(posedge clk_i) theta_o <= held;
  end else begin : gen_wraps
    logic unused_limits;
    assign unused_limits = ^{clamped_i, lower_i, upper_i, moved[MovedW-1:ThetaW]};
    always_ff @(posedge clk_i) theta_o <= moved[ThetaW-1:0];
  end
endmodule
