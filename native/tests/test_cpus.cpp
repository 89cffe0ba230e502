#include <sched.h>

#include "core/cpus.h"
#include "tests/check.h"

using namespace robomorph;

TEST_CASE(cpus_available, "cpus: no more than the system has, and at least one") {
  CHECK(available_cpus() >= 1);
#if defined(__linux__)
  cpu_set_t mask;
  CHECK_EQUAL(sched_getaffinity(0, sizeof mask, &mask), 0);
  CHECK_EQUAL(available_cpus(), static_cast<std::size_t>(CPU_COUNT(&mask)));
#endif
}

TEST_CASE(cpus_default, "cpus: the default number of threads is the CPUs', until it is set") {
  CHECK_EQUAL(default_threads(), available_cpus() < kMaxThreads ? available_cpus() : kMaxThreads);
  const std::size_t before = default_threads();
  set_default_threads(before + 3);
  CHECK_EQUAL(default_threads(), before + 3);
  set_default_threads(before);
}
