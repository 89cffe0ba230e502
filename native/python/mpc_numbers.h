// Reads a control problem from dictionaries of numbers, kernels and arrays.
#pragma once

#include <vector>

#include "mpc/problem.h"
#include "python/python_api.h"

namespace robomorph {

// False with an exception set. The arrays are used in place: `kept` gets a new reference to each.
bool read_control(PyObject* numbers, PyObject* kernels, PyObject* arrays, mpc::Problem& out, std::size_t& threads,
                  std::vector<PyObject*>& kept);

}  // namespace robomorph
