if ! command -v swift >/dev/null 2>&1; then
  swiftly_folder="$(mktemp -d)"
  curl -fsSL "https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz" | tar -xz -C "$swiftly_folder"
  "$swiftly_folder/swiftly" init --assume-yes --skip-install
  # shellcheck disable=SC1091
  . "${SWIFTLY_HOME_DIR:-$HOME/.local/share/swiftly}/env.sh"
  swiftly install --assume-yes --use "${SWIFT_VERSION:-latest}"
fi
swift --version
