#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/cpus.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

// A folder as the system's, to be filled cache by cache.
struct Caches {
  std::string folder;

  Caches() {
    char name[] = "/tmp/robomorph_caches_XXXXXX";
    folder = mkdtemp(name);
  }
  ~Caches() { std::filesystem::remove_all(folder); }

  void add(int index, const char* level, const char* type, const char* size) const {
    const std::string cache = folder + "/index" + std::to_string(index);
    std::filesystem::create_directory(cache);
    std::ofstream(cache + "/level") << level << "\n";
    std::ofstream(cache + "/type") << type << "\n";
    std::ofstream(cache + "/size") << size << "\n";
  }
  std::size_t last() const { return last_level_cache_in(folder.c_str()); }
};

}  // namespace

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

TEST_CASE(cpus_cache, "cpus: the cache of the highest level counts, in any order, and never one of instructions") {
  const Caches caches;
  CHECK_EQUAL(caches.last(), std::size_t{0});
  caches.add(0, "1", "Data", "32K");
  CHECK_EQUAL(caches.last(), std::size_t{32} << 10);
  caches.add(1, "2", "Instruction", "512K");
  CHECK_EQUAL(caches.last(), std::size_t{32} << 10);
  caches.add(3, "3", "Unified", "32768K");  // without a second one: nothing says that numbers follow each other
  caches.add(4, "2", "Unified", "1024K");
  CHECK_EQUAL(caches.last(), std::size_t{32} << 20);
  caches.add(5, "4", "Unified", "48M");
  CHECK_EQUAL(caches.last(), std::size_t{48} << 20);
}

TEST_CASE(cpus_cache_unknown, "cpus: what is no size is no cache") {
  for (const char* size : {"", "-1", "many", "32768Q", "99999999999999999999K", "K"}) {
    const Caches caches;
    caches.add(0, "1", "Data", "32K");
    caches.add(1, "3", "Unified", size);
    CHECK_EQUAL(caches.last(), std::size_t{0});
  }
  CHECK_EQUAL(last_level_cache_in("/nowhere/at/all"), std::size_t{0});
  CHECK(last_level_cache() < std::size_t{1} << 40);
}
