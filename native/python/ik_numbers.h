// Checks and packs what callers pass, without Python's cost: for loops that solve one pose at a time.
#pragma once

#include "python/python_api.h"

namespace robomorph {

// ik_numbers(value): a contiguous float64 array of an array of numbers, or of lists and tuples of numbers; None if it is
// anything else. Several times quicker than NumPy, which looks for much more in a list.
PyObject* py_ik_numbers(PyObject* module, PyObject* value);

// ik_pack_poses(array): (n, 12), position then rotation row by row, of float64 poses (..., 4, 4), or None if the
// array is anything else: not contiguous, not finite, not rotations to 1e-12. None is for Python to explain.
PyObject* py_ik_pack_poses(PyObject* module, PyObject* value);

// ik_pack_rows(array, size): (n, size) of float64 rows (..., size), or None as above. A copy: the reason of a
// failure is worked out later, and the caller may have written to his array by then.
PyObject* py_ik_pack_rows(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

}  // namespace robomorph
