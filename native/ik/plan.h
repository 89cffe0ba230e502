// An inverse-kinematics problem as the native driver sees it: compiled programs in lane order, the blocks of the
// residual, the joints, and the rules of the search. Knows nothing of Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/execute.h"

namespace robomorph {

// How raw errors become rows of the residual.
enum class IkBlockKind : int {
  kLinear = 0,    // rows are the raw errors (m)
  kRotation = 1,  // raw is a rotation matrix, rows its rotation vector (rad)
  kAxis = 2,      // raw is (cos, sin u, sin v) of an angle, rows the angle along u and v (rad)
};

struct IkBlock {
  IkBlockKind kind;
  int raw;   // first raw error
  int row;   // first row
  int rows;
  int bend;  // place among the rotations whose exact derivative is wanted, or -1
};

struct IkBlockSize {
  int raws, rows;
};

// What a block takes and gives; a linear one has any number of rows, each a raw error.
inline IkBlockSize ik_block_size(IkBlockKind kind, int rows) {
  switch (kind) {
    case IkBlockKind::kLinear: return {rows, rows};
    case IkBlockKind::kRotation: return {9, 3};
    case IkBlockKind::kAxis: return {3, 2};
  }
  return {rows, rows};
}

// A joint's manifold: a coordinate that adds, motions of space and of a plane, rotations of space.
enum class IkJointKind : int { kScalar = 0, kFloating = 1, kPlanar = 2, kSpherical = 3 };

struct IkJoint {
  IkJointKind kind;
  int q;  // first coordinate
  int v;  // first degree of freedom
};

// What limits a joint with one coordinate. A joint that wraps has the same pose one turn further.
struct IkScalar {
  int q;
  int v;
  double lower;
  double upper;
  bool wraps;
  bool held;  // keeps the value of the start
};

// Which solution is wanted of all that the starts may lead to.
enum class IkChoice : int {
  kFirst = 0,    // the one of the earliest start that succeeds
  kNearest = 1,  // the one nearest to the posture, of the first `candidates` starts
  kAll = 2,      // what every start leads to
};

struct IkPlan {
  std::size_t lanes = 1;
  KernelFn residual = nullptr;  // (q, target) -> (raw, jac); with `trig`, (q, target, sin, cos) -> (raw, jac)
  KernelFn trig = nullptr;      // (angle) -> (sin, cos) in `wide_lanes`; only with one lane
  KernelFn step = nullptr;      // (jac, err, bend, weights, mask, base, lam) -> (step, model)
  KernelFn errors = nullptr;    // (q, target) -> (raw) in `wide_lanes`; only for speculation
  std::size_t workspace = 0;    // bytes

  std::size_t nq = 0, nv = 0, targets = 0, raws = 0, rows = 0, jacs = 0, bends = 0;
  std::vector<IkBlock> blocks;
  std::vector<IkScalar> scalars;
  std::vector<IkScalar> limited;        // those of `scalars` that a limit can hold
  std::vector<IkJoint> others;          // joints with several coordinates
  std::vector<unsigned char> held;      // per degree of freedom of `others`
  std::vector<double> weights;          // per row
  std::vector<double> inverse_tolerance;  // per row; 0: the row is not checked
  std::vector<int> group;               // per row: rows of one group are judged by their norm
  int groups = 0;

  bool gain_ratio = true;   // accept and refuse steps; otherwise take all
  bool polish = false;      // move along the null space towards the posture
  int speculations = 0;  // lengths of each step that are tried; only with one lane
  double longest_share = 1.0;  // the longest of them, as a share of the step; the others divide it evenly
  double relaxation = 0.0;     // the best is shortened by a random share of itself, at most this
  std::size_t wide_lanes = 1;  // of `errors` and `trig`
  IkChoice choice = IkChoice::kFirst;
  int max_starts = 1;
  int candidates = 1;
  int max_iterations = 100;
  double near_enough = 0.0;  // a first start that ends this near to the posture ends the search
  std::uint64_t seed = 0;
};

// Rows of `count` problems; results as the plan's choice asks. For kAll every array but the inputs has
// `max_starts` entries a problem.
struct IkBatch {
  std::size_t count;
  const double* target;   // (count, targets)
  const double* start;    // (count, nq)
  const double* posture;  // (count, nq)
  double* q;              // (count, nq)
  unsigned char* success;
  double* position_error;
  double* rotation_error;
  std::int32_t* iterations;
  std::int32_t* starts;
};

// Solves every problem on at most `threads` threads; the results do not depend on how many. False: out of memory.
bool ik_solve(const IkPlan& plan, const IkBatch& batch, std::size_t threads);

}  // namespace robomorph
