// The angles, or slides, of one joint that a search unit tries: the first is theta and so many steps, every
// further one a stride more. Inside the joint's limits, if it has any, a cycle later.
module rm_ik_angle #(
  parameter int unsigned W       = 31,  // of theta and step
  parameter int unsigned OutW    = 39,  // of what is tried
  parameter int unsigned First   = 1,   // steps of the first that this unit tries
  parameter int unsigned FirstW  = 7,
  parameter int unsigned Stride  = 2,   // log2 of the steps to the next
  parameter bit          Limited = 1'b0
) (
  input  logic                   clk_i,
  input  logic                   load_i,     // the first, from theta and step a cycle before
  input  logic signed [W-1:0]    theta_i,
  input  logic signed [W-1:0]    step_i,
  input  logic                   clamped_i,  // of the joint that is two cycles old
  input  logic signed [W-1:0]    lower_i,
  input  logic signed [W-1:0]    upper_i,
  output logic signed [OutW-1:0] tried_o
);
  logic signed [OutW-1:0] lead, lead_q, tried_q, stride;
  logic signed [W-1:0]    theta_q, step_q;

  assign stride = OutW'(step_q) <<< Stride;

  // A product with a constant: adders will do.
  always_comb begin
    lead = '0;
    for (int unsigned k = 0; k < FirstW; k++) if (First[k]) lead = lead + (OutW'(step_i) <<< k);
  end

  always_ff @(posedge clk_i) begin
    lead_q  <= lead;
    theta_q <= theta_i;
    step_q  <= step_i;
    tried_q <= load_i ? lead_q + OutW'(theta_q) : tried_q + stride;
  end

  if (Limited) begin : gen_limits
    always_ff @(posedge clk_i) begin
      if (clamped_i && tried_q < OutW'(lower_i)) tried_o <= OutW'(lower_i);
      else if (clamped_i && tried_q > OutW'(upper_i)) tried_o <= OutW'(upper_i);
      else tried_o <= tried_q;
    end
  end else begin : gen_free
    logic unused_limits;
    assign unused_limits = ^{clamped_i, lower_i, upper_i};
    assign tried_o       = tried_q;
  end
endmodule
