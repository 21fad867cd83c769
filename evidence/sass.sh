#!/usr/bin/env bash
# What ptxas makes of the kernels for an H200, and what nvcc makes of the C++ original: machine
# instructions, counted. Needs ptxas, cuobjdump and nvcc of CUDA 13; no card and no Rust.
#
#     evidence/sass.sh FOLDER-WITH-PTX > evidence/sass-DATE.txt
#
# The folder holds what these make:
#     cargo xtask ptx --compiler rustc [--arch sm_90]
# Without a toolkit: pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-runtime nvidia-nvvm
# nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm, and put their nvidia/cu13/bin on PATH.
set -euo pipefail
export LC_ALL=C
ptx=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

title() { printf '\n=== %s\n' "$*"; }
# The opcodes of one kernel, one a line, without the padding behind it: `opcodes CUBIN FUNCTION`.
opcodes() {
    cuobjdump --dump-sass --function "$2" "$work/$1.cubin" |
        sed -nE 's|^ +/\*([0-9a-f]+)\*/ +(@!?U?P[0-9T] +)?([A-Z0-9_.]+) ?(.*);.*|\1 \3 \4|p' |
        awk '{ at = "0x" $1; sub(/^0x0*/, "0x", at) } $2 == "NOP" { next } $2 == "BRA" && $3 == at { next } { print $2 }'
}
count() {
    opcodes "$1" "$2" | awk -v file="$1" -v kernel="$3" '
        { all++; split($1, part, "."); n[part[1]]++ }
        END {
            if (!all) { print "no instructions of " kernel " in " file > "/dev/stderr"; exit 1 }
            printf "%-14s %-22s %12d %4d %4d %4d %4d %4d\n", file, kernel, all, n["BAR"], n["STS"], n["LDS"], n["LDG"], n["STG"]
        }'
}

title "the tools"
nvcc --version | tail -2
ptxas --version | tail -1
(cd "$ptx" && sha256sum kernels-sm_75.ptx kernels-sm_90.ptx)

for file in kernels-sm_75 kernels-sm_90; do
    ptxas --gpu-name sm_90 --output-file "$work/$file.cubin" "$ptx/$file.ptx"
done
nvcc -std=c++17 -O3 -arch=sm_90 -cubin -o "$work/original.cubin" "$here/original.cu"

title "SASS for sm_90"
printf '%-14s %-22s %12s %4s %4s %4s %4s %4s\n' file kernel instructions BAR STS LDS LDG STG
for file in kernels-sm_75 kernels-sm_90; do
    for kernel in reverse_tile_racy reverse_tile_synced reverse_tile_prefix reverse_tile_textbook; do
        count "$file" "$kernel" "$kernel"
    done
done
count original _Z12reverse_tileILb0EEvPKfPfm 'racy (nvcc)'
count original _Z12reverse_tileILb1EEvPKfPfm 'synced (nvcc)'

title "the opcodes of the synced kernel, by rustc's PTX for sm_90 and by nvcc"
opcodes kernels-sm_90 reverse_tile_synced | sort | uniq -c > "$work/rustc"
opcodes original _Z12reverse_tileILb1EEvPKfPfm | sort | uniq -c > "$work/nvcc"
printf '%-28s %5s %5s\n' opcode rustc nvcc
join -1 2 -2 2 -a 1 -a 2 -e 0 -o 0,1.1,2.1 "$work/rustc" "$work/nvcc" | awk '{ printf "%-28s %5d %5d\n", $1, $2, $3 }'
