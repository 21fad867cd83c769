#!/usr/bin/env bash
# What a card says, as one transcript. Needs nvcc, compute-sanitizer and a card; no Rust.
#
#     evidence/h200.sh LESSON-CUDA FOLDER-WITH-PTX > evidence/h200-DATE.txt
#
# The first argument is the program that `cargo xtask build-cuda` makes; the folder holds what these make:
#     cargo xtask ptx --compiler rustc [--jump-threading | --arch sm_90]
set -u
lesson=$(realpath "$1")
ptx=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
cd "$work" || exit 2

title() { printf '\n=== %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@" 2>&1; printf '(exit %s)\n' "$?"; }
# One launch, killed if it hangs.
launch() { timeout 60 ./launch "$ptx/$1" "${@:2}" 2>&1 || printf '%s: exit %s\n' "${*:2}" "$?"; }
# What a checker says of one launch, without what it says of itself: `check TOOL LINES FILE KERNEL BLOCK [N]`.
check() {
    local tool=$1 lines=$2 file=$3 flags=()
    shift 3
    # Single hazards of a whole grid take minutes to print; the analysis sums them up.
    [ "$tool" = racecheck ] && flags=(--racecheck-report analysis)
    printf '%s, %s, %s: ' "$tool" "$file" "$*"
    timeout 120 compute-sanitizer --tool "$tool" --show-backtrace no "${flags[@]}" ./launch "$ptx/$file" "$@" > log 2>&1
    printf 'exit %s\n' "$?"
    grep -E '^=========' log | grep -vE 'COMPUTE-SANITIZER|^=========\s*$|Saved host|Host Frame' | sort | uniq -c |
        sort -rn | head -"$lines" | cut -c1-300
}

title "the machine"
nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader
nvcc --version | tail -2
compute-sanitizer --version | tail -1
grep -h -m1 'LLVM NVPTX\|Generated' "$ptx"/kernels-sm_75.ptx
(cd "$ptx" && sha256sum ./*.ptx)

title "build the C++ programs"
for program in original launch bench; do
    nvcc -std=c++17 -O3 -lineinfo -arch=sm_90 -o "$program" "$here/$program.cu" -lcuda || exit 2
done

title "the lesson, three times"
show "$lesson" --ptx "$ptx/kernels-sm_75.ptx" --runs 3

title "the C++ original, nvcc -O3, three times"
for _ in 1 2 3; do ./original; done

title "speed: the synced kernel by rustc, by nvcc, and a device copy"
(cd "$ptx" && "$work/bench" kernels-sm_75.ptx kernels-sm_90.ptx)

title "bar.sync in the PTX"
for file in kernels-sm_75.ptx kernels-sm_75-split.ptx; do
    for kernel in reverse_tile_racy reverse_tile_synced reverse_tile_prefix reverse_tile_textbook; do
        sed -n "/^\.visible \.entry $kernel(/,/^}/p" "$ptx/$file" |
            awk -v k="$kernel" -v f="$file" '/bar\.sync/ {b++} /st\.shared/ {s++} /ld\.shared/ {l++}
                END {printf "%-26s %-24s bar.sync %d  st.shared %d  ld.shared %d\n", f, k, b, s, l}'
    done
done

title "branch-free and textbook, JumpThreading off and on (-split)"
for file in kernels-sm_75.ptx kernels-sm_75-split.ptx; do
    for kernel in reverse_tile_synced reverse_tile_textbook partial_block reverse_tile_racy; do
        for block in 32 64 128 256; do launch "$file" "$kernel" "$block" | sed "s/^/$file  /"; done
    done
done

title "racecheck"
for kernel in reverse_tile_racy reverse_tile_synced barrier_below_the_read; do
    for block in 32 64 128 256; do check racecheck 8 kernels-sm_75.ptx "$kernel" "$block"; done
done
title "racecheck --racecheck-report all on one block, in full"
for block in 32 64; do
    show compute-sanitizer --tool racecheck --racecheck-report all --print-limit 4 --show-backtrace no \
        ./launch "$ptx/kernels-sm_75.ptx" reverse_tile_racy "$block" "$block"
done
title "racecheck on the lesson's program"
for block in 32 64 128 256; do
    show compute-sanitizer --tool racecheck --racecheck-report analysis --show-backtrace no --error-exitcode 1 \
        "$lesson" --ptx "$ptx/kernels-sm_75.ptx" --only reverse_tile_racy --blocks "$block"
done

title "synccheck and memcheck"
for kernel in reverse_tile_racy reverse_tile_synced barrier_below_the_read; do
    check synccheck 4 kernels-sm_75.ptx "$kernel" 256
    check memcheck 4 kernels-sm_75.ptx "$kernel" 256
done
show compute-sanitizer --tool synccheck --show-backtrace no "$lesson" --ptx "$ptx/kernels-sm_75.ptx"
show compute-sanitizer --tool memcheck --show-backtrace no "$lesson" --ptx "$ptx/kernels-sm_75.ptx"
for file in kernels-sm_75.ptx kernels-sm_75-split.ptx; do
    for kernel in reverse_tile_synced reverse_tile_textbook; do
        for block in 32 256; do check synccheck 4 "$file" "$kernel" "$block"; done
    done
done

title "write, return early, others read after the barrier: what the tools say"
for block in 32 64 256; do
    check racecheck 4 kernels-sm_75.ptx exited_writer "$block"
    check synccheck 4 kernels-sm_75.ptx exited_writer "$block"
done

title "the exhibits that end by rule"
for kernel in loop_one_barrier loop_two_barriers uniform_if warp_scope warp_scope_synced two_writers \
    same_value_writers uninitialised_slot write_to_a_copy guard_by_return partial_block in_place_scan typed_tile; do
    for block in 32 64 96 128; do
        # Whole blocks, as most exhibits are launched.
        launch kernels-sm_75.ptx "$kernel" "$block" $((block * 4))
        check racecheck 3 kernels-sm_75.ptx "$kernel" "$block" $((block * 4))
        check synccheck 2 kernels-sm_75.ptx "$kernel" "$block" $((block * 4))
    done
done

title "the exhibits that are undefined, each in a process of its own with a time limit"
for kernel in thread_dependent_if barrier_in_both_arms ragged_loop; do
    for block in 32 64 128; do
        launch kernels-sm_75.ptx "$kernel" "$block" $((block * 4))
        check synccheck 3 kernels-sm_75.ptx "$kernel" "$block" $((block * 4))
    done
done

