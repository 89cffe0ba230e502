// The inner loops of a motion problem, once for every set of vector instructions; the best is chosen at run time.
//
// Values at nodes lie in lane order, as kernels have them: entry k of lane l at k * kLanes + l, aligned to 64 bytes.
#pragma once

namespace robomorph::planning {

inline constexpr int kLanes = 8;  // states of one kernel call, and numbers of one vector here

inline constexpr int whole_lanes(int count) { return (count + kLanes - 1) / kLanes * kLanes; }

struct Dense {
  // out[j] = scale * sum_c basis[c] * control[c * nv + j]: a motion's joints (nv, lanes) at the nodes.
  void (*states)(const double* basis, const double* control, int points, int nv, double scale, double* out);

  // out[c * nv + j] += sum_d, lanes basis[d][c] * nodes[d][j]: back from nodes to control points. nodes[d] may be null.
  void (*spread)(const double* basis, int points, int basis_stride, const double* const* nodes, int nv, double* out);

  // out (lanes) += sum over the joints of gradient[joint] * direction[joint].
  void (*tangent)(const double* gradient, const double* direction, const int* joints, int count, double* out);

  // out[joint] (lanes) += gradient[joint] * multiplier (lanes), for the joints.
  void (*adjoint)(const double* gradient, const double* multiplier, const int* joints, int count, double* out);

  // out[i] = scale * sum_k transposed[k * padded + i] * nodes[k], i < rows; padded is whole lanes.
  void (*to_rows)(const double* transposed, int rows, int padded, const double* nodes, int count, double scale,
                  double* out);

  // out[k] += scale * sum_i rows[i] * matrix[i * count + k]; count is whole lanes.
  void (*to_nodes)(const double* matrix, const double* rows, int row_count, int count, double scale, double* out);

  // out[l * stride + i] = gradient[joints[i]] (lane l): a gradient with its joints side by side.
  void (*pack)(const double* gradient, const int* joints, int count, int stride, double* out);

  // One node's derivatives by control points: out[c * count + i] = sum_d basis[d][c * kLanes] * packed[d][i]. Writes
  // whole vectors, up to 7 numbers too far. packed[1] and [2] may be null.
  void (*combine)(const double* basis, int points, int basis_stride, const double* const* packed, int count,
                  double* out);

  // Rows of the Jacobian in panels of 8 columns, for a Gram matrix: right = M A, left = diag(weights) M A.
  // nodes (count, stride) is A; row i of panel p at (p * capacity + i) * 8.
  void (*rows_of)(const double* transposed, int rows, int padded, const double* nodes, int count, int stride,
                  int panels, const double* weights, int capacity, double* right, double* left);

  // out[j * stride + i] += sum_r left[r][j] * right[r][i] for panels of i at or below the panel of j.
  void (*gram)(const double* right, const double* left, int rows, int panels, int capacity, double* out, int stride);

  // out[t * pairs + p] = sum_m, lanes coefficients[(m * kLanes + lane) * pairs + p] * matrices[m][entries[t]] (lanes),
  // added to what is there if `more`.
  void (*expand)(const double* const* matrices, int count, const double* coefficients, const int* entries, int size,
                 int pairs, bool more, double* out);

  void (*add)(const double* from, int count, double* out);  // out[i] += from[i]

  // out[j] (lanes) += sum_i matrix[j * nv + i] * vector[i] * scale.
  void (*multiply)(const double* matrix, const double* vector, int nv, double scale, double* out);
};

const Dense& dense();

}  // namespace robomorph::planning
