#!/usr/bin/env bash
# Agent to agent in plain JSON-RPC: the card, a task, a second look at it, a stream: bash examples/a2a/a2a.sh
source "$(dirname "$0")/../common/setup.sh"

# A message has an id of its own: the same id never runs twice, it tells the task of the first time.
message() { echo '{"messageId":"'"$(node -p 'crypto.randomUUID()')"'","role":"ROLE_USER","parts":[{"data":{"skill":"get_market_context","input":{"include":["regime"]}}}]}'; }
rpc() { curl -sS --fail-with-body -X POST "$SERVICE_URL/a2a" -H "Content-Type: application/json" -H "A2A-Version: 1.0" -d "$1"; }

echo "Where agents are spoken to:"
curl -sS --fail-with-body "$SERVICE_URL/.well-known/agent-card.json" | json supportedInterfaces

answer=$(rpc '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":'"$(message)"'}}')
task=$(json result.task.id <<<"$answer")
echo "Task $task:"
json result.task.status.state <<<"$answer"
json result.task.artifacts.0.parts.1.text <<<"$answer"

echo "Is it still there?"
rpc '{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"'"$task"'"}}' | json result.status

echo "The same as a stream of server-sent events:"
rpc '{"jsonrpc":"2.0","id":3,"method":"SendStreamingMessage","params":{"message":'"$(message)"'}}' | cut -c 1-160
