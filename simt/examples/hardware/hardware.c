/* Runs every kernel of a folder on the first card: NAME.ptx with the inputs NAME.in, and writes NAME.out.
 *
 *   cc -O2 hardware.c -o hardware -ldl && ./hardware DIR
 *
 * The first line of a kernel says how to launch it: "// grid G block B inputs I outputs O dynamic D", inputs and
 * outputs in 64-bit words a thread, dynamic shared memory in bytes a block, or without the last. Needs NVIDIA's driver
 * alone: no header and no library of the toolkit. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*init_t)(unsigned);
typedef int (*device_t)(int *, int);
typedef int (*retain_t)(void **, int);
typedef int (*current_t)(void *);
typedef int (*load_t)(void **, const void *, unsigned, int *, void **);
typedef int (*unload_t)(void *);
typedef int (*function_t)(void **, void *, const char *);
typedef int (*alloc_t)(uint64_t *, size_t);
typedef int (*free_t)(uint64_t);
typedef int (*in_t)(uint64_t, const void *, size_t);
typedef int (*out_t)(void *, uint64_t, size_t);
typedef int (*set_t)(uint64_t, unsigned char, size_t);
typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                        void **);
typedef int (*sync_t)(void);

static void *driver;

static void *symbol(const char *name) {
    void *found = dlsym(driver, name);
    if (!found) {
        fprintf(stderr, "the driver has no %s; install a newer one\n", name);
        exit(2);
    }
    return found;
}

/* The content of a file and a zero behind it; NULL if it cannot be read. */
static char *content(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = length < 0 ? NULL : malloc((size_t)length + 1);
    if (bytes && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    if (bytes) {
        bytes[length] = 0;
        *size = (size_t)length;
    }
    return bytes;
}

/* Runs one kernel. Says what failed on standard error and gives 1, else 0. */
static int run(const char *folder, const char *name) {
    char path[4096], log[4096] = "";
    size_t length, input_size;
    snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
    char *text = content(path, &length);
    snprintf(path, sizeof path, "%s/%s.in", folder, name);
    char *input = content(path, &input_size);
    unsigned grid, block, inputs, outputs, dynamic = 0;
    const char *head = "// grid %u block %u inputs %u outputs %u dynamic %u";
    if (!text || !input || sscanf(text, head, &grid, &block, &inputs, &outputs, &dynamic) < 4) {
        fprintf(stderr, "%s: no launch in its first line, or no inputs; write it again\n", name);
        return 1;
    }
    unsigned threads = grid * block;
    size_t output_size = (size_t)threads * outputs * 8;
    if (input_size != (size_t)threads * inputs * 8) {
        fprintf(stderr, "%s: the inputs have another size; write it again\n", name);
        return 1;
    }
    /* CU_JIT_ERROR_LOG_BUFFER and its size. */
    int options[] = {5, 6};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    void *module, *function;
    uint64_t in = 0, out = 0;
    char *output = malloc(output_size);
    int error = ((load_t)symbol("cuModuleLoadDataEx"))(&module, text, 2, options, values);
    if (error) {
        fprintf(stderr, "%s: the driver does not load it (error %d): %s\n", name, error, log);
        free(text), free(input), free(output);
        return 1;
    }
    void *arguments[] = {&in, &out, &threads};
    const char *step = "find the kernel";
    if (!(error = ((function_t)symbol("cuModuleGetFunction"))(&function, module, "k"))) step = "take memory";
    if (!error) error = ((alloc_t)symbol("cuMemAlloc_v2"))(&in, input_size);
    if (!error) error = ((alloc_t)symbol("cuMemAlloc_v2"))(&out, output_size);
    if (!error) error = ((in_t)symbol("cuMemcpyHtoD_v2"))(in, input, input_size);
    if (!error) error = ((set_t)symbol("cuMemsetD8_v2"))(out, 0, output_size);
    if (!error) {
        step = "run";
        error = ((launch_t)symbol("cuLaunchKernel"))(function, grid, 1, 1, block, 1, 1, dynamic, NULL, arguments, NULL);
    }
    if (!error) error = ((sync_t)symbol("cuCtxSynchronize"))();
    if (!error) error = ((out_t)symbol("cuMemcpyDtoH_v2"))(output, out, output_size);
    if (error) {
        fprintf(stderr, "%s: could not %s (error %d)\n", name, step, error);
    } else {
        snprintf(path, sizeof path, "%s/%s.out", folder, name);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(output, 1, output_size, file) != output_size || fclose(file)) {
            fprintf(stderr, "cannot write %s\n", path);
            error = 1;
        }
    }
    if (in) ((free_t)symbol("cuMemFree_v2"))(in);
    if (out) ((free_t)symbol("cuMemFree_v2"))(out);
    ((unload_t)symbol("cuModuleUnload"))(module);
    free(text), free(input), free(output);
    return error != 0;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: hardware DIR\n");
        return 2;
    }
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "no libcuda.so.1: run this on a machine with NVIDIA's driver\n");
        return 2;
    }
    int device;
    void *context;
    int error = ((init_t)symbol("cuInit"))(0);
    if (!error) error = ((device_t)symbol("cuDeviceGet"))(&device, 0);
    if (!error) error = ((retain_t)symbol("cuDevicePrimaryCtxRetain"))(&context, device);
    if (!error) error = ((current_t)symbol("cuCtxSetCurrent"))(context);
    if (error) {
        fprintf(stderr, "no card (error %d)\n", error);
        return 2;
    }
    struct dirent **entries;
    int found = scandir(arguments[1], &entries, NULL, alphasort);
    if (found < 0) {
        fprintf(stderr, "cannot list %s\n", arguments[1]);
        return 2;
    }
    int ran = 0, failed = 0;
    for (int entry = 0; entry < found; entry++) {
        char *name = entries[entry]->d_name, *end = strrchr(name, '.');
        if (end && !strcmp(end, ".ptx")) {
            *end = 0;
            ran++;
            failed += run(arguments[1], name);
        }
        free(entries[entry]);
    }
    free(entries);
    printf("%d kernels, %d failed\n", ran, failed);
    return failed != 0;
}
