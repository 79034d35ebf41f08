#!/usr/bin/env bash
# The steps of the Dockerfile without Docker: production dependencies without the optional ones, an unprivileged user, Node 24,
# NODE_ENV=production, on a database, a chain and providers that are outside. Needs root (to change users). Run it by hand: npm run test:docker
set -euo pipefail
cd "$(dirname "$0")/.."
node24=$(command -v node)
[ "$("$node24" -p 'process.versions.node.split(".")[0]')" -ge 24 ] || { echo "run it through npm: npm run test:docker"; exit 1; }

app=$(mktemp -d) page=$(mktemp -d) data=$(mktemp -d) bin=$(mktemp -d)
pid= world=
cleanup() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  # Ends with its input.
  exec 3>&- || true
  if [ -n "$world" ]; then wait "$world" 2>/dev/null || true; fi
  rm -rf "$app" "$page" "$data" "$bin"
}
trap cleanup EXIT

mkfifo "$bin/input"
"$node24" test/docker-world.ts "$bin/settings" <"$bin/input" &
world=$!
exec 3>"$bin/input"

# The stage that bundles page and service.
cp package.json package-lock.json "$page"
(cd "$page" && npm ci --omit=dev --ignore-scripts >/dev/null)
cp -r bin src skills agent-card "$page"
(cd "$page" && npm run build:service >/dev/null && npm run build:page >/dev/null)

cp package.json package-lock.json "$app"
omit=$(sed -n 's/^ARG OMIT=//p' Dockerfile)
[ "$omit" = --omit=optional ] || { echo "the image has optional dependencies"; exit 1; }
(cd "$app" && npm ci --omit=dev --ignore-scripts "$omit" >/dev/null)
[ ! -e "$app/node_modules/vitest" ] || { echo "development dependencies were installed"; exit 1; }
native=$(find "$app/node_modules" -type f \( -name '*.node' -o -name 'anvil' -o -path '*/bin/esbuild' -o -name '*.so' -o -name '*.so.*' \))
[ -z "$native" ] || { echo "native binaries were installed: $native"; exit 1; }
cp -r bin src skills agent-card "$app"
mkdir -p "$app/docs" && cp docs/*.md "$app/docs"
cp -r "$page/dist" "$app"
mkdir -p "$app/contracts" && cp -r contracts/compiled "$app/contracts"
# The project's own Node lies in a folder that the user may not enter.
cp "$(readlink -f "$node24")" "$bin/node"
chmod 755 "$app" "$bin" && chown -R 65534:65534 "$data"

for _ in $(seq 1 300); do [ -s "$bin/settings" ] && break; kill -0 "$world"; sleep 0.2; done
chmod 644 "$bin/settings"
cd "$app"
setpriv --reuid 65534 --regid 65534 --clear-groups env -i PATH="$bin:/usr/bin:/bin" HOME=/nonexistent NODE_ENV=production \
  HOST=0.0.0.0 DATA_DIR="$data" PORT=3987 "$bin/node" --max-semi-space-size=16 --env-file="$bin/settings" bin/start.mjs >"$bin/log" 2>&1 &
pid=$!
for _ in $(seq 1 300); do
  if "$node24" -e 'fetch("http://127.0.0.1:3987/ready").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))'; then ready=yes; break; fi
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.2
done
[ "${ready:-}" = yes ] || { echo "it did not become ready:"; cat "$bin/log"; exit 1; }
kill -TERM "$pid"
wait "$pid" || { echo "it did not stop in order:"; cat "$bin/log"; exit 1; }
pid=
[ -z "$(ls -A "$data")" ] || { echo "it wrote into the folder of a demonstration: $(ls -A "$data")"; exit 1; }

# Without settings it is a demonstration, which needs what was left out: the start says so.
"$bin/node" bin/start.mjs >"$bin/log" 2>&1 && { echo "a demonstration started without its database"; exit 1; }
grep -q 'optional dependencies' "$bin/log" || { echo "it does not say what is missing:"; cat "$bin/log"; exit 1; }
echo "the steps of the Dockerfile work: ready as an unprivileged user without native binaries, and stopped in order"
