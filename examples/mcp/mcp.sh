#!/usr/bin/env bash
# MCP in plain JSON-RPC: each request stands for itself, without a session: bash examples/mcp/mcp.sh
source "$(dirname "$0")/../common/setup.sh"

rpc() {
  BODY=$1 && shift
  # Answers come as one server-sent event.
  curl -sS --fail-with-body -X POST "$SERVICE_URL/mcp" -H "Content-Type: application/json" \
    -H "Accept: application/json, text/event-stream" "$@" -d "$BODY" | sed -n 's/^data: //p'
}

echo "The tools:"
rpc '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | grep -o '"name":"[a-z_]*","title":"[^"]*"'

echo "A tool for everybody:"
rpc '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_track_record","arguments":{"horizon":"2d"}}}' |
  json result.content.0.text

echo "And one that asks for a token:"
TOKEN=$(token basic)
rpc '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"predict_btc_direction","arguments":{"horizon":"7d"}}}' \
  -H "Authorization: Bearer $TOKEN" | json result.content.0.text
