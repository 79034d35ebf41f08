# What the scripts of the examples share; they source it. Of programs it needs curl and Node, and of settings none:
# SERVICE_URL names another service, TOKEN is used where there is one, DATA_DIR is the folder of `npm start`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH="$PWD/node_modules/.bin:$PATH" # the Node that npm ci brought
export SERVICE_URL="${SERVICE_URL:-http://127.0.0.1:${PORT:-3000}}"

# Shows an answer, or one member of it: json summary.verdict
json() { node examples/common/json.ts "$@"; }

# A token of a demonstration wallet: token basic
token() { if [ -n "${TOKEN:-}" ]; then echo "$TOKEN"; else npm run -s token -- "$1" --url "$SERVICE_URL"; fi; }
