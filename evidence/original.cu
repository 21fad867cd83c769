// The lesson's kernels in CUDA C++, to run beside the Rust ones on the same card.
//
//     nvcc -std=c++17 -O3 -lineinfo -arch=sm_90 -o original original.cu && ./original
//
// Prints mismatches for each kernel and block size, as `cargo xtask run` does. Times nothing.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));     \
            std::exit(2);                                                            \
        }                                                                            \
    } while (0)

constexpr int kMaxThreads = 1024;

template <bool kBarrier>
__global__ void reverse_tile(const float* __restrict__ input, float* __restrict__ out, size_t n) {
    __shared__ float tile[kMaxThreads];
    const unsigned t = threadIdx.x;
    const size_t i = blockIdx.x * size_t(blockDim.x) + t;
    tile[t] = i < n ? input[i] : 0.0f;
    if (kBarrier) {
        __syncthreads();
    }
    if (i < n) {
        out[i] = tile[blockDim.x - 1 - t];
    }
}

// Writes its cell, and half of the threads leave before the barrier that the others read behind.
__global__ void exited_writer(float* out) {
    __shared__ float tile[kMaxThreads];
    const unsigned t = threadIdx.x;
    tile[t] = float(t);
    if (t >= blockDim.x / 2) {
        return;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = tile[blockDim.x - 1 - t];
}

int main() {
    constexpr size_t n = 262755;
    std::vector<float> input(n), out(n);
    for (size_t i = 0; i < n; ++i) {
        input[i] = float(i + 1);
    }
    float *d_input, *d_out;
    CHECK(cudaMalloc(&d_input, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CHECK(cudaMemcpy(d_input, input.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    for (unsigned block : {32u, 64u, 128u, 256u}) {
        const unsigned blocks = unsigned((n + block - 1) / block);
        for (bool barrier : {false, true}) {
            CHECK(cudaMemset(d_out, 0xff, n * sizeof(float)));
            if (barrier) {
                reverse_tile<true><<<blocks, block>>>(d_input, d_out, n);
            } else {
                reverse_tile<false><<<blocks, block>>>(d_input, d_out, n);
            }
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
            size_t wrong = 0;
            for (size_t i = 0; i < n; ++i) {
                const size_t source = i / block * block + (block - 1 - i % block);
                const float wanted = source < n ? input[source] : 0.0f;
                wrong += std::memcmp(&out[i], &wanted, sizeof wanted) != 0;
            }
            std::printf("%5u  %-12s %9zu mismatches\n", block, barrier ? "synced" : "racy", wrong);
        }
    }
    for (unsigned block : {32u, 64u, 256u}) {
        exited_writer<<<4, block>>>(d_out);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    std::printf("exited_writer returned at 32, 64 and 256 threads a block\n");
    return 0;
}
