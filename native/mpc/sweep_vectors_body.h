// Vectors of WIDTH numbers for the bodies of sweeps. Included in a namespace for each set of instructions: nothing here
// may be shared between them, so all is static and no header with inline functions comes in.

constexpr int kWidth = WIDTH;
typedef double Vec __attribute__((vector_size(WIDTH * 8), may_alias));

static_assert(kLanes % kWidth == 0, "lanes are whole vectors");

// What works on vectors in registers must be part of its caller.
#define INLINED static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 8")
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE __builtin_shufflevector
#endif

INLINED const Vec& vec(const double* p) { return *reinterpret_cast<const Vec*>(p); }
INLINED Vec& vec(double* p) { return *reinterpret_cast<Vec*>(p); }

INLINED Vec spread(double x) { return Vec{} + x; }

static constexpr int whole(int count) { return (count + kWidth - 1) / kWidth * kWidth; }

// Lane `l` of a vector in all lanes.
template <int l>
INLINED Vec lane(const Vec& v) {
#if !defined(SHUFFLE)
  return spread(v[l]);
#elif WIDTH == 8
  return SHUFFLE(v, v, l, l, l, l, l, l, l, l);
#elif WIDTH == 4
  return SHUFFLE(v, v, l, l, l, l);
#else
  return SHUFFLE(v, v, l, l);
#endif
}

INLINED Vec root(const Vec& v) {
#if WIDTH == 8
  return (Vec)_mm512_maskz_sqrt_pd(0xff, (__m512d)v);
#elif WIDTH == 4
  return (Vec)_mm256_sqrt_pd((__m256d)v);
#elif defined(__SSE2__)
  return (Vec)_mm_sqrt_pd((__m128d)v);
#else
  return Vec{__builtin_sqrt(v[0]), __builtin_sqrt(v[1])};
#endif
}

// Of two vectors, numbers in pairs of lanes, and in groups of four and eight: those that stay and those that change
// places when rows become columns.
#if defined(SHUFFLE) && WIDTH == 8
#define EVEN(a, b) SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define ODD(a, b) SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define EVEN_PAIRS(a, b) SHUFFLE(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define ODD_PAIRS(a, b) SHUFFLE(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW(a, b) SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH(a, b) SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#elif defined(SHUFFLE) && WIDTH == 4
#define EVEN(a, b) SHUFFLE(a, b, 0, 4, 2, 6)
#define ODD(a, b) SHUFFLE(a, b, 1, 5, 3, 7)
#define LOW(a, b) SHUFFLE(a, b, 0, 1, 4, 5)
#define HIGH(a, b) SHUFFLE(a, b, 2, 3, 6, 7)
#elif defined(SHUFFLE)
#define LOW(a, b) SHUFFLE(a, b, 0, 2)
#define HIGH(a, b) SHUFFLE(a, b, 1, 3)
#endif

// Rows become columns.
INLINED void transpose(Vec* rows) {
#if !defined(SHUFFLE)
  for (int i = 0; i < kWidth; ++i) {
    for (int j = 0; j < i; ++j) {
      const double kept = rows[i][j];
      rows[i][j] = rows[j][i];
      rows[j][i] = kept;
    }
  }
#else
  Vec a[kWidth];
#if WIDTH == 8
  Vec b[kWidth];
  UNROLLED for (int i = 0; i < kWidth; i += 2) {
    b[i] = EVEN(rows[i], rows[i + 1]);
    b[i + 1] = ODD(rows[i], rows[i + 1]);
  }
  UNROLLED for (int i = 0; i < kWidth; i += 4) {
    UNROLLED for (int j = i; j < i + 2; ++j) {
      a[j] = EVEN_PAIRS(b[j], b[j + 2]);
      a[j + 2] = ODD_PAIRS(b[j], b[j + 2]);
    }
  }
#elif WIDTH == 4
  UNROLLED for (int i = 0; i < kWidth; i += 2) {
    a[i] = EVEN(rows[i], rows[i + 1]);
    a[i + 1] = ODD(rows[i], rows[i + 1]);
  }
#else
  a[0] = rows[0], a[1] = rows[1];
#endif
  UNROLLED for (int i = 0; i < kWidth / 2; ++i) {
    rows[i] = LOW(a[i], a[i + kWidth / 2]);
    rows[i + kWidth / 2] = HIGH(a[i], a[i + kWidth / 2]);
  }
#endif
}

// Lane i of the result is the sum of the lanes of rows[i].
INLINED Vec sums(const Vec* rows) {
#if !defined(SHUFFLE)
  Vec out = {};
  for (int i = 0; i < kWidth; ++i) {
    for (int l = 0; l < kWidth; ++l) out[i] += rows[i][l];
  }
  return out;
#elif WIDTH == 8
  Vec a[4], b[2];
  UNROLLED for (int i = 0; i < 4; ++i) {
    a[i] = EVEN(rows[2 * i], rows[2 * i + 1]) + ODD(rows[2 * i], rows[2 * i + 1]);
  }
  UNROLLED for (int i = 0; i < 2; ++i) {
    b[i] = EVEN_PAIRS(a[2 * i], a[2 * i + 1]) + ODD_PAIRS(a[2 * i], a[2 * i + 1]);
  }
  return LOW(b[0], b[1]) + HIGH(b[0], b[1]);
#elif WIDTH == 4
  const Vec a = EVEN(rows[0], rows[1]) + ODD(rows[0], rows[1]);
  const Vec b = EVEN(rows[2], rows[3]) + ODD(rows[2], rows[3]);
  return LOW(a, b) + HIGH(a, b);
#else
  return LOW(rows[0], rows[1]) + HIGH(rows[0], rows[1]);
#endif
}

INLINED double total(const Vec& v) {
  double out = 0.0;
  UNROLLED for (int l = 0; l < kWidth; ++l) out += v[l];
  return out;
}

// Entries in lane order, (count, kLanes), times `by` (kLanes; null for one) become rows: lane l at to + l * stride, with
// zeros up to a whole vector.
INLINED void to_rows(const double* from, int count, const double* by, double* to, int stride) {
  for (int first = 0; first < kLanes; first += kWidth) {
    const Vec factor = by ? vec(by + first) : Vec{};
    for (int e = 0; e < count; e += kWidth) {
      Vec rows[kWidth];
      UNROLLED for (int i = 0; i < kWidth; ++i) {
        if (e + i >= count) rows[i] = Vec{};
        else rows[i] = by ? vec(from + (e + i) * kLanes + first) * factor : vec(from + (e + i) * kLanes + first);
      }
      transpose(rows);
      UNROLLED for (int l = 0; l < kWidth; ++l) vec(to + (first + l) * stride + e) = rows[l];
    }
  }
}

// The other way.
INLINED void to_lanes(const double* from, int stride, int count, double* to) {
  for (int e = 0; e < count; e += kWidth) {
    for (int first = 0; first < kLanes; first += kWidth) {
      Vec rows[kWidth];
      UNROLLED for (int l = 0; l < kWidth; ++l) rows[l] = vec(from + (first + l) * stride + e);
      transpose(rows);
      UNROLLED for (int i = 0; i < kWidth; ++i) {
        if (e + i < count) vec(to + (e + i) * kLanes + first) = rows[i];
      }
    }
  }
}

constexpr double kHuge = __DBL_MAX__;

INLINED bool finite(double x) { return x - x == 0.0; }
