#!/usr/bin/env bash
# Builds the image and tests it under podman: `npm run test:container`, as root.
# The base image is the Dockerfile's, or BASE_IMAGE, or where no registry can be reached, one from scripts/container-base.sh.
# Where containers cannot run, or cannot create user namespaces, it says so and exits with 0. After that, every failure
# is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "SKIPPED container tests: $*"
  exit 0
}

((EUID == 0)) || skip 'they need root'
for program in podman runc; do
  command -v "$program" >/dev/null || skip "$program isn't installed"
done

base=${BASE_IMAGE:-}
if [[ -z $base ]]; then
  base=docker.io/library/node:24-bookworm-slim
  if ! timeout 120 podman pull --quiet "$base"; then
    echo 'no image registry can be reached; making a base image from Debian packages and npm'
    command -v mmdebstrap >/dev/null || skip "mmdebstrap isn't installed"
    base=localhost/storybar-base
    podman image exists "$base" || scripts/container-base.sh "$base" || skip 'the base image cannot be made (see above)'
  fi
fi

# Limits that even an unprivileged podman may set, and no network namespace, which needs further programs.
export STORYBAR_PODMAN_OPTIONS='--runtime=runc --network=host --ulimit=nofile=4096:4096 --ulimit=nproc=4096:4096'
# shellcheck disable=SC2086
podman run --rm $STORYBAR_PODMAN_OPTIONS "$base" true || skip "containers don't run on this machine (see above)"

# The build uses this machine's npm cache and certificates, so it needs no settings of its own.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%s\n' "registry=$(npm config get registry)" cache=/npm-cache prefer-offline=true audit=false >"$work/npmrc"
authorities=/etc/ssl/certs/ca-certificates.crt
[[ ! -e $authorities ]] || echo "cafile=$authorities" >>"$work/npmrc"
mkdir -p "$(npm config get cache)"
timeout 1200 podman build --quiet --layers=false --runtime runc --network host --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 \
  --build-arg "BASE_IMAGE=$base" --volume "$work/npmrc:/usr/local/etc/npmrc:ro" \
  --volume "$(npm config get cache):/npm-cache" --volume /etc/ssl/certs:/etc/ssl/certs:ro \
  --format docker --tag localhost/storybar-test .

# The sandbox needs user namespaces, which some kernels refuse to every container.
# shellcheck disable=SC2086
podman run --rm $STORYBAR_PODMAN_OPTIONS --cap-drop=ALL --security-opt=no-new-privileges --entrypoint bwrap \
  localhost/storybar-test --unshare-user --ro-bind / / true || skip "this kernel lets no container create user namespaces"

TESTS_IMAGE=localhost/storybar-test npx vitest run --maxWorkers=1 test/container.test.ts test/container-topology.test.ts
