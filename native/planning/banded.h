// A symmetric block-banded matrix with a border of at most one row: storage shared by problem and solver.
//
// Column-major lower band: entry (i, j), i >= j, i - j <= half, lies at data[j * stride + (i - j)]; the border's row
// lies apart. half = (reach + 1) * block - 1. Memory is taken once.
#pragma once

#include <cstddef>
#include <vector>

namespace robomorph::planning {

struct Banded {
  int size = 0;    // without the border
  int half = 0;    // entries below the diagonal
  int stride = 0;  // of a column, >= half + 1
  int border = 0;
  std::vector<double> data;    // (size, stride)
  std::vector<double> arrow;   // (size,) the border's row
  double corner = 0.0;

  double& at(int i, int j) { return data[static_cast<std::size_t>(j) * stride + (i - j)]; }
};

}  // namespace robomorph::planning
