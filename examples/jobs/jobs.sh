#!/usr/bin/env bash
# What became of a job in escrow; without a number a new one is ordered first: bash examples/jobs/jobs.sh [<number>]
source "$(dirname "$0")/../common/setup.sh"

echo "The first of three offerings, and how it is ordered:"
curl -sS --fail-with-body "$SERVICE_URL/api/svc/commerce/offerings?channel=agent-commerce" | json offerings.0

# Only a wallet can order: that is a transaction to the contract, and so are funding and accepting.
JOB=${1:-$(node examples/jobs/hire.ts | sed -n 's/^Job \([0-9]*\):.*/\1/p')}
echo "Job $JOB:"
curl -sS --fail-with-body "$SERVICE_URL/api/svc/commerce/jobs/$JOB" | json
