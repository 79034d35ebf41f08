#!/usr/bin/env bash
# The week's question, and an answer to it by a signature: bash examples/contest/contest.sh
source "$(dirname "$0")/../common/setup.sh"

echo "The questions, and when answers end:"
STATUS=$(curl -sS --fail-with-body "$SERVICE_URL/api/svc/clawstake/status")
json openRound.deadline <<<"$STATUS"
json openRound.markets <<<"$STATUS"

# Only a wallet can sign; a new one does, without gas or balance. The body is its commitment to 62 %.
BODY=$(node examples/contest/commit.ts 62 --print)
echo "Committed:"
curl -sS --fail-with-body -X POST "$SERVICE_URL/api/svc/prestake/commit" -H "Content-Type: application/json" -d "$BODY" | json

echo "Who has forecast better than the oracle so far:"
curl -sS --fail-with-body "$SERVICE_URL/api/svc/prestake/leaderboard?limit=3" | json leaderboard
