# One image for servers and workers: `serve` (the default) or `worker`.
# It runs as an ordinary user and writes only below /data (and /tmp): start it with a read-only root if you like.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install script is needed; the sources are not here yet, so ours could not run.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    STORYBAR_DATA_DIR=/data
WORKDIR /app
# Locks render workers away where the container may make namespaces; see docs/hardening.md.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE NOTICE THIRD_PARTY_NOTICES.md ./
COPY bin ./bin
COPY assets ./assets
COPY docs ./docs
COPY examples ./examples
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
# 8080: callers, or a worker's health. 8081: workers, on the inner network only.
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Room for the engine, as `npm start` gives it: docs/capacity.md
ENTRYPOINT ["node", "--initial-old-space-size=128", "bin/storybar.js"]
CMD ["serve"]
