// Arrays for results: ordinary ones that own their data, the large ones in memory that is used again.
#pragma once

#include "python/python_api.h"

namespace robomorph {

// Once, when the module is loaded. False with an exception set.
bool prepare_result_memory();

// A new array of so many bytes; nullptr with an exception set.
PyObject* new_result(int nd, const npy_intp* dims, int typenum, std::size_t bytes);

}  // namespace robomorph
