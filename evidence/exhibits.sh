#!/usr/bin/env bash
# What a card and compute-sanitizer say of every exhibit, as one transcript.
# Needs a card, and compute-sanitizer on PATH; no Rust.
#
#     evidence/exhibits.sh LESSON-CUDA PTX > evidence/exhibits-h200-DATE.txt
#
# Both files are what `cargo xtask build-cuda` makes. Exit code: 0, or 1 if an exhibit is not as expected.
set -u
lesson=$(realpath "$1")
ptx=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
worst=0

title() { printf '\n=== %s\n' "$*"; }

# A line for each exhibit of a list: its name, and its block sizes.
sizes() {
    awk '/"blocks": \[/ { blocks = ""; inside = 1; next }
         inside && /\]/ { inside = 0 }
         inside { gsub(/[ ,]/, ""); blocks = blocks " " $0 }
         /"name":/ { gsub(/[",]/, "", $2); print $2 blocks }'
}
"$lesson" exhibits --card --format json | sizes > "$work/card"
"$lesson" exhibits --format json | sizes | grep -vxFf "$work/card" > "$work/undefined"

# An exhibit at all its sizes, without its source: `exhibit NAME [FLAG...]`.
exhibit() {
    local code
    printf '\n--- %s\n' "$*"
    timeout 120 "$lesson" exhibit "$@" --device cuda --ptx "$ptx" > "$work/page" 2>&1
    code=$?
    # What stands before the card's line is the same everywhere; an error has no such line.
    sed -n '/^GPU: /,$ { /^GPU: /d; p }' "$work/page" | grep -v '^$' || tail -3 "$work/page"
    printf '(exit %s)\n' "$code"
    [ "$code" = 0 ] || worst=1
}

# What a checker says of one launch, without what it says of itself: `check TOOL NAME BLOCK [FLAG...]`.
check() {
    local flags=("${@:4}")
    [ "$1" = racecheck ] && flags+=(--racecheck-report analysis)
    timeout 60 compute-sanitizer --tool "$1" --show-backtrace no "${flags[@]}" \
        "$lesson" launch --ptx "$ptx" --exhibit "$2" --block "$3" > "$work/$2-$3-$1" 2>&1
    printf '%s, %s, %s threads a block: exit %s\n' "$1${4+ ${*:4}}" "$2" "$3" "$?" > "$work/$2-$3-$1.said"
    grep -E '^=========' "$work/$2-$3-$1" |
        grep -vE 'COMPUTE-SANITIZER|^=========\s*$|Saved host|Host Frame|by thread' |
        sort | uniq -c | sort -rn | head -4 | cut -c1-300 >> "$work/$2-$3-$1.said"
}

title "the machine"
nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader
compute-sanitizer --version | tail -1
head -1 "$ptx"
(cd "$(dirname "$ptx")" && sha256sum "$(basename "$ptx")")

title "the exhibits that are sure to end"
while read -r name _; do exhibit "$name" < /dev/null; done < "$work/card"

title "the exhibits that need not end: each launch is given 5 seconds"
while read -r name _; do exhibit "$name" --undefined --timeout 5 < /dev/null; done < "$work/undefined"

title "racecheck and synccheck: each launch is given 60 seconds"
"$lesson" exhibits --format json | sizes > "$work/all"
# Four at a time: most of it is the checker's own start.
while read -r name blocks; do
    for block in $blocks; do
        for tool in racecheck synccheck; do
            while [ "$(jobs -rp | wc -l)" -ge 4 ]; do wait -n; done
            check "$tool" "$name" "$block" < /dev/null &
        done
    done
done < "$work/all"
wait
while read -r name blocks; do
    for tool in racecheck synccheck; do
        for block in $blocks; do cat "$work/$name-$block-$tool.said"; done
    done
done < "$work/all"

title "where they are silent and the emulator is not: asked for more"
for block in 32 64; do
    for name in same-value-writers barrier-below-the-read exited-writer two-blocks; do
        check racecheck "$name" "$block" --racecheck-detect-level info
        cat "$work/$name-$block-racecheck.said"
    done
done
for name in uninitialised-slot write-to-a-copy guard-by-return; do
    check initcheck "$name" 64
    cat "$work/$name-64-initcheck.said"
done
exit "$worst"
