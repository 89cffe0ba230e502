// The scheduler of an inverse-kinematics chip: what every problem in flight is doing, who may use the serial
// stage and the search, and when a problem ends. A problem is loaded, its start is judged by a search without a
// step, then serial pass and search take turns; a last serial pass moves the angles, and the result waits.
module rm_ik_control #(
  parameter int unsigned Problems = 2,
  parameter int unsigned IndexW   = 1,   // of a problem's number
  parameter int unsigned CountW   = 24,  // of iterations
  parameter int unsigned SquareW  = 42,  // of a squared error
  parameter int unsigned StepW    = 7,   // of a step's number k
  parameter int unsigned TipW     = 54   // of a position, three words
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         loaded_i,       // the last word of a problem is here
  input  logic [IndexW-1:0]            load_at_i,
  output logic [Problems-1:0]          empty_o,
  input  logic [Problems*CountW-1:0]   cap_i,          // of the problems: the most iterations,
  input  logic [Problems*SquareW-1:0]  threshold_i,    // the squared error that will do,
  input  logic [Problems*8-1:0]        patience_i,     // and how many iterations may gain nothing; 0: any number
  input  logic [Problems*16-1:0]       seed_i,
  output logic                         serial_start_o,
  output logic [IndexW-1:0]            serial_at_o,
  output logic                         serial_last_o,  // only move the angles
  input  logic                         serial_done_i,  // the w unit is done, or the angles are moved
  input  logic                         stalled_i,
  input  logic                         serial_lost_i,  // something saturated there
  output logic                         search_start_o,
  output logic [IndexW-1:0]            search_at_o,
  output logic                         search_first_o, // no step yet
  output logic [15:0]                  search_draw_o,
  input  logic                         search_done_i,
  input  logic                         search_lost_i,
  input  logic [StepW-1:0]             step_i,         // what the search has chosen
  input  logic [SquareW-1:0]           square_i,
  input  logic [TipW-1:0]              tip_i,
  output logic [Problems-1:0]          ready_o,        // results that wait to be sent
  input  logic                         sent_i,
  input  logic [IndexW-1:0]            sent_at_i,
  output logic [Problems*StepW-1:0]    step_o,
  output logic [Problems*SquareW-1:0]  square_o,
  output logic [Problems*TipW-1:0]     tip_o,
  output logic [Problems*CountW-1:0]   iterations_o,
  output logic [Problems*2-1:0]        status_o,
  output logic [Problems-1:0]          flag_o
);
  localparam logic [2:0] Empty = 3'd0, WaitSearch = 3'd1, Search = 3'd2, Decide = 3'd3, WaitSerial = 3'd4,
                         Serial = 3'd5, Ready = 3'd6;
  localparam logic [15:0] Taps = 16'hB400, Mask = 16'hACE1;
  localparam logic [1:0] Converged = 2'd0, Cap = 2'd1, Stalled = 2'd2;

  logic   [Problems-1:0][2:0]         state_q;
  logic   [Problems-1:0]              first_q, last_q, flag_q;
  logic   [Problems-1:0][1:0]         status_q;
  logic   [Problems-1:0][CountW-1:0]  count_q, cap;
  logic   [Problems-1:0][SquareW-1:0] square_q, best_q, threshold;
  logic   [Problems-1:0][StepW-1:0]   step_q;
  logic   [Problems-1:0][TipW-1:0]    tip_q;
  logic   [Problems-1:0][7:0]         still_q, patience;
  logic   [Problems-1:0][15:0]        draw_q, seed;
  logic                               serial_busy_q, search_busy_q;
  logic   [IndexW-1:0]                serial_at_q, search_at_q, serial_next, search_next;
  logic                               serial_wanted, search_wanted, held_by_next;

  assign cap       = cap_i;
  assign threshold = threshold_i;
  assign patience  = patience_i;
  assign seed      = seed_i;

  // Eight steps of the register that relaxed steps are drawn from.
  function automatic logic [15:0] advanced(input logic [15:0] draw);
    advanced = draw;
    for (int unsigned k = 0; k < 8; k++) advanced = (advanced >> 1) ^ (advanced[0] ? Taps : 16'h0);
  endfunction

  always_comb begin
    serial_wanted = 1'b0;
    search_wanted = 1'b0;
    serial_next   = '0;
    search_next   = '0;
    for (int unsigned k = 0; k < Problems; k++) begin
      if (state_q[k] == WaitSerial && !serial_wanted) begin
        serial_wanted = 1'b1;
        serial_next   = IndexW'(k);
      end
      if (state_q[k] == WaitSearch && !search_wanted) begin
        search_wanted = 1'b1;
        search_next   = IndexW'(k);
      end
    end
    for (int unsigned k = 0; k < Problems; k++) begin
      empty_o[k] = state_q[k] == Empty;
      ready_o[k] = state_q[k] == Ready;
    end
  end

  assign serial_start_o = serial_wanted && !serial_busy_q;
  assign search_start_o = search_wanted && !search_busy_q;
  assign serial_at_o    = serial_start_o ? serial_next : serial_at_q;
  assign search_at_o    = search_start_o ? search_next : search_at_q;
  assign serial_last_o  = last_q[serial_at_o];
  assign search_first_o = first_q[search_at_o];
  assign search_draw_o  = draw_q[search_at_q];
  // The w unit keeps its result until the search of the same problem has taken it.
  assign held_by_next   = search_start_o && !search_first_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      serial_busy_q <= 1'b0;
      search_busy_q <= 1'b0;
      serial_at_q   <= '0;
      search_at_q   <= '0;
    end else begin
      if (serial_start_o) begin
        serial_busy_q <= 1'b1;
        serial_at_q   <= serial_next;
      end else if (held_by_next || (serial_done_i && (serial_last_o || stalled_i))) begin
        serial_busy_q <= 1'b0;
      end
      if (search_start_o) begin
        search_busy_q <= 1'b1;
        search_at_q   <= search_next;
      end else if (search_done_i) begin
        search_busy_q <= 1'b0;
      end
    end
  end

  for (genvar k = 0; k < Problems; k++) begin : gen_problem
    logic loaded, serial_on, serial_done, search_on, search_done, sent, better, reached, spent, tired;
    logic [1:0] ended;
    assign loaded      = loaded_i && load_at_i == IndexW'(k);
    assign serial_on   = serial_start_o && serial_next == IndexW'(k);
    assign serial_done = serial_done_i && serial_at_q == IndexW'(k);
    assign search_on   = search_start_o && search_next == IndexW'(k);
    assign search_done = search_done_i && search_at_q == IndexW'(k);
    assign sent        = sent_i && sent_at_i == IndexW'(k);
    assign better      = square_i < best_q[k];
    assign reached     = square_q[k] <= threshold[k];
    assign spent       = count_q[k] >= cap[k];
    assign tired       = patience[k] != '0 && still_q[k] >= patience[k];
    assign ended       = reached ? Converged : spent ? Cap : Stalled;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) state_q[k] <= Empty;
      else begin
        unique case (state_q[k])
          Empty:      if (loaded) state_q[k] <= WaitSearch;
          WaitSearch: if (search_on) state_q[k] <= Search;
          Search:     if (search_done) state_q[k] <= Decide;
          Decide:     state_q[k] <= WaitSerial;
          WaitSerial: if (serial_on) state_q[k] <= Serial;
          Serial:     if (serial_done) state_q[k] <= last_q[k] ? Ready : stalled_i ? WaitSerial : WaitSearch;
          Ready:      if (sent) state_q[k] <= Empty;
          default:    state_q[k] <= Empty;
        endcase
      end
    end

    always_ff @(posedge clk_i) begin
      if (loaded) begin
        first_q[k]  <= 1'b1;
        last_q[k]   <= 1'b0;
        flag_q[k]   <= 1'b0;
        count_q[k]  <= '0;
        step_q[k]   <= '0;
        still_q[k]  <= '0;
        best_q[k]   <= '1;
        draw_q[k]   <= seed[k] == Mask ? 16'h1 : seed[k] ^ Mask;
      end else if (search_done) begin
        first_q[k]  <= 1'b0;
        flag_q[k]   <= flag_q[k] || search_lost_i;
        tip_q[k]    <= tip_i;
        square_q[k] <= square_i;
        if (better) best_q[k] <= square_i;
        if (!first_q[k]) begin
          step_q[k]  <= step_i;
          count_q[k] <= count_q[k] + CountW'(1);
          // Only compared with the patience: it may stand still at its end.
          still_q[k] <= better ? '0 : still_q[k] == '1 ? '1 : still_q[k] + 8'd1;
        end
      end else if (state_q[k] == Decide) begin
        last_q[k]   <= reached || spent || tired;
        status_q[k] <= ended;
      end else if (serial_done && !last_q[k]) begin
        step_q[k] <= '0;
        flag_q[k] <= flag_q[k] || serial_lost_i;
        draw_q[k] <= advanced(draw_q[k]);
        if (stalled_i) begin
          last_q[k]   <= 1'b1;
          status_q[k] <= Stalled;
        end
      end
    end
  end

  assign step_o       = step_q;
  assign square_o     = square_q;
  assign tip_o        = tip_q;
  assign iterations_o = count_q;
  assign status_o     = status_q;
  assign flag_o       = flag_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      assert_loaded : assert (!loaded_i || empty_o[load_at_i]);
      assert_sent : assert (!sent_i || ready_o[sent_at_i]);
      assert_serial : assert (!serial_done_i || state_q[serial_at_q] == Serial);
      assert_search : assert (!search_done_i || state_q[search_at_q] == Search);
    end
  end
`endif
endmodule
