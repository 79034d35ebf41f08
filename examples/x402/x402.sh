#!/usr/bin/env bash
# A forecast for a payment with the request: the terms, the payment, the answer: bash examples/x402/x402.sh
source "$(dirname "$0")/../common/setup.sh"

echo "Who asks without paying is told the terms, with the status 402:"
curl -sS -o /dev/null -w '%{http_code}\n' "$SERVICE_URL/oracle?horizon=7d"
curl -sS "$SERVICE_URL/oracle?horizon=7d" | json accepts

# Only the wallet can sign. What it signed is a header.
PAYMENT=$(node examples/x402/pay.ts --print)
echo "The same request with the payment:"
curl -sS --fail-with-body -H "PAYMENT-SIGNATURE: $PAYMENT" "$SERVICE_URL/oracle?horizon=7d" | json

echo "The answer was lost? The same payment gets it again, and pays once:"
curl -sS --fail-with-body -H "PAYMENT-SIGNATURE: $PAYMENT" "$SERVICE_URL/oracle?horizon=7d" | json signal
