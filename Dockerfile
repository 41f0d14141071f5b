# One image for API servers (`serve`, the default) and workers (`worker`).
# It runs as an unprivileged user and writes only to /data, /objects (if you mount it) and /tmp, so the root file system can be read-only.

# Any image with Node.js 24, npm and a user `node` on Debian. scripts/container-base.sh makes one without a registry.
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts: the dependencies need none, and our own needs the sources, which are not copied yet.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY clients/typescript/package.json clients/typescript/tsconfig.json clients/typescript/tsconfig.build.json ./clients/typescript/
COPY clients/typescript/src ./clients/typescript/src
COPY scripts/prune.js ./scripts/
# Type declarations and source maps are for programs that import the package.
RUN npm run build && npm prune --omit=dev --ignore-scripts && node scripts/prune.js && \
  find dist clients/typescript/dist \( -name '*.d.ts' -o -name '*.map' \) -delete

FROM ${BASE_IMAGE}
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    STORYBAR_DATA_DIR=/data
WORKDIR /app
# bubblewrap sandboxes render workers if the container may create namespaces; see docs/hardening.md.
RUN command -v bwrap || \
  (apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*)
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/clients/typescript/dist ./clients/typescript/dist
COPY clients/typescript/package.json ./clients/typescript/
COPY package.json LICENSE NOTICE THIRD_PARTY_NOTICES.md CHANGELOG.md ./
COPY bin ./bin
COPY assets ./assets
COPY docs ./docs
COPY examples ./examples
RUN mkdir /data /objects && chown node:node /data /objects
USER node
VOLUME /data
# 8080: the API, or the health endpoint of a worker. 8081: for workers; keep it inside your network.
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The same V8 heap setting as in `npm start`; see docs/capacity.md.
ENTRYPOINT ["node", "--initial-old-space-size=128", "bin/storybar.js"]
CMD ["serve"]
