// Python's side of the solver of motion problems.
#pragma once

#include "python/python_api.h"

namespace robomorph {

// motion_solve(problem, x, options, progress, multipliers): a dictionary. `progress` is called with a dictionary after
// every iteration and stops the search by returning False; None for no such call.
PyObject* py_motion_solve(PyObject*, PyObject* const* args, Py_ssize_t nargs);

}  // namespace robomorph
