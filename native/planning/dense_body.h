// The loops of dense.h; each dense_*.cpp includes this in a namespace of its own, with its own instructions.
// Nothing here may be shared between them: all is static, and no header with inline functions comes in.

typedef double Vec __attribute__((vector_size(64), may_alias));
typedef double LooseVec __attribute__((vector_size(64), aligned(8), may_alias));

#define UNROLLED _Pragma("GCC unroll 8")

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

// Rows become columns, in three rounds of exchanges; compilers without this shuffle go entry by entry.
static inline void transpose(Vec* rows) {
#if defined(__clang__) || __GNUC__ >= 12
  Vec a[kLanes], b[kLanes];
  UNROLLED for (int i = 0; i < kLanes; i += 2) {
    a[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  UNROLLED for (int i = 0; i < kLanes; i += (i % 2 == 0 ? 1 : 3)) {
    b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 2] = __builtin_shufflevector(a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  UNROLLED for (int i = 0; i < kLanes / 2; ++i) {
    rows[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#else
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < i; ++j) {
      const double kept = rows[i][j];
      rows[i][j] = rows[j][i];
      rows[j][i] = kept;
    }
  }
#endif
}

static void pack(const double* gradient, const int* joints, int count, int stride, double* out) {
  for (int i = 0; i < count; i += kLanes) {
    Vec rows[kLanes];
    UNROLLED for (int k = 0; k < kLanes; ++k) {
      rows[k] = vec(gradient + joints[i + k < count ? i + k : count - 1] * kLanes);  // behind the last: it again
    }
    transpose(rows);
    UNROLLED for (int l = 0; l < kLanes; ++l) vec(out + l * stride + i) = rows[l];
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
      UNROLLED for (int i = 0; i < kLanes; ++i) total[i] = vec(nodes + p * kLanes) * transposed[first + i];
      for (int k = 1; k < count; ++k) {
        const Vec a = vec(nodes + k * stride + p * kLanes);
        const double* m = transposed + k * padded + first;
        UNROLLED for (int i = 0; i < kLanes; ++i) total[i] += a * m[i];
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
  UNROLLED for (int c = 0; c < columns; ++c) {
    UNROLLED for (int p = 0; p < panels; ++p) total[c][p] = vec(out + c * stride + p * kLanes);
  }
  for (int r = 0; r < rows; ++r) {
    Vec x[panels];
    UNROLLED for (int p = 0; p < panels; ++p) x[p] = vec(right + (p * capacity + r) * kLanes);
    UNROLLED for (int c = 0; c < columns; ++c) {
      UNROLLED for (int p = 0; p < panels; ++p) total[c][p] += x[p] * left[r * kLanes + c];
    }
  }
  UNROLLED for (int c = 0; c < columns; ++c) {
    UNROLLED for (int p = 0; p < panels; ++p) vec(out + c * stride + p * kLanes) = total[c][p];
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
static inline void expand_tile(const double* const* matrices, int count, const double* coefficients,
                               const int* entries, int pairs, bool more, double* out) {
  Vec total[some];
  const Vec zero = {};
  UNROLLED for (int t = 0; t < some; ++t) total[t] = zero;
  for (int m = 0; m < count; ++m) {
    const double* from[some];
    UNROLLED for (int t = 0; t < some; ++t) from[t] = matrices[m] + entries[t] * kLanes;
    for (int l = 0; l < kLanes; ++l) {
      const Vec c = vec(coefficients + (m * kLanes + l) * pairs);
      UNROLLED for (int t = 0; t < some; ++t) total[t] += c * from[t][l];
    }
  }
  UNROLLED for (int t = 0; t < some; ++t) vec(out + t * pairs) = more ? total[t] + vec(out + t * pairs) : total[t];
}

static void expand(const double* const* matrices, int count, const double* coefficients, const int* entries, int size,
                   int pairs, bool more, double* out) {
  int t = 0;
  for (; t + kExpandTile <= size; t += kExpandTile) {
    for (int p = 0; p < pairs; p += kLanes) {
      expand_tile<kExpandTile>(matrices, count, coefficients + p, entries + t, pairs, more, out + t * pairs + p);
    }
  }
  for (; t < size; ++t) {
    for (int p = 0; p < pairs; p += kLanes) {
      expand_tile<1>(matrices, count, coefficients + p, entries + t, pairs, more, out + t * pairs + p);
    }
  }
}

static void add(const double* from, int count, double* out) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) loose(out + i) += loose(from + i);
  for (; i < count; ++i) out[i] += from[i];
}

static void multiply(const double* matrix, const double* vector, int nv, double scale, double* out) {
  for (int j = 0; j < nv; ++j) {
    Vec total = {};
    for (int i = 0; i < nv; ++i) total += vec(matrix + (j * nv + i) * kLanes) * vec(vector + i * kLanes);
    vec(out + j * kLanes) += total * scale;
  }
}

static const Dense kDense = {states, spread,  tangent, adjoint, to_rows, to_nodes,
                             pack,   combine, rows_of, gram,    expand,  add,     multiply};

#undef UNROLLED
