#include "mpc/rows.h"

namespace robomorph::mpc {

void clear(Reach& reach) { reach = {}; }

void clear(Measure& measure) {
  measure = {};
  for (double& mantissa : measure.mantissa) mantissa = 1.0;
}

}  // namespace robomorph::mpc
