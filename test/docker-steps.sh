#!/usr/bin/env bash
# The steps of the Dockerfile without Docker: production dependencies only, an unprivileged user, Node 24, NODE_ENV=production.
# Needs root (to change users). Run it by hand: npm run test:docker
set -euo pipefail
cd "$(dirname "$0")/.."
node24=$(command -v node)
[ "$("$node24" -p 'process.versions.node.split(".")[0]')" -ge 24 ] || { echo "run it through npm: npm run test:docker"; exit 1; }

app=$(mktemp -d) data=$(mktemp -d) bin=$(mktemp -d)
pid=
cleanup() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  rm -rf "$app" "$data" "$bin"
}
trap cleanup EXIT

cp package.json package-lock.json "$app"
(cd "$app" && npm ci --omit=dev >/dev/null)
[ ! -e "$app/node_modules/vitest" ] || { echo "development dependencies were installed"; exit 1; }
cp -r bin src skills agent-card "$app"
mkdir -p "$app/contracts" && cp -r contracts/compiled "$app/contracts"
# The project's own Node lies in a folder that the user may not enter.
cp "$(readlink -f "$node24")" "$bin/node"
chmod 755 "$app" "$bin" && chown -R 65534:65534 "$data"

cd "$app"
setpriv --reuid 65534 --regid 65534 --clear-groups env -i PATH="$bin:/usr/bin:/bin" HOME=/nonexistent NODE_ENV=production \
  HOST=0.0.0.0 DATA_DIR="$data" PORT=3987 REPLAY_DAYS=5 "$bin/node" bin/start.mjs >"$bin/log" 2>&1 &
pid=$!
for _ in $(seq 1 150); do
  if "$node24" -e 'fetch("http://127.0.0.1:3987/ready").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))'; then ready=yes; break; fi
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.2
done
[ "${ready:-}" = yes ] || { echo "it did not become ready:"; cat "$bin/log"; exit 1; }
kill -TERM "$pid"
wait "$pid" || { echo "it did not stop in order:"; cat "$bin/log"; exit 1; }
pid=
echo "the steps of the Dockerfile work: ready as an unprivileged user with production dependencies, and stopped in order"
