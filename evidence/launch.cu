// Launches kernels of a PTX file and compares with the reversal of each block's tile.
//
//     nvcc -std=c++17 -O2 -o launch launch.cu -lcuda && ./launch kernels.ptx KERNEL BLOCK [N]
//
// For kernels with the parameters (input: &[f32], out: *mut f32). Times nothing.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <cuda.h>

#define DRIVER(call)                                                                 \
    do {                                                                             \
        CUresult status = (call);                                                    \
        if (status != CUDA_SUCCESS) {                                                \
            const char* text = "";                                                   \
            cuGetErrorString(status, &text);                                         \
            std::printf("%s: %s\n", #call, text);                                    \
            std::exit(2);                                                            \
        }                                                                            \
    } while (0)

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: launch PTX KERNEL BLOCK [N]\n");
        return 2;
    }
    const size_t block = std::strtoul(argv[3], nullptr, 10);
    size_t n = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 262755;
    std::ifstream file(argv[1]);
    std::stringstream text;
    text << file.rdbuf();

    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuModuleLoadData(&module, text.str().c_str()));
    DRIVER(cuModuleGetFunction(&kernel, module, argv[2]));

    // Some kernels go over several arrays' worth of input.
    const size_t room = 8 * n;
    std::vector<float> input(room), out(n);
    for (size_t i = 0; i < room; ++i) {
        input[i] = float(i + 1);
    }
    CUdeviceptr d_input, d_out;
    DRIVER(cuMemAlloc(&d_input, room * sizeof(float)));
    DRIVER(cuMemAlloc(&d_out, room * sizeof(float)));
    DRIVER(cuMemcpyHtoD(d_input, input.data(), room * sizeof(float)));
    DRIVER(cuMemsetD8(d_out, 0xff, n * sizeof(float)));
    void* arguments[] = {&d_input, &n, &d_out};
    const unsigned blocks = unsigned((n + block - 1) / block);
    DRIVER(cuLaunchKernel(kernel, blocks, 1, 1, unsigned(block), 1, 1, 0, nullptr, arguments, nullptr));
    DRIVER(cuCtxSynchronize());
    DRIVER(cuMemcpyDtoH(out.data(), d_out, n * sizeof(float)));
    size_t wrong = 0, first = n;
    for (size_t i = 0; i < n; ++i) {
        const size_t source = i / block * block + (block - 1 - i % block);
        const float wanted = source < n ? input[source] : 0.0f;
        if (std::memcmp(&out[i], &wanted, sizeof wanted) != 0) {
            ++wrong;
            first = first < n ? first : i;
        }
    }
    std::printf("%-24s %4zu threads  %7zu of %zu differ from the reversed tiles", argv[2], block, wrong, n);
    if (wrong > 0) {
        std::printf(", the first at %zu", first);
    }
    std::printf("\n");
    return 0;
}
