// Small dense products for ddp_body.h; included inside a namespace of its own, with its own instructions. Nothing here
// may be shared between versions: all is static, and no header with inline functions comes in. Whoever includes it says
// kWide (numbers of a vector), kTileRows and kTileColumns (what fits into the registers).

typedef double Vec __attribute__((vector_size(8 * kWide), may_alias));

#define UNROLLED _Pragma("GCC unroll 8")

static inline const Vec& vec(const double* p) { return *reinterpret_cast<const Vec*>(p); }
static inline Vec& vec(double* p) { return *reinterpret_cast<Vec*>(p); }

static inline int down(int column) { return column / kWide * kWide; }

static inline void clear(double* from, int count) {
  for (int i = 0; i < count; ++i) from[i] = 0.0;
}

template <int rows, int columns>
static inline void tile(const double* x, int x_stride, const double* y, int y_stride, int depth, double* out,
                        int out_stride) {
  Vec total[rows][columns];
  UNROLLED for (int r = 0; r < rows; ++r) {
    UNROLLED for (int c = 0; c < columns; ++c) total[r][c] = vec(out + r * out_stride + c * kWide);
  }
  for (int d = 0; d < depth; ++d) {
    Vec right[columns];
    UNROLLED for (int c = 0; c < columns; ++c) right[c] = vec(y + d * y_stride + c * kWide);
    UNROLLED for (int r = 0; r < rows; ++r) {
      UNROLLED for (int c = 0; c < columns; ++c) total[r][c] += right[c] * x[d * x_stride + r];
    }
  }
  UNROLLED for (int r = 0; r < rows; ++r) {
    UNROLLED for (int c = 0; c < columns; ++c) vec(out + r * out_stride + c * kWide) = total[r][c];
  }
}

template <int rows>
static inline void band(const double* x, int x_stride, const double* y, int stride, int depth, double* out, int first) {
  int c = first;
  for (; c + kTileColumns * kWide <= stride; c += kTileColumns * kWide) {
    tile<rows, kTileColumns>(x, x_stride, y + c, stride, depth, out + c, stride);
  }
  if (kTileColumns > 2 && c + 2 * kWide <= stride) {
    tile<rows, 2>(x, x_stride, y + c, stride, depth, out + c, stride);
    c += 2 * kWide;
  }
  for (; c < stride; c += kWide) tile<rows, 1>(x, x_stride, y + c, stride, depth, out + c, stride);
}

// out[r][c] += sum_d x[d * x_stride + r] * y[d * stride + c], for r < rows and c from `first` on, or from r + first on
// if `upper` (where c - first is counted like r). May write up to kTileRows - 1 rows too many.
static inline void gram(const double* x, int x_stride, const double* y, int stride, int depth, int rows, int first,
                        bool upper, double* out) {
  int r = 0;
  for (; r + kTileRows <= rows; r += kTileRows) {
    band<kTileRows>(x + r, x_stride, y, stride, depth, out + r * stride, down(upper ? first + r : first));
  }
  if (r >= rows) return;
  const int from = down(upper ? first + r : first);
  if (rows - r <= kTileRows / 2) band<kTileRows / 2>(x + r, x_stride, y, stride, depth, out + r * stride, from);
  else band<kTileRows>(x + r, x_stride, y, stride, depth, out + r * stride, from);
}

// From lane order (count entries of kLanes) to rows: entry j of lane l, times scale, to out[l * apart + j].
static inline void unlane(const double* lanes, int count, int apart, int lane_count, double scale, double* out) {
  for (int l = 0; l < lane_count; ++l) {
    for (int j = 0; j < count; ++j) out[l * apart + j] = scale * lanes[j * kLanes + l];
  }
}
