#!/usr/bin/env bash
# A document for a transfer: the prices, the order, the delivery: bash examples/purchase/purchase.sh
source "$(dirname "$0")/../common/setup.sh"

echo "The first of six documents, and how it is paid for:"
curl -sS --fail-with-body "$SERVICE_URL/api/svc/commerce/offerings?channel=purchase" | json offerings.0

# Only the wallet can pay: this sends the transfer, and prints offering, transaction, wallet and signature as JSON.
ORDER=$(node examples/purchase/buy.ts --print)
echo "The order, once it is paid:"
json <<<"$ORDER"

echo "The delivery's receipt:"
curl -sS --fail-with-body -X POST "$SERVICE_URL/api/svc/commerce/purchase" -H "Content-Type: application/json" -d "$ORDER" | json receipt
