// A small test runner: cases register themselves, checks count failures and go on, and may be made on any thread.
#pragma once

#include <sstream>
#include <string>

namespace robomorph::tests {

struct Case {
  const char* name;
  void (*run)();
  Case* next;

  Case(const char* name, void (*run)());
};

void report_failure(const char* file, int line, const std::string& text);

template <typename A, typename B>
void check_equal(const A& found, const B& expected, const char* text, const char* file, int line) {
  if (found == expected) return;
  std::ostringstream out;
  out.precision(17);
  out << text << ": found " << found << ", expected " << expected;
  report_failure(file, line, out.str());
}

inline void check_near(double found, double expected, double tolerance, const char* text, const char* file, int line) {
  const double off = found - expected;
  if (off <= tolerance && -off <= tolerance) return;  // false for NaN
  std::ostringstream out;
  out.precision(17);
  out << text << ": found " << found << ", expected " << expected << " within " << tolerance;
  report_failure(file, line, out.str());
}

}  // namespace robomorph::tests

// A case's name begins with its topic: `native_tests topic` runs those that begin so.
#define TEST_CASE(identifier, name)                                                          \
  static void identifier();                                                                  \
  static const robomorph::tests::Case identifier##_case(name, identifier);                   \
  static void identifier()

#define CHECK(condition) \
  ((condition) ? void() : robomorph::tests::report_failure(__FILE__, __LINE__, #condition))
#define CHECK_EQUAL(found, expected) \
  robomorph::tests::check_equal((found), (expected), #found, __FILE__, __LINE__)
#define CHECK_NEAR(found, expected, tolerance) \
  robomorph::tests::check_near((found), (expected), (tolerance), #found, __FILE__, __LINE__)

// ThreadSanitizer refuses new threads after a fork.
#if defined(__SANITIZE_THREAD__)
#define ROBOMORPH_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROBOMORPH_THREAD_SANITIZER 1
#endif
#endif
