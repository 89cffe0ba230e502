// The selector: positions of all speculations are read from the units, Lanes at once, and the one nearest to the
// target is found, the lowest number of equals. A relaxed step is shortened by a share that was drawn; then the
// chosen position is read again.
module rm_ik_judge #(
  parameter int unsigned Units   = 4,
  parameter int unsigned Lanes   = 4,   // powers of two, as are the speculations
  parameter int unsigned W       = 18,  // of a position's word
  parameter int unsigned TargetW = 20,
  parameter int unsigned SquareW = 42,
  parameter int unsigned SlotW   = 4,   // of a unit's speculation
  parameter int unsigned StepW   = 7,   // of a step's number
  localparam int unsigned LaneW  = $clog2(Lanes),
  localparam int unsigned UnitW  = $clog2(Units),
  localparam int unsigned GroupW = Units > Lanes ? UnitW - LaneW : 1,
  localparam int unsigned ErrorW = TargetW + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,      // the first positions can be read in this cycle
  input  logic [StepW-1:0]     count_i,      // speculations; held, as all of the problem's words are
  input  logic [3*TargetW-1:0] target_i,
  input  logic [SquareW-1:0]   threshold_i,
  input  logic                 relaxed_i,
  input  logic [7:0]           draw_i,
  output logic [SlotW-1:0]     slot_o,       // which positions are read
  output logic [GroupW-1:0]    group_o,
  input  logic [3*W*Lanes-1:0] tips_i,
  output logic                 done_o,
  output logic [StepW-1:0]     step_o,
  output logic [SquareW-1:0]   square_o,
  output logic [3*W-1:0]       tip_o
);
  localparam int unsigned Groups = Units / Lanes;
  localparam int unsigned CountW = StepW;  // of groups read so far
  localparam int unsigned Deep   = 4 + LaneW;  // cycles from reading to the best of a group
  localparam int unsigned LowW   = ErrorW - 1 < 17 ? ErrorW - 1 : 17;  // what a multiplier of 18 bits squares
  localparam int unsigned HighW  = ErrorW - LowW;
  localparam int unsigned OuterW = ErrorW + HighW + 1;

  // --- reading: number the groups; the number of a step, less one, is slot, group and lane side by side ------
  logic              scanning_q, scanning, final_group;
  logic [CountW-1:0] scan_q, scan, groups, at;
  logic [StepW-1:0]  chosen_q, place;
  logic              again_q, again_qq;  // the chosen one is read

  always_comb begin
    groups = CountW'(count_i >> LaneW);
    if (groups < CountW'(Groups)) groups = CountW'(Groups);
  end
  assign scan        = start_i ? '0 : scan_q;
  assign scanning    = start_i || scanning_q;
  assign final_group = scan == groups - CountW'(1);
  assign place       = chosen_q - StepW'(1);
  assign at          = again_q ? CountW'(place >> LaneW) : scan;
  if (Groups > 1) begin : gen_groups
    assign group_o = at[GroupW-1:0];
    assign slot_o  = SlotW'(at >> GroupW);
  end else begin : gen_one_group
    assign group_o = '0;
    assign slot_o  = SlotW'(at);
  end

  // --- errors ------------------------------------------------------------------------------------------------
  logic [3*W*Lanes-1:0]      tips_q;
  logic [Lanes*SquareW-1:0]  squares_q;
  logic [Deep-1:0]             valid_q, last_q;   // by cycles since the reading
  logic [Deep-1:0][CountW-1:0] number_q;

  // e e = low low + (high (e + low)) 2^LowW, where e = high 2^LowW + low; high is short: adders will do.
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [3*ErrorW-1:0] error_q;
    logic [6*LowW-1:0]   inner_q;
    logic [3*OuterW-1:0] outer_q;
    for (genvar a = 0; a < 3; a++) begin : gen_axis
      logic signed [ErrorW-1:0] e;
      logic [HighW-1:0]         high;
      logic [LowW-1:0]          low;
      logic signed [OuterW-1:0] both, outer;
      assign e           = $signed(error_q[a*ErrorW+:ErrorW]);
      assign {high, low} = e;
      assign both        = OuterW'(e) + $signed(OuterW'({1'b0, low}));
      always_comb begin
        outer = '0;
        for (int unsigned b = 0; b < HighW; b++) begin
          if (high[b]) outer = b == HighW - 1 ? outer - (both <<< b) : outer + (both <<< b);
        end
      end
      always_ff @(posedge clk_i) begin
        error_q[a*ErrorW+:ErrorW] <= ErrorW'($signed(target_i[a*TargetW+:TargetW]))
                                   - ErrorW'($signed(tips_q[(3*l+a)*W+:W]));
        inner_q[a*2*LowW+:2*LowW] <= (2 * LowW)'(low) * (2 * LowW)'(low);
        outer_q[a*OuterW+:OuterW] <= outer;
      end
    end
    always_ff @(posedge clk_i) begin
      squares_q[l*SquareW+:SquareW] <=
        SquareW'(inner_q[0+:2*LowW]) + SquareW'(inner_q[2*LowW+:2*LowW]) + SquareW'(inner_q[4*LowW+:2*LowW]) +
        ((SquareW'($signed(outer_q[0+:OuterW])) + SquareW'($signed(outer_q[OuterW+:OuterW])) +
          SquareW'($signed(outer_q[2*OuterW+:OuterW]))) << LowW);
    end
  end

  // --- the best of a group: a tree with registers, where the left, of lower number, wins a tie -----------------
  logic [LaneW:0][Lanes-1:0][SquareW-1:0] tree;
  logic [LaneW:0][Lanes-1:0][StepW-1:0]   names;
  for (genvar l = 0; l < Lanes; l++) begin : gen_leaf
    logic [StepW-1:0] name;
    assign name        = StepW'(number_q[3] << LaneW) + StepW'(l + 1);
    assign names[0][l] = name;
    assign tree[0][l]  = name > count_i ? '1 : squares_q[l*SquareW+:SquareW];
  end
  for (genvar d = 1; d <= LaneW; d++) begin : gen_level
    for (genvar l = 0; l < Lanes >> d; l++) begin : gen_pair
      always_ff @(posedge clk_i) begin
        if (tree[d-1][2*l+1] < tree[d-1][2*l]) begin
          tree[d][l]  <= tree[d-1][2*l+1];
          names[d][l] <= names[d-1][2*l+1];
        end else begin
          tree[d][l]  <= tree[d-1][2*l];
          names[d][l] <= names[d-1][2*l];
        end
      end
    end
    for (genvar l = Lanes >> d; l < Lanes; l++) begin : gen_nothing
      assign tree[d][l]  = '0;
      assign names[d][l] = '0;
    end
  end

  // --- the best of all, the choice, and the chosen position ------------------------------------------------------
  logic [SquareW-1:0] best_q;
  logic [StepW-1:0]   best_step_q, shorter;
  logic               found_q, fresh;
  logic [8:0]         share_q;
  logic [StepW+8:0]   scaled;
  logic [2:0]         after_q;  // cycles since the chosen one was read
  logic [3*W-1:0]     tip, tip_q;

  assign fresh   = number_q[Deep-1] == '0;  // the first group of a search
  assign scaled  = (StepW + 9)'(best_step_q) * (StepW + 9)'(share_q) + (StepW + 9)'(128);
  assign shorter = scaled[8+:StepW] == '0 ? StepW'(1) : scaled[8+:StepW];

  if (Lanes > 1) begin : gen_chosen_lane
    assign tip = tips_i[place[LaneW-1:0]*(3*W)+:3*W];
  end else begin : gen_only_lane
    assign tip = tips_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scanning_q <= 1'b0;
      valid_q    <= '0;
      last_q     <= '0;
      found_q    <= 1'b0;
      again_q    <= 1'b0;
      again_qq   <= 1'b0;
      after_q    <= '0;
    end else begin
      scanning_q <= scanning && !final_group;
      valid_q    <= {valid_q[Deep-2:0], scanning};
      last_q     <= {last_q[Deep-2:0], scanning && final_group};
      found_q    <= last_q[Deep-1];
      again_q    <= found_q;
      again_qq   <= again_q;
      after_q    <= {after_q[1:0], again_qq && relaxed_i};  // another search may follow at once
    end
  end

  always_ff @(posedge clk_i) begin
    share_q  <= 9'(16'd179 + ((16'(draw_i) * 16'd78) >> 8));
    scan_q   <= scan + CountW'(1);
    number_q <= {number_q[Deep-2:0], scan};
    tips_q   <= again_q ? {Lanes{tip}} : tips_i;
    if (again_q) tip_q <= tip;
    if (valid_q[Deep-1] && (fresh || tree[LaneW][0] < best_q)) begin
      best_q      <= tree[LaneW][0];
      best_step_q <= names[LaneW][0];
    end
    if (found_q) chosen_q <= relaxed_i && best_q > threshold_i ? shorter : best_step_q;
  end

  // A shortened step's error was forgotten: its position passes the lanes once more.
  assign done_o   = relaxed_i ? after_q[2] : again_qq;
  assign step_o   = chosen_q;
  assign tip_o    = tip_q;
  assign square_o = relaxed_i ? squares_q[SquareW-1:0] : best_q;
  logic unused_bits;
  assign unused_bits = ^{at, scaled};
endmodule
