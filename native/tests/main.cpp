// Runs all cases, or those whose names begin with the argument; prints what failed.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "core/threadpool.h"
#include "tests/check.h"

// A request for more memory than there is must give nullptr, as it does without a sanitizer. Sanitizers look these
// functions up by name.
#define ROBOMORPH_SEEN __attribute__((visibility("default")))
extern "C" ROBOMORPH_SEEN const char* __asan_default_options();
extern "C" ROBOMORPH_SEEN const char* __tsan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace robomorph::tests {
namespace {

Case* first_case = nullptr;
std::atomic<int> failures{0};
constexpr int kMostShown = 50;

}  // namespace

Case::Case(const char* name, void (*run)()) : name(name), run(run), next(first_case) { first_case = this; }

void report_failure(const char* file, int line, const std::string& text) {
  if (++failures <= kMostShown) std::fprintf(stderr, "  %s:%d: %s\n", file, line, text.c_str());
}

int run_cases(const char* topic) {
  int run = 0, failed = 0;
  for (const Case* c = first_case; c != nullptr; c = c->next) {
    if (std::strncmp(c->name, topic, std::strlen(topic)) != 0) continue;
    const int before = failures;
    c->run();
    ++run;
    if (failures == before) continue;
    ++failed;
    std::fprintf(stderr, "FAILED %s: %d checks\n", c->name, failures - before);
  }
  if (run == 0) std::fprintf(stderr, "no case begins with '%s'\n", topic);
  std::printf("%d cases, %d failed\n", run, failed);
  return run == 0 || failed > 0 ? 1 : 0;
}

}  // namespace robomorph::tests

int main(int argc, char** argv) {
  const int status = robomorph::tests::run_cases(argc > 1 ? argv[1] : "");
  return robomorph::global_pool().shutdown() ? status : 1;
}
