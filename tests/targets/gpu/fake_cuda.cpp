// A stand-in for libcuda: device memory is host memory, a module is a shared library made with the host
// shim, streams are carried out at once. Tests ask it what is still allocated and let calls fail.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace {
std::map<std::string, int> failing;
std::map<std::pair<void*, void*>, int> ordered;  // streams of which the second was told to wait for the first
int events = 0, device_blocks = 0, host_blocks = 0, copies_in = 0, copies_out = 0, launches = 0;

int status(const char* name) {
  auto found = failing.find(name);
  if (found == failing.end()) return 0;
  const int code = found->second;
  failing.erase(found);
  return code;
}
}  // namespace

extern "C" {
using Launcher = void (*)(unsigned blocks, unsigned threads, void** args);

void fake_fail_next(const char* name, int code) { failing[name] = code; }
int fake_count(const char* name) {
  const std::map<std::string, int> counts = {{"device", device_blocks}, {"host", host_blocks},
      {"in", copies_in}, {"out", copies_out}, {"launches", launches}, {"events", events}};
  return counts.at(name);
}
int fake_ordered(void* first, void* then) { return ordered[{first, then}]; }

int cuInit(unsigned) { return status("cuInit"); }
int cuGetErrorName(int, const char** text) { return *text = "CUDA_ERROR_FAKE", 0; }
int cuGetErrorString(int code, const char** text) {
  return *text = code == 700 ? "an illegal memory access was encountered" : "some other error", 0;
}
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* text, int size, int) { return std::strncpy(text, "Fake GPU", size), 0; }
int cuDeviceGetAttribute(int* value, int which, int) {
  const std::map<int, int> values = {{75, 8}, {76, 0}, {16, 4}, {39, 2048}, {97, 99 * 1024}};
  return *value = values.at(which), 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &failing, 0; }
int cuCtxSetCurrent(void* context) { return context == &failing ? 0 : 201; }
int cuModuleLoadData(void** module, const char* path) {
  *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return *module ? status("cuModuleLoadData") : 200;
}
int cuModuleGetFunction(void** function, void* module, const char* symbol) {
  *function = dlsym(module, (std::string("launch_") + symbol).c_str());
  return *function ? 0 : 500;
}
int cuFuncSetAttribute(void*, int, int) { return status("cuFuncSetAttribute"); }
int cuMemAlloc_v2(unsigned long long* pointer, std::size_t size) {
  if (int code = status("cuMemAlloc_v2")) return code;
  void* block = std::malloc(size);
  std::memset(block, 0xff, size);  // NaN: what is not written shows
  *pointer = reinterpret_cast<unsigned long long>(block);
  return ++device_blocks, 0;
}
int cuMemFree_v2(unsigned long long pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  return --device_blocks, 0;
}
int cuMemHostAlloc(void** pointer, std::size_t size, unsigned) {
  *pointer = std::malloc(size);
  return ++host_blocks, 0;
}
int cuMemFreeHost(void* pointer) {
  std::free(pointer);
  return --host_blocks, 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t size, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, size);
  return ++copies_in, status("cuMemcpyHtoDAsync_v2");
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t size, void*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), size);
  return ++copies_out, status("cuMemcpyDtoHAsync_v2");
}
int cuStreamCreate(void** stream, unsigned) { return *stream = &failing, 0; }
int cuEventCreate(void** event, unsigned) { return *event = new void*, ++events, 0; }
int cuEventRecord(void* event, void* stream) { return *static_cast<void**>(event) = stream, 0; }
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return ++ordered[{*static_cast<void**>(event), stream}], status("cuStreamWaitEvent");
}
int cuEventDestroy_v2(void* event) { return delete static_cast<void**>(event), --events, 0; }
int cuStreamSynchronize(void*) { return status("cuStreamSynchronize"); }
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void*, void** args, void**) {
  if (int code = status("cuLaunchKernel")) return code;
  reinterpret_cast<Launcher>(function)(blocks, threads, args);
  return ++launches, 0;
}
}
