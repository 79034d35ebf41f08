#!/usr/bin/env bash
# The signal and the record for everybody, the direction with a token: bash examples/rest/rest.sh
source "$(dirname "$0")/../common/setup.sh"

echo "Today's signal, gated until its outcome is known:"
curl -sS --fail-with-body "$SERVICE_URL/api/svc/open/signal?horizon=7d" | json

echo "The record, in one sentence:"
curl -sS --fail-with-body "$SERVICE_URL/api/svc/scorecard?horizon=7" | json summary.verdict

# A signature of a wallet gets a token; npm run token signs as a demonstration wallet.
TOKEN=$(token basic)
echo "The direction, with a token:"
curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$SERVICE_URL/api/svc/oracle?horizon=7d" | json

echo "The session is ended:"
curl -sS --fail-with-body -X DELETE -H "Authorization: Bearer $TOKEN" "$SERVICE_URL/api/svc/oracle/session" | json
