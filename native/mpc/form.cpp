#include "mpc/form.h"

#include "mpc/forward_form.h"
#include "mpc/inverse_form.h"

namespace robomorph::mpc {

bool may_be_wide(const Problem& problem) { return problem.method == Method::kInverse; }

std::unique_ptr<Form> make_form(Work& work) {
  switch (work.problem.method) {
    case Method::kEuler: return std::unique_ptr<Form>(new ForwardForm(work, Integrator::kEuler));
    case Method::kMidpoint: return std::unique_ptr<Form>(new ForwardForm(work, Integrator::kMidpoint));
    case Method::kRk4: return std::unique_ptr<Form>(new ForwardForm(work, Integrator::kRk4));
    default: return std::unique_ptr<Form>(new InverseForm(work));
  }
}

}  // namespace robomorph::mpc
