// The versions of dense.h that this machine may have.
#pragma once

#include "planning/dense.h"

namespace robomorph::planning {

const Dense& dense_plain();
#if defined(__x86_64__)
const Dense& dense_avx2();    // needs AVX2 and FMA
const Dense& dense_avx512();  // needs AVX-512 F
#endif

}  // namespace robomorph::planning
