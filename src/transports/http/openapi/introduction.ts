export const INTRODUCTION = `
Forecasts cover 1, 2, 3 and 7 days and are made daily at about 21:35 UTC. To get a token, log in as below, or run
\`npm run -s token -- premium\` for a demonstration service.

**Tiers.** Public operations need no authentication. A wallet that holds gate tokens logs in with a signature
(\`POST /api/svc/oracle/verify\`) and sends the token as \`Authorization: Bearer <token>\`. Until its outcome, direction and confidence
of a forecast are visible from the Basic tier on; other callers read \`GATED\` and null.

**Payments.** \`GET /oracle\` and \`GET /oracle/premium\` need no account: without a payment they answer 402 with the x402 requirements, version 2 in
\`PAYMENT-REQUIRED\` and version 1 in the body. Repeat the request with the signed payment in \`PAYMENT-SIGNATURE\`, \`X-PAYMENT\` or
\`X-402-Payment\` to get the answer with a signed receipt. Failed requests are not charged. See \`/.well-known/x402.json\`.

**Events** are pushed over the WebSocket \`/ws/signal\` and to webhooks; see \`/.well-known/asyncapi.json\`.

**Errors** are \`application/problem+json\` (RFC 9457): \`code\` is machine-readable, \`field\` names the invalid input, \`retryable\` says
whether the same request may succeed later, \`suggestedAction\` what to do.

**Rate limits** apply per IP address, or per wallet with a token. Every metered response has \`RateLimit\` (remaining quota) and
\`RateLimit-Policy\` (quota), in whole units: a request takes one unless its operation says otherwise, and a tenth where the same
answer was sent within the last second.

**Request ids.** Every response has \`X-Request-Id\`: that of the request if valid, else a generated one. A W3C
\`traceparent\` is continued in the log, and in the webhooks and A2A notifications that the request causes; an invalid one is ignored.

**Formats.** Times are ISO 8601 in UTC, days \`YYYY-MM-DD\`, probabilities 0 to 1; basis points are named as such. Amounts of tokens and money
are decimal strings, or integers of the smallest unit.

**Compatibility.** Replies may gain fields: ignore unknown ones. No field is removed or changes its meaning within a version. Unknown
query parameters are ignored, unknown body fields are rejected.
`.trim();
