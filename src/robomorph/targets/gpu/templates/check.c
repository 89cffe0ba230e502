/* Runs every kernel with known states on the first OpenCL device and compares: the example to start from. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"
#include "reference.h"

enum { MOST_ARGUMENTS = 32 };

static void require(cl_int status, const char* doing)
{
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", doing, (int)status);
    exit(2);
}

static char* read_text(const char* path)
{
    FILE* file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot open %s: run this in the folder that has kernels/\n", path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char* text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) exit(2);
    text[size] = 0;
    fclose(file);
    return text;
}

static cl_kernel build(cl_context context, cl_device_id device, const RobomorphKernel* kernel)
{
    cl_int status;
    char* text = read_text(kernel->file);
    cl_program program = clCreateProgramWithSource(context, 1, (const char**)&text, NULL, &status);
    require(status, "clCreateProgramWithSource");
    require(clBuildProgram(program, 1, &device, "", NULL, NULL), kernel->file);
    cl_kernel built = clCreateKernel(program, kernel->symbol, &status);
    require(status, "clCreateKernel");
    require(clReleaseProgram(program), "clReleaseProgram");
    free(text);
    return built;
}

/* A buffer of `count` numbers of the kernel's format; NULL values leave it unset. */
static cl_mem numbers(cl_context context, int single, unsigned count, const double* values)
{
    cl_int status;
    const size_t bytes = count * (single ? sizeof(float) : sizeof(double));
    void* host = calloc(1, bytes);
    for (unsigned k = 0; values && k < count; ++k) {
        if (single)
            ((float*)host)[k] = (float)values[k];
        else
            ((double*)host)[k] = values[k];
    }
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, host, &status);
    require(status, "clCreateBuffer");
    free(host);
    return buffer;
}

static double compare(cl_command_queue queue, cl_mem buffer, int single, unsigned count, const double* expected,
                      double* largest)
{
    const size_t bytes = count * (single ? sizeof(float) : sizeof(double));
    void* host = malloc(bytes);
    double worst = 0.0;
    require(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (unsigned k = 0; k < count; ++k) {
        const double found = single ? (double)((float*)host)[k] : ((double*)host)[k];
        worst = found == found ? fmax(worst, fabs(found - expected[k])) : INFINITY;
        *largest = fmax(*largest, fabs(expected[k]));
    }
    free(host);
    return worst;
}

static double check(cl_context context, cl_device_id device, cl_command_queue queue, const RobomorphKernel* kernel,
                    const RobomorphReference* reference)
{
    cl_int status;
    cl_mem buffers[MOST_ARGUMENTS];
    unsigned used = 0;
    for (unsigned k = 0; k < reference->input_count; ++k)
        buffers[used++] =
            numbers(context, kernel->single, RM_STATES * reference->input_sizes[k], reference->inputs[k]);
    for (unsigned k = 0; k < reference->output_count; ++k)
        buffers[used++] = numbers(context, kernel->single, RM_STATES * reference->output_sizes[k], NULL);
    for (unsigned k = 0; k < kernel->table_count; ++k) {
        buffers[used++] = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, kernel->table_bytes[k],
                                         (void*)kernel->tables[k], &status);
        require(status, "clCreateBuffer");
    }
    cl_kernel built = build(context, device, kernel);
    const cl_uint states = RM_STATES;
    for (unsigned k = 0; k < used; ++k) require(clSetKernelArg(built, k, sizeof(cl_mem), &buffers[k]), "argument");
    require(clSetKernelArg(built, used, sizeof(states), &states), "argument");
    const size_t local = kernel->block_threads;
    const size_t global = (states + kernel->evaluations - 1) / kernel->evaluations * local;
    require(clEnqueueNDRangeKernel(queue, built, 1, NULL, &global, &local, 0, NULL, NULL), kernel->symbol);
    double worst = 0.0, largest = 0.0;
    for (unsigned k = 0; k < reference->output_count; ++k) {
        const unsigned count = RM_STATES * reference->output_sizes[k];
        const double error = compare(queue, buffers[reference->input_count + k], kernel->single, count,
                                     reference->outputs[k], &largest);
        worst = fmax(worst, error);
    }
    for (unsigned k = 0; k < used; ++k) require(clReleaseMemObject(buffers[k]), "clReleaseMemObject");
    require(clReleaseKernel(built), "clReleaseKernel");
    return worst / largest;
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    int right = 1;
    require(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    require(status, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    require(status, "clCreateCommandQueue");
    for (unsigned k = 0; k < sizeof(robomorph_kernels) / sizeof(robomorph_kernels[0]); ++k) {
        const RobomorphKernel* kernel = &robomorph_kernels[k];
        const double error = check(context, device, queue, kernel, &robomorph_references[kernel->reference]);
        const int close = error <= (kernel->single ? 1e-3 : 1e-9);
        printf("%-50s error %.2e  %s\n", kernel->name, error, close ? "ok" : "WRONG");
        right = right && close;
    }
    require(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    require(clReleaseContext(context), "clReleaseContext");
    return right ? 0 : 1;
}
