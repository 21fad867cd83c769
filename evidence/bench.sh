#!/usr/bin/env bash
# What this machine measures, as two transcripts, and the docs that quote them. Needs Rust; Oclgrind and a card
# if they are there. Takes some ten minutes, and a machine that does nothing else.
#
#     evidence/bench.sh
set -euo pipefail
cd "$(dirname "$0")/.."

transcript() {
    printf '=== the machine\n'
    date +%F
    rustc --version
    cargo xtask bench "$@"
}
# Whole or not at all: what is committed stays if a measurement ends early.
transcript > target/bench.txt
transcript --peers > target/peers.txt
mv target/bench.txt target/peers.txt evidence/
cargo xtask docs
