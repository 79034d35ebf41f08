/** What holds for all operations, as Markdown. */
export const INTRODUCTION = `
Forecasts are for 1, 2, 3 and 7 days, and are made each day at about 21:35 UTC. A token for the operations that need one:
\`npm run -s token -- premium\` beside a demonstration service, or the login below.

**Tiers.** What is public needs no authentication. A wallet that holds gate tokens logs in with a signature
(\`POST /api/svc/oracle/verify\`) and sends the token as \`Authorization: Bearer <token>\`. Until its outcome the direction and
confidence of a forecast are told to the Basic tier and above only; everybody else reads \`GATED\` and null.

**Payments.** \`GET /oracle\` and \`GET /oracle/premium\` need no account: without a payment they answer 402 with the terms of x402, in version 2 in
\`PAYMENT-REQUIRED\` and in version 1 in the body. The same request with the signed payment in \`PAYMENT-SIGNATURE\`, \`X-PAYMENT\` or
\`X-402-Payment\` is answered, with a signed receipt. What is not answered is not charged. \`/.well-known/x402.json\` has all of it for programs.

**Events** are pushed over the WebSocket \`/ws/signal\` and to webhooks; \`/.well-known/asyncapi.json\` describes them.

**Errors** are \`application/problem+json\` (RFC 9457): \`code\` is for programs, \`field\` names what is at fault, \`retryable\` says
whether the same request may succeed later, \`suggestedAction\` what to do.

**Limits.** Requests are counted by IP address, or by wallet with a token. Every response to a counted request has \`RateLimit\` and
\`RateLimit-Policy\`: what is left of the limit, and the limit.

**Requests** are named: every response has \`X-Request-Id\`, the one that was sent if it is fit to be used.

**Numbers.** Times are ISO 8601 in UTC, days \`YYYY-MM-DD\`, probabilities 0 to 1, basis points are called so. Amounts of tokens and money are
decimal strings, or integers of the smallest unit.

**Compatibility.** Answers may gain fields: ignore those you do not know. No field goes or changes its meaning within a version. Unknown
query parameters are ignored, unknown body fields are refused.
`.trim();
