# Debian 12 and Node 24, the index of all platforms: a digest names the same image for ever. Renovate moves both on with each release of Node.
FROM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS node
WORKDIR /app
COPY package.json package-lock.json ./

# The bundles of page and service; the bundler is an optional package and a native binary that stays in this stage.
FROM node AS page
RUN npm ci --omit=dev --ignore-scripts
COPY bin bin
COPY src src
COPY skills skills
COPY agent-card agent-card
COPY clients/typescript/src clients/typescript/src
RUN npm run build:service && npm run build:page

FROM node
# The embedded database and the local chain are native binaries that a real deployment does not run; empty, they come along.
ARG OMIT=--omit=optional
# glibc otherwise keeps some 30 MB of what has been freed.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=32768
RUN npm ci --omit=dev --ignore-scripts $OMIT && npm cache clean --force
COPY . .
COPY --from=page /app/dist dist

RUN mkdir --mode=700 /data /backups && chown node:node /data /backups
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "bin/start.mjs"]

# Given by the release; last, so that no layer depends on them.
ARG VERSION=unreleased
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Bitcoin Signal Oracle" \
  org.opencontainers.image.licenses=MIT \
  org.opencontainers.image.version=$VERSION \
  org.opencontainers.image.revision=$REVISION \
  org.opencontainers.image.source=$SOURCE
