// The inner loops of the banded factorisation, one set for every vector width; the processor decides at run time.
#pragma once

namespace robomorph::planning {

// A tile of the factor has `tile_rows` x `tile_columns` entries; both loops below work on whole tiles.
struct BandedKernels {
  int tile_rows, tile_columns;

  // out(r, c) = sum over k of a[k * ld + r] * b[k * ld + c], out column-major with leading dimension tile_rows.
  void (*product)(const double* a, const double* b, int ld, int count, double* out);

  // tile := (source - tile) * inverse(L'), where L (lower, leading dimension ld) has the inverses of its diagonal in
  // `inverse`; the result goes to `source` (leading dimension ld), rows beyond `rows` only into the tile.
  void (*finish)(double* tile, double* source, int rows, const double* lower, const double* inverse, int ld);

  void (*subtract)(double* y, const double* x, double factor, int count);  // y -= factor * x
  double (*dot)(const double* x, const double* y, int count);
};

inline constexpr int kMostTileRows = 12, kMostTileColumns = 4;

// The widest set that this processor runs, or that of `lanes` (2, 4) if it is there: for tests.
const BandedKernels& banded_kernels(int lanes = 0);

}  // namespace robomorph::planning
