// Reads a motion problem from a dictionary of arrays.
#pragma once

#include "planning/motion_data.h"
#include "python/python_api.h"

namespace robomorph {

// Both false with an exception set. `numbers` has the names of planning/problem.py, those of parts with the part's
// name in front (rows_piece); `kernels` has a tuple (address, bytes of workspace) for every kernel there is.
bool read_motion(PyObject* numbers, planning::MotionData& data);
bool read_motion_kernels(PyObject* kernels, planning::MotionKernels& out);

}  // namespace robomorph
