// Gradients of a node's rows as gradients by its variables: the same with lanes of nodes and of problems.

// out[e] += sum_i matrix[i * count + e] * gradient[i], in lanes.
static void pull_matrix(const double* matrix, const double* gradient, int rows, int count, double* out) {
  constexpr int kTogether = 8;
  for (int first = 0; first < kLanes; first += kWidth) {
    for (int e = 0; e < count; e += kTogether) {
      const int some = count - e < kTogether ? count - e : kTogether;
      if (some == kTogether) {
        Vec sum[kTogether];
        UNROLLED for (int j = 0; j < kTogether; ++j) sum[j] = vec(out + (e + j) * kLanes + first);
        for (int i = 0; i < rows; ++i) {
          const Vec g = vec(gradient + i * kLanes + first);
          const double* row = matrix + (i * count + e) * kLanes + first;
          UNROLLED for (int j = 0; j < kTogether; ++j) sum[j] += vec(row + j * kLanes) * g;
        }
        UNROLLED for (int j = 0; j < kTogether; ++j) vec(out + (e + j) * kLanes + first) = sum[j];
        continue;
      }
      for (int j = e; j < count; ++j) {
        Vec sum = vec(out + j * kLanes + first);
        for (int i = 0; i < rows; ++i) {
          sum += vec(matrix + (i * count + j) * kLanes + first) * vec(gradient + i * kLanes + first);
        }
        vec(out + j * kLanes + first) = sum;
      }
    }
  }
}

// Of group g over [a | v | q | previous a] (nv each, in lanes); of its states alone where there is no acceleration.
static void pull_back(const Shape& shape, const Quadratic& m, int group, bool last, double* out) {
  const int n = shape.nv, line = n * kLanes;
  const long at = static_cast<long>(group) * line, square = at * n;
  const long tasks = static_cast<long>(group) * shape.rows * kLanes;
  double *a = out, *v = out + line, *q = out + 2 * line, *before = out + 3 * line;
  for (int i = 0; i < line; i += kWidth) {
    vec(v + i) = vec(m.v_gradient + at + i);
    vec(q + i) = vec(m.q_gradient + at + i);
  }
  if (shape.rows > 0) {
    pull_matrix(m.row_dq + tasks * n, m.row_gradient + tasks, shape.rows, n, q);
    if (shape.row_velocity) pull_matrix(m.row_dv + tasks * n, m.row_gradient + tasks, shape.rows, n, v);
  }
  if (last) return;
  for (int i = 0; i < line; i += kWidth) {
    vec(a + i) = vec(m.a_gradient + at + i);
    if (!shape.jerk) continue;
    vec(a + i) += vec(m.jerk_gradient + at + i);
    vec(before + i) = -vec(m.jerk_gradient + at + i);
  }
  pull_matrix(m.torque_mass + square, m.torque_gradient + at, n, n, a);
  pull_matrix(m.torque_dv + square, m.torque_gradient + at, n, n, v);
  pull_matrix(m.torque_dq + square, m.torque_gradient + at, n, n, q);
}
