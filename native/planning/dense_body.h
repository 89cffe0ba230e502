// The loops of dense.h; each dense_*.cpp includes this in a namespace of its own, with its own instructions.
// Nothing here may be shared between them: all is static, and no header with inline functions comes in.

typedef double Vec __attribute__((vector_size(64), may_alias));
typedef double LooseVec __attribute__((vector_size(64), aligned(8), may_alias));

static inline const Vec& vec(const double* p) { return *reinterpret_cast<const Vec*>(p); }
static inline Vec& vec(double* p) { return *reinterpret_cast<Vec*>(p); }
static inline const LooseVec& loose(const double* p) { return *reinterpret_cast<const LooseVec*>(p); }
static inline LooseVec& loose(double* p) { return *reinterpret_cast<LooseVec*>(p); }

static inline double sum(const Vec& v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

static void states(const double* basis, const double* control, int points, int nv, double scale, double* out) {
  for (int j = 0; j < nv; ++j) {
    Vec total = {};
    for (int c = 0; c < points; ++c) total += vec(basis + c * kLanes) * control[c * nv + j];
    vec(out + j * kLanes) = total * scale;
  }
}

static void spread(const double* basis, int points, int basis_stride, const double* const* nodes, int nv,
                   double* out) {
  const bool all = nodes[1] != nullptr;
  for (int c = 0; c < points; ++c) {
    const double* at = basis + c * kLanes;
    for (int j = 0; j < nv; ++j) {
      Vec total = vec(at) * vec(nodes[0] + j * kLanes);
      if (all) {
        total += vec(at + basis_stride) * vec(nodes[1] + j * kLanes);
        total += vec(at + 2 * basis_stride) * vec(nodes[2] + j * kLanes);
      }
      out[c * nv + j] += sum(total);
    }
  }
}

static void tangent(const double* gradient, const double* direction, const int* joints, int count, double* out) {
  Vec total = vec(out);
  for (int i = 0; i < count; ++i) {
    total += vec(gradient + joints[i] * kLanes) * vec(direction + joints[i] * kLanes);
  }
  vec(out) = total;
}

static void adjoint(const double* gradient, const double* multiplier, const int* joints, int count, double* out) {
  const Vec m = vec(multiplier);
  for (int i = 0; i < count; ++i) vec(out + joints[i] * kLanes) += vec(gradient + joints[i] * kLanes) * m;
}

static void to_rows(const double* transposed, int rows, int padded, const double* nodes, int count, double scale,
                    double* out) {
  for (int i = 0; i < rows; i += kLanes) {
    Vec total = {};
    for (int k = 0; k < count; ++k) total += vec(transposed + k * padded + i) * nodes[k];
    total *= scale;
    if (i + kLanes <= rows) loose(out + i) = total;
    else for (int l = 0; i + l < rows; ++l) out[i + l] = total[l];
  }
}

static void to_nodes(const double* matrix, const double* rows, int row_count, int count, double scale, double* out) {
  for (int k = 0; k < count; k += kLanes) {
    Vec total = {};
    for (int i = 0; i < row_count; ++i) total += vec(matrix + i * count + k) * rows[i];
    vec(out + k) += total * scale;
  }
}

static void pack(const double* gradient, const int* joints, int count, int stride, double* out) {
  for (int i = 0; i < count; ++i) {
    const double* from = gradient + joints[i] * kLanes;
    for (int l = 0; l < kLanes; ++l) out[l * stride + i] = from[l];
  }
}

static void combine(const double* basis, int points, int basis_stride, const double* const* packed, int count,
                    double* out) {
  const bool all = packed[1] != nullptr;
  for (int c = 0; c < points; ++c) {
    const double* at = basis + c * kLanes;
    for (int i = 0; i < count; i += kLanes) {
      Vec total = vec(packed[0] + i) * at[0];
      if (all) total += vec(packed[1] + i) * at[basis_stride] + vec(packed[2] + i) * at[2 * basis_stride];
      loose(out + c * count + i) = total;
    }
  }
}

static void rows_of(const double* transposed, int rows, int padded, const double* nodes, int count, int stride,
                    int panels, const double* weights, int capacity, double* right, double* left) {
  for (int first = 0; first < rows; first += kLanes) {
    const int some = rows - first < kLanes ? rows - first : kLanes;
    for (int p = 0; p < panels; ++p) {
      Vec total[kLanes];
      for (int i = 0; i < kLanes; ++i) total[i] = vec(nodes + p * kLanes) * transposed[first + i];
      for (int k = 1; k < count; ++k) {
        const Vec a = vec(nodes + k * stride + p * kLanes);
        const double* m = transposed + k * padded + first;
        for (int i = 0; i < kLanes; ++i) total[i] += a * m[i];
      }
      double* r = right + (p * capacity + first) * kLanes;
      double* l = left + (p * capacity + first) * kLanes;
      for (int i = 0; i < some; ++i) {
        vec(r + i * kLanes) = total[i];
        vec(l + i * kLanes) = total[i] * weights[first + i];
      }
    }
  }
}

// A tile of `panels` x 8 rows and `columns` columns, held in registers.
template <int panels, int columns>
static inline void gram_tile(const double* right, const double* left, int rows, int capacity, double* out, int stride) {
  Vec total[columns][panels];
  for (int c = 0; c < columns; ++c) {
    for (int p = 0; p < panels; ++p) total[c][p] = vec(out + c * stride + p * kLanes);
  }
  for (int r = 0; r < rows; ++r) {
    Vec x[panels];
    for (int p = 0; p < panels; ++p) x[p] = vec(right + (p * capacity + r) * kLanes);
    for (int c = 0; c < columns; ++c) {
      for (int p = 0; p < panels; ++p) total[c][p] += x[p] * left[r * kLanes + c];
    }
  }
  for (int c = 0; c < columns; ++c) {
    for (int p = 0; p < panels; ++p) vec(out + c * stride + p * kLanes) = total[c][p];
  }
}

static void gram(const double* right, const double* left, int rows, int panels, int capacity, double* out,
                 int stride) {
  for (int j = 0; j < panels; ++j) {
    for (int c = 0; c < kLanes; c += kTileColumns) {
      double* column = out + (j * kLanes + c) * stride;
      const double* l = left + j * capacity * kLanes + c;
      int i = j;
      for (; i + kTilePanels <= panels; i += kTilePanels) {
        gram_tile<kTilePanels, kTileColumns>(right + i * capacity * kLanes, l, rows, capacity, column + i * kLanes, stride);
      }
      for (; i < panels; ++i) {
        gram_tile<1, kTileColumns>(right + i * capacity * kLanes, l, rows, capacity, column + i * kLanes, stride);
      }
    }
  }
}

// `some` entries of all matrices at once, for 8 pairs.
template <int some>
static inline void expand_tile(const double* const* matrices, int count, const double* coefficients, int entry,
                               int pairs, double* out) {
  Vec total[some];
  for (int t = 0; t < some; ++t) total[t] = vec(out + (entry + t) * pairs);
  for (int m = 0; m < count; ++m) {
    const double* from = matrices[m] + entry * kLanes;
    for (int l = 0; l < kLanes; ++l) {
      const Vec c = vec(coefficients + (m * kLanes + l) * pairs);
      for (int t = 0; t < some; ++t) total[t] += c * from[t * kLanes + l];
    }
  }
  for (int t = 0; t < some; ++t) vec(out + (entry + t) * pairs) = total[t];
}

static void expand(const double* const* matrices, int count, const double* coefficients, int entries, int pairs,
                   double* out) {
  for (int p = 0; p < pairs; p += kLanes) {
    int t = 0;
    for (; t + kExpandTile <= entries; t += kExpandTile) {
      expand_tile<kExpandTile>(matrices, count, coefficients + p, t, pairs, out + p);
    }
    for (; t < entries; ++t) expand_tile<1>(matrices, count, coefficients + p, t, pairs, out + p);
  }
}

static void multiply(const double* matrix, const double* vector, int nv, double scale, double* out) {
  for (int j = 0; j < nv; ++j) {
    Vec total = {};
    for (int i = 0; i < nv; ++i) total += vec(matrix + (j * nv + i) * kLanes) * vec(vector + i * kLanes);
    vec(out + j * kLanes) += total * scale;
  }
}

static const Dense kDense = {states, spread,  tangent, adjoint, to_rows, to_nodes,
                             pack,   combine, rows_of, gram,    expand,  multiply};
