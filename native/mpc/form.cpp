#include "mpc/form.h"

#include "mpc/inverse_form.h"

namespace robomorph::mpc {

bool may_be_wide(const Problem&) { return true; }

std::unique_ptr<Form> make_form(Work& work) { return std::unique_ptr<Form>(new InverseForm(work)); }

}  // namespace robomorph::mpc
