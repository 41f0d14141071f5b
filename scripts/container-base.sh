#!/usr/bin/env bash
# Makes a base image for the Dockerfile where no image registry can be reached: Debian's packages, Node.js and npm from the
# npm registry. It stands in for node:24-bookworm-slim. Usage: scripts/container-base.sh <image name>
# Needs root, podman and mmdebstrap. DEBIAN_MIRROR names another mirror of Debian.
set -euo pipefail
image=${1:?name of the image}
case $(uname -m) in
  x86_64) platform=linux-x64 ;;
  aarch64) platform=linux-arm64 ;;
  *) echo "no Node.js for $(uname -m)" >&2 && exit 1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/root/usr/local/bin" "$work/root/usr/local/lib/node_modules"
(cd "$work" && npm pack --silent "node-$platform@24" npm@11 >/dev/null)
tar -xzf "$work"/node-linux-*.tgz -C "$work" package/bin/node
mv "$work/package/bin/node" "$work/root/usr/local/bin/node"
mkdir "$work/root/usr/local/lib/node_modules/npm"
tar -xzf "$work"/npm-*.tgz -C "$work/root/usr/local/lib/node_modules/npm" --strip-components=1
chmod 755 "$work/root/usr/local/bin/node"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$work/root/usr/local/bin/npx"
chmod 755 "$work"/root/usr/local/lib/node_modules/npm/bin/np[mx]-cli.js
chown -R 0:0 "$work/root"

mmdebstrap --quiet --variant=apt --include=bubblewrap,ca-certificates,libstdc++6 \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook="sync-in $work/root /" \
  --customize-hook='chroot "$1" useradd --uid 1000 --user-group --create-home --shell /bin/bash node' \
  bookworm "$work/base.tar" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
podman import --quiet --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
  "$work/base.tar" "$image" >/dev/null
