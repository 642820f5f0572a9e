#!/usr/bin/env bash
# Sets the peers up in folders that git ignores: Python packages beside this script, the Rust peer in a target of its own.
set -euo pipefail
cd "$(dirname "$0")"

python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
cargo build --quiet --release --locked --manifest-path dagrs/Cargo.toml
