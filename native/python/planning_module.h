// Python's side of motion problems and their solver.
#pragma once

#include "python/python_api.h"

namespace robomorph {

// Adds the functions that begin with `motion_` to the module; false with an exception set.
bool add_planning_functions(PyObject* module);

}  // namespace robomorph
