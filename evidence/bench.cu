// How fast is the synced kernel from our PTX, beside the same kernel by nvcc and a device copy?
//
//     nvcc -std=c++17 -O3 -arch=sm_90 -o bench bench.cu -lcuda && ./bench kernels-sm_90.ptx [more.ptx …]
//
// Every round times every contender once, in turn; the table gives the median of the rounds and, for the
// ratios to nvcc's kernel, minimum, median and maximum over the rounds.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <cuda.h>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));     \
            std::exit(2);                                                            \
        }                                                                            \
    } while (0)

#define DRIVER(call)                                                                 \
    do {                                                                             \
        CUresult status = (call);                                                    \
        if (status != CUDA_SUCCESS) {                                                \
            const char* text = "";                                                   \
            cuGetErrorString(status, &text);                                         \
            std::fprintf(stderr, "%s: %s\n", #call, text);                           \
            std::exit(2);                                                            \
        }                                                                            \
    } while (0)

constexpr int kMaxThreads = 1024;

__global__ void reverse_tile_synced(const float* __restrict__ input, float* __restrict__ out, size_t n) {
    __shared__ float tile[kMaxThreads];
    const unsigned t = threadIdx.x;
    const size_t i = blockIdx.x * size_t(blockDim.x) + t;
    tile[t] = i < n ? input[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        out[i] = tile[blockDim.x - 1 - t];
    }
}

__global__ void fill(float* data, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) {
        data[i] = float(i % 65521) + 0.25f;
    }
}

struct Contender {
    std::string name;
    std::function<void()> launch;
    std::vector<float> times;
};

static double median(std::vector<float> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int main(int argc, char** argv) {
    const size_t n = size_t(1) << 28;
    const int rounds = 41;
    float *input, *out;
    CHECK(cudaMalloc(&input, n * sizeof(float)));
    CHECK(cudaMalloc(&out, n * sizeof(float)));
    fill<<<unsigned(n / 256), 256>>>(input, n);
    CHECK(cudaDeviceSynchronize());
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s, n = 2^28 floats, %d rounds\n", properties.name, rounds);

    std::vector<std::pair<std::string, CUfunction>> modules;
    for (int k = 1; k < argc; ++k) {
        std::ifstream file(argv[k]);
        std::stringstream text;
        text << file.rdbuf();
        CUmodule module;
        CUfunction function;
        DRIVER(cuModuleLoadData(&module, text.str().c_str()));
        DRIVER(cuModuleGetFunction(&function, module, "reverse_tile_synced"));
        modules.emplace_back(argv[k], function);
    }

    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::printf("%5s  %-28s %9s %8s   %s\n", "block", "kernel", "ms", "of copy", "time / nvcc's (min, median, max)");
    for (unsigned block : {128u, 256u, 512u}) {
        const unsigned blocks = unsigned(n / block);
        std::vector<Contender> all;
        all.push_back({"device copy", [&] {
            CHECK(cudaMemcpyAsync(out, input, n * sizeof(float), cudaMemcpyDeviceToDevice));
        }, {}});
        all.push_back({"nvcc -O3 -arch=sm_90", [&, block, blocks] {
            reverse_tile_synced<<<blocks, block>>>(input, out, n);
        }, {}});
        for (auto& [name, function] : modules) {
            CUfunction launched = function;
            all.push_back({name, [&, launched, block, blocks] {
                size_t length = n;
                void* arguments[] = {&input, &length, &out};
                DRIVER(cuLaunchKernel(launched, blocks, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr));
            }, {}});
        }
        for (int round = -3; round < rounds; ++round) {
            for (auto& contender : all) {
                CHECK(cudaEventRecord(start));
                contender.launch();
                CHECK(cudaEventRecord(stop));
                CHECK(cudaEventSynchronize(stop));
                float ms = 0;
                CHECK(cudaEventElapsedTime(&ms, start, stop));
                if (round >= 0) {
                    contender.times.push_back(ms);
                }
            }
        }
        const double copy = median(all[0].times);
        for (auto& contender : all) {
            std::vector<float> ratios;
            for (int round = 0; round < rounds; ++round) {
                ratios.push_back(contender.times[round] / all[1].times[round]);
            }
            std::sort(ratios.begin(), ratios.end());
            const double ms = median(contender.times);
            std::printf("%5u  %-28s %9.4f %7.1f%%   %.3f %.3f %.3f\n", block, contender.name.c_str(), ms,
                        100 * copy / ms, ratios.front(), median(ratios), ratios.back());
        }
    }
    return 0;
}
