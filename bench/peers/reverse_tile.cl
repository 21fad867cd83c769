// The lesson's kernels in OpenCL C, for Oclgrind.

kernel void reverse_tile_racy(global const float *input, global float *out, uint n)
{
    local float tile[1024];
    const uint t = get_local_id(0);
    const uint i = get_global_id(0);
    const float x = input[i < n ? i : n - 1];
    tile[t] = i < n ? x : 0.0f;
    const uint src = get_local_size(0) - 1 - t;
    if (i < n) {
        out[i] = tile[src];
    }
}

kernel void reverse_tile_synced(global const float *input, global float *out, uint n)
{
    local float tile[1024];
    const uint t = get_local_id(0);
    const uint i = get_global_id(0);
    const float x = input[i < n ? i : n - 1];
    tile[t] = i < n ? x : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint src = get_local_size(0) - 1 - t;
    if (i < n) {
        out[i] = tile[src];
    }
}
