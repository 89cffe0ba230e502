// Runs every kernel on the GPU with known states and compares the results: the example to start from.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels.h"
#include "reference.h"

static void require(cudaError_t status, const char* doing)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", doing, cudaGetErrorString(status));
    std::exit(2);
}

// Runs one kernel on RM_STATES states and returns the largest error, relative to the largest expected entry.
template <class T>
static double check(const RobomorphKernel& kernel, const RobomorphReference& reference)
{
    std::vector<void*> inputs, outputs;
    for (unsigned k = 0; k < reference.input_count; ++k) {
        const unsigned count = RM_STATES * reference.input_sizes[k];
        const std::vector<T> host(reference.inputs[k], reference.inputs[k] + count);
        void* device = nullptr;
        require(cudaMalloc(&device, count * sizeof(T)), "cudaMalloc");
        require(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice), "copy in");
        inputs.push_back(device);
    }
    for (unsigned k = 0; k < reference.output_count; ++k) {
        void* device = nullptr;
        require(cudaMalloc(&device, RM_STATES * reference.output_sizes[k] * sizeof(T)), "cudaMalloc");
        outputs.push_back(device);
    }
    require(kernel.launch(inputs.data(), outputs.data(), RM_STATES, nullptr), kernel.name);
    require(cudaDeviceSynchronize(), kernel.name);
    double worst = 0.0, largest = 0.0;
    for (unsigned k = 0; k < reference.output_count; ++k) {
        const unsigned count = RM_STATES * reference.output_sizes[k];
        std::vector<T> host(count);
        require(cudaMemcpy(host.data(), outputs[k], count * sizeof(T), cudaMemcpyDeviceToHost), "copy out");
        for (unsigned j = 0; j < count; ++j) {
            worst = std::fmax(worst, std::fabs(host[j] - reference.outputs[k][j]));
            largest = std::fmax(largest, std::fabs(reference.outputs[k][j]));
            if (std::isnan(host[j])) worst = INFINITY;
        }
    }
    for (void* device : inputs) require(cudaFree(device), "cudaFree");
    for (void* device : outputs) require(cudaFree(device), "cudaFree");
    return worst / largest;
}

int main()
{
    bool right = true;
    for (const RobomorphKernel& kernel : robomorph_kernels) {
        const RobomorphReference& reference = robomorph_references[kernel.reference];
        const double error = kernel.single ? check<float>(kernel, reference) : check<double>(kernel, reference);
        const bool close = error <= (kernel.single ? 1e-3 : 1e-9);
        std::printf("%-50s error %.2e  %s\n", kernel.name, error, close ? "ok" : "WRONG");
        right = right && close;
    }
    return right ? 0 : 1;
}
