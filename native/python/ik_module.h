// Python's side of the inverse-kinematics driver.
#pragma once

#include "python/python_api.h"

namespace robomorph {

// Adds `ik_plan` and `ik_solve` to the module; false with an exception set.
bool add_ik_functions(PyObject* module);

}  // namespace robomorph
