// Functions of a motion that Python evaluates on a device, for all nodes at once.
#pragma once

#include <memory>

#include "planning/motion_data.h"
#include "planning/node_device.h"
#include "python/python_api.h"

namespace robomorph {

// From the entry `device` of a dictionary of kernels:
//   run: called with a job's name, False if it failed, which it then remembers itself;
//   control (points, nv), sigma (1,): doubles, what a job is about; multipliers (pieces * nodes, functions): doubles;
//   tables: arrays by name, all of float or all of double; single: which.
// Null without an exception if there is no such entry; null with one if it is wrong. Needs the GIL, also to be destroyed.
std::unique_ptr<planning::NodeDevice> read_node_device(PyObject* kernels, const planning::MotionData& data);

}  // namespace robomorph
