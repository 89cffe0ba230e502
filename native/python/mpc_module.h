// Python's side of control problems and their solver.
#pragma once

#include "python/python_api.h"

namespace robomorph {

// Adds the functions that begin with `mpc_` to the module; false with an exception set.
bool add_mpc_functions(PyObject* module);

}  // namespace robomorph
