#!/usr/bin/env bash
# Events over a WebSocket, as far as curl can show them: a ticket, and 3 seconds of frames: bash examples/websocket/websocket.sh
source "$(dirname "$0")/../common/setup.sh"

# A ticket opens one connection, and keeps the token out of URLs.
TOKEN=$(token basic)
TICKET=$(curl -sS --fail-with-body -X POST -H "Authorization: Bearer $TOKEN" "$SERVICE_URL/api/svc/ws/ticket" | json ticket)

# curl asks for the upgrade and shows what comes: a frame is some bytes of length, and its text. It answers no
# ping, so this is for a look; examples/receivers/watch.mjs is a client to keep. 28 is the end of the time.
echo "What was resolved, of all that is kept:"
curl -s -N --fail-with-body --max-time "${SECONDS_TO_LISTEN:-3}" \
  -H "Connection: Upgrade" -H "Upgrade: websocket" -H "Sec-WebSocket-Version: 13" -H "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==" \
  "$SERVICE_URL/ws/signal?ticket=$TICKET&since=0&events=signal.resolved&horizons=7d" |
  LC_ALL=C tr -c '[:print:]' '\n' | grep -o '{".*' || test "${PIPESTATUS[0]}" = 28
