#!/usr/bin/env bash
# Installs what the tests of clients/python need, from the packages of Debian or Ubuntu.
set -euo pipefail
sudo=()
((EUID == 0)) || sudo=(sudo)
"${sudo[@]}" apt-get update -q
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
  python3 python3-httpx python3-pytest python3-pip python3-venv python3-hatchling python3-build mypy
