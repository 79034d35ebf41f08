#!/usr/bin/env bash
# The newest forecast's commitment as the service tells it, and as the chain has it: bash examples/verify/verify.sh
# RPC_URL: a node that you trust; unset: the local chain of `npm start`.
source "$(dirname "$0")/../common/setup.sh"
RPC_URL="${RPC_URL:-$(json rpcUrl <"${DATA_DIR:-data}/demo.json")}"
EAS=0x4200000000000000000000000000000000000021 # the Ethereum Attestation Service on Base, and on the local chain

LATEST=$(curl -sS --fail-with-body "$SERVICE_URL/api/svc/onchain-oracle/latest")
ATTESTATION=$(json data.uid <<<"$LATEST")
COMMITMENT=$(json data.commitment <<<"$LATEST")
echo "$(json data.predictionId <<<"$LATEST") is attested as $ATTESTATION"

echo "What the service has found on chain:"
curl -sS --fail-with-body "$SERVICE_URL/api/svc/onchain-oracle/verify/$ATTESTATION" | json data.decoded

# getAttestation(uid), asked of the chain itself. A commitment is a hash of the forecast and a secret, told at its end.
DATA=$(curl -sS --fail-with-body "$RPC_URL" -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"'"$EAS"'","data":"0xa3112a64'"${ATTESTATION#0x}"'"},"latest"]}' | json result)
case "$DATA" in
  *"${COMMITMENT#0x}"*) echo "The chain has the same commitment: $COMMITMENT" ;;
  *) echo "The chain does NOT have this commitment: $COMMITMENT" && exit 1 ;;
esac
