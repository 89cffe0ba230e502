// Runs the schedule: counts phases, knows which rounds hold a state, starts and finishes states.
// When nothing is in flight the phase waits at zero, so that the next state starts at once. What the next cycle
// will be is told too, for those who want to decode it ahead of time.
module rm_control #(
  parameter int unsigned Interval = 24,  // cycles between states
  parameter int unsigned Length   = 30,  // cycles of one state
  parameter int unsigned Rounds   = 2,   // states in flight, at most
  parameter int unsigned PhaseW   = 5,
  parameter int unsigned TurnW    = 1    // of the count of intervals, for memories
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              full_i,      // a state waits at the input
  output logic              take_o,      // it is taken in this cycle
  input  logic              busy_i,      // the output holds an older result
  output logic              done_o,      // a result is complete at the end of this cycle
  output logic              en_o,        // the core advances
  output logic [PhaseW-1:0] phase_o,
  output logic [PhaseW-1:0] next_phase_o,
  output logic [TurnW-1:0]  next_turn_o,
  input  logic [Rounds-1:0] overflow_i,  // a saturation in this cycle, by round
  output logic              flag_o       // the finished state had one
);
  localparam int unsigned LastRound = (Length - 1) / Interval;
  localparam logic [PhaseW-1:0] LastPhase = PhaseW'((Length - 1) % Interval);
  localparam logic [PhaseW-1:0] Wrap      = PhaseW'(Interval - 1);

  logic [PhaseW-1:0] phase_d, phase_q;
  logic [TurnW-1:0]  turn_d, turn_q;
  logic [Rounds-1:0] live, live_q, flag, flag_q;
  logic              finishing, parked, alone;

  always_comb begin
    live = live_q;
    flag = flag_q;
    if (phase_q == '0) begin
      live[0] = full_i;
      flag[0] = 1'b0;
    end
    flag |= overflow_i;
  end

  assign finishing = live[LastRound] && phase_q == LastPhase;
  assign en_o      = !(finishing && busy_i);
  assign done_o    = finishing && !busy_i;
  assign take_o    = full_i && phase_q == '0 && en_o;
  assign parked    = phase_q == '0 && live == '0;
  // The finished state was the only one: back to the start, without waiting for the interval to end.
  assign alone     = finishing && live == Rounds'(1 << LastRound);
  assign phase_o   = phase_q;
  assign flag_o    = flag[LastRound];

  assign next_phase_o = phase_d;
  assign next_turn_o  = turn_d;

  always_comb begin
    phase_d = phase_q;
    if (en_o && !parked) phase_d = alone || phase_q == Wrap ? '0 : phase_q + PhaseW'(1);
    turn_d = turn_q;
    if (en_o && phase_q == Wrap) turn_d = turn_q + TurnW'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= '0;
      turn_q  <= '0;
      live_q  <= '0;
      flag_q  <= '0;
    end else begin
      phase_q <= phase_d;
      turn_q  <= turn_d;
      if (en_o && !parked) begin
        if (alone) begin
          live_q <= '0;
          flag_q <= '0;
        end else if (phase_q == Wrap) begin
          live_q <= Rounds'({live, 1'b0});
          flag_q <= Rounds'({flag, 1'b0});
        end else begin
          live_q <= live;
          flag_q <= flag;
        end
      end
    end
  end

`ifndef SYNTHESIS
  initial assert_rounds : assert (Rounds == LastRound + 1);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      assert_phase : assert ({1'b0, phase_q} < (PhaseW + 1)'(Interval));
      assert_not_lost : assert (!(done_o && busy_i));
    end
  end
`endif
endmodule
