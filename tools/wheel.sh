#!/usr/bin/env bash
# Builds the Python wheel with maturin, installs it below the target folder, and runs what it installed. The binary in
# it is a debug one.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
export PIP_ROOT_USER_ACTION=ignore
tools=$target/wheel/tools
[ -x "$tools/bin/maturin" ] || python3 -m pip install --quiet --target "$tools" 'maturin>=1.7,<2'
rm -rf "$target/wheel/dist" "$target/wheel/installed"
"$tools/bin/maturin" build --quiet --locked --out "$target/wheel/dist" --target-dir "$target"
python3 -m pip install --quiet --no-deps --target "$target/wheel/installed" "$target"/wheel/dist/layoutc-*.whl
layoutc=$target/wheel/installed/bin/layoutc
"$layoutc" --version
"$layoutc" check -q examples/quickstart
