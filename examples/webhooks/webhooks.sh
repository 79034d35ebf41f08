#!/usr/bin/env bash
# A webhook and its receiver: registered, called with a signed ping, looked at, deleted: bash examples/webhooks/webhooks.sh
# A service elsewhere does not call this machine. RECEIVER_PORT: where to listen, 8080.
source "$(dirname "$0")/../common/setup.sh"

AUTHORIZATION="Authorization: Bearer $(token basic)"
HOOKS="$SERVICE_URL/api/svc/webhooks"
export RECEIVER_PORT="${RECEIVER_PORT:-8080}" WEBHOOK_SECRET
WEBHOOK_SECRET=$(node -p "'whsec_' + crypto.randomBytes(32).toString('base64')")

# Nothing is called before it is tested below.
if ! ANSWER=$(curl -sS --fail-with-body -X POST "$HOOKS/register" -H "$AUTHORIZATION" -H "Content-Type: application/json" \
  -d '{"url":"http://127.0.0.1:'"$RECEIVER_PORT"'/","events":["signal.new","signal.resolved"],"secret":"'"$WEBHOOK_SECRET"'"}'); then
  echo "Not registered: $ANSWER" >&2
  exit 1
fi
ID=$(json id <<< "$ANSWER")

# It verifies each call, prints its event and answers 204.
node examples/receivers/webhook-receiver.mjs &
trap 'kill $!' EXIT
until (: < "/dev/tcp/127.0.0.1/$RECEIVER_PORT") 2> /dev/null; do sleep 0.1; done

echo "Registered, with a secret of our own:"
curl -sS --fail-with-body -H "$AUTHORIZATION" "$HOOKS/$ID" | json

echo "Called now, with a ping:"
curl -sS --fail-with-body -X POST -H "$AUTHORIZATION" "$HOOKS/$ID/test" | json

echo "What was sent, and how it was answered:"
curl -sS --fail-with-body -H "$AUTHORIZATION" "$HOOKS/$ID/deliveries" | json deliveries.0

echo "Deleted:"
curl -sS --fail-with-body -X DELETE -H "$AUTHORIZATION" "$HOOKS/$ID" | json
