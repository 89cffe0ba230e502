// Python's side of kernels that XLA calls.
#pragma once

#include "python/python_api.h"

namespace robomorph {

// Adds the functions that begin with `xla_` to the module; false with an exception set.
bool add_xla_functions(PyObject* module);

}  // namespace robomorph
