// What of a motion problem stays the same from one evaluation to the next, arranged for the inner loops.
#pragma once

#include <vector>

#include "planning/dense.h"
#include "planning/memory.h"
#include "planning/motion_data.h"

namespace robomorph::planning {

// From nodes to rows, in both orders. Nodes are padded to whole lanes with zeros, rows of `transposed` too.
struct RowMatrix {
  int rows = 0, padded = 0;
  Doubles plain;       // (rows, nodes)
  Doubles transposed;  // (nodes, padded)
};

// Some rows of one function in one piece.
struct Entry {
  int function, matrix, rate;
  int row, rows;  // its rows in the problem
  double inverse_scale;
  double lower, upper;  // scaled
  double noise;         // of its margin, scaled
};

// A function that a piece evaluates: entries [first, end) of the layout. Torques may have none, for the energy alone.
struct Use {
  int function, first, end;
};

// Functions of a piece that depend on the same joints.
struct Group {
  bool torque;
  std::vector<int> joints;
  std::vector<Use> uses;
};

// Where second derivatives by a pair of joints are, as places in Piece::bent.
struct Fold {
  int row, column;  // joints
  int here, there;  // of (row, column) and (column, row)
};

struct Piece {
  int first = 0;            // control point
  std::vector<int> points;  // of its control points those that vary, counted from the first
  std::vector<int> blocks;  // their variables
  bool channels = false, torques = false;
  bool estimated = false;   // is there an entry whose interpolation may err?
  Doubles basis;    // (lane blocks, 3, width, lanes)
  Doubles between;  // the same at the further nodes
  Doubles moving;   // (lane blocks, 3, points, lanes): of the points that vary
  std::vector<Group> groups;
  // Pairs of joints (i * nv + j) that some function has a second derivative by; without torques i >= j only, as it is
  // symmetric then.
  std::vector<int> bent;
  std::vector<Fold> folds;  // by column, then row

  int width() const { return static_cast<int>(points.size()); }
};

// Exact rows of one joint's spline.
struct SplineEntry {
  int matrix, rate, row, rows;
  double inverse_scale, lower, upper;
};

// Entries about the same control points of the same joint, [first, end) of the layout.
struct SplineSlot {
  int joint, first, end;
};

// Slots [first, end) about the same control points.
struct SplineStrip {
  int point, first, end;
};

struct SplineMatrix {
  int rows = 0, pairs = 0;  // pairs: width (width + 1) / 2, padded to whole lanes
  std::vector<double> entries;  // (rows, width)
  Doubles products;             // (rows, pairs): entry w * entry v, v <= w
};

// Where a square of a piece's or a strip's matrix goes in a block column.
struct BlockTerm {
  enum Kind { kPlain, kTransposed, kDiagonal, kFolded };
  int source;       // piece or strip
  int row, column;  // of its points, row >= column
  int down;         // blocks below the diagonal
  Kind kind;
};

// A square of the jerk's constant Hessian: a multiple of the joint weights.
struct JerkTerm {
  int down;
  double factor;
};

struct BlockColumn {
  std::vector<BlockTerm> pieces, strips;
  std::vector<JerkTerm> jerk;
};

struct MotionLayout {
  explicit MotionLayout(const MotionData& data);

  int nv, width, channels, points, nodes, lane_blocks, padded;  // padded: nodes in whole lanes
  int further_blocks;                                           // lane blocks of the further nodes
  int blocks = 0, variables = 0, border = 0, row_count = 0, reach = 0;
  int duration_row = -1;
  bool torque, energy;
  std::vector<RowMatrix> matrices;
  RowMatrix identity;                // rows that are the values at the nodes
  std::vector<RowMatrix> estimates;  // (m'', 2 nodes - 1): Chebyshev coefficients of p_2K - p_K, per matrix
  std::vector<Entry> entries;
  std::vector<Piece> pieces;
  std::vector<SplineMatrix> spline_matrices;
  std::vector<SplineEntry> spline_entries;
  std::vector<SplineSlot> slots;
  std::vector<SplineStrip> strips;
  std::vector<BlockColumn> columns;
  std::vector<std::vector<int>> joints_of;  // per function, channels first
  Doubles references;                       // (references, lanes)

  int functions() const { return channels + (torque ? nv : 0); }

 private:
  void place_entries(const MotionData& data);
  void place_pieces(const MotionData& data);
  void place_groups(const MotionData& data);
  void place_bent(Piece& piece) const;
  void place_splines(const MotionData& data);
  void place_columns(const MotionData& data);
  void place_jerk(const MotionData& data);
  void couple(const std::vector<int>& points, const std::vector<int>& blocks, int source, bool strip);
};

}  // namespace robomorph::planning
