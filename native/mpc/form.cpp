#include "mpc/form.h"

#include "mpc/forward_form.h"
#include "mpc/inverse_form.h"

namespace robomorph::mpc {

bool may_be_wide(const Problem& problem) { return problem.method == Method::kInverse; }

std::unique_ptr<Form> make_form(Work& work) {
  switch (work.problem.method) {
    case Method::kEuler: return std::make_unique<ForwardForm>(work, Integrator::kEuler);
    case Method::kMidpoint: return std::make_unique<ForwardForm>(work, Integrator::kMidpoint);
    case Method::kRk4: return std::make_unique<ForwardForm>(work, Integrator::kRk4);
    default: return std::make_unique<InverseForm>(work);
  }
}

}  // namespace robomorph::mpc
