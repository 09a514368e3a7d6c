if ! command -v just >/dev/null 2>&1; then
  uv tool install rust-just
fi
just --version
