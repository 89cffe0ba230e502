// Gradients of a node's rows as gradients by its variables: the same with lanes of nodes and of problems.

// out[e] += sum_i matrix[i * stride + e] * x[i] for `count` entries e, in lanes of which one vector is at hand.
template <int some>
INLINED void add_matrix_part(const double* matrix, const double* x, int rows, int stride, double* out) {
  Vec sum[some];
  UNROLLED for (int j = 0; j < some; ++j) sum[j] = vec(out + j * kLanes);
  for (int i = 0; i < rows; ++i) {
    const Vec g = vec(x + i * kLanes);
    UNROLLED for (int j = 0; j < some; ++j) sum[j] += vec(matrix + (i * stride + j) * kLanes) * g;
  }
  UNROLLED for (int j = 0; j < some; ++j) vec(out + j * kLanes) = sum[j];
}

template <int some>
INLINED void add_matrix_rest(const double* matrix, const double* x, int rows, int count, int stride, double* out) {
  if constexpr (some > 0) {
    if (count < some) return add_matrix_rest<some - 1>(matrix, x, rows, count, stride, out);
    add_matrix_part<some>(matrix, x, rows, stride, out);
  } else {
    (void)matrix, (void)x, (void)rows, (void)count, (void)stride, (void)out;
  }
}

INLINED void add_matrix(const double* matrix, const double* x, int rows, int count, int stride, double* out) {
  int e = 0;
  for (; e + 8 <= count; e += 8) add_matrix_part<8>(matrix + e * kLanes, x, rows, stride, out + e * kLanes);
  add_matrix_rest<7>(matrix + e * kLanes, x, rows, count - e, stride, out + e * kLanes);
}

static void pull_matrix(const double* matrix, const double* gradient, int rows, int count, double* out) {
  for (int first = 0; first < kLanes; first += kWidth) {
    add_matrix(matrix + first, gradient + first, rows, count, count, out + first);
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
