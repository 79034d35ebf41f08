#!/usr/bin/env bash
# A webhook and its receiver: registered, called with a signed ping, looked at, deleted: bash examples/webhooks/webhooks.sh
# The service has to be started with PUSH_LOCAL_TARGETS=allow to call this machine. PORT: where to listen, 8080.
source "$(dirname "$0")/../common/setup.sh"

AUTHORIZATION="Authorization: Bearer $(token basic)"
HOOKS="$SERVICE_URL/api/svc/webhooks"
export PORT="${PORT:-8080}" WEBHOOK_SECRET
WEBHOOK_SECRET=$(node -p "'whsec_' + crypto.randomBytes(32).toString('base64')")

# It verifies each call, prints its event and answers 204.
node examples/receivers/webhook-receiver.mjs &
trap 'kill $!' EXIT
until curl -s -o /dev/null "http://127.0.0.1:$PORT/"; do sleep 0.1; done

echo "Registered, with a secret of our own:"
ID=$(curl -sS --fail-with-body -X POST "$HOOKS/register" -H "$AUTHORIZATION" -H "Content-Type: application/json" \
  -d '{"url":"http://127.0.0.1:'"$PORT"'/","events":["signal.new","signal.resolved"],"secret":"'"$WEBHOOK_SECRET"'"}' | json id)
curl -sS --fail-with-body -H "$AUTHORIZATION" "$HOOKS/$ID" | json

echo "Called now, with a ping:"
curl -sS --fail-with-body -X POST -H "$AUTHORIZATION" "$HOOKS/$ID/test" | json

echo "What was sent, and how it was answered:"
curl -sS --fail-with-body -H "$AUTHORIZATION" "$HOOKS/$ID/deliveries" | json deliveries.0

echo "Deleted:"
curl -sS --fail-with-body -X DELETE -H "$AUTHORIZATION" "$HOOKS/$ID" | json
