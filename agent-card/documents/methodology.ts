import { DIRECTION_CODES, OUTCOME_CODES, SIGNAL_CODES } from '../../src/chain/eas/commitment.ts';
import { EAS_SCHEMAS } from '../../src/chain/eas/schemas.ts';
import { BLOCK_DAYS, EMBARGO_DAYS, HORIZONS, MODEL_INPUTS, MODEL_NAME, TRIAL_COUNT } from '../../src/forecast/model.ts';
import { CONFIDENCE_RANGE } from '../../src/forecast/signal.ts';
import { QUORUM_RULES } from '../../src/market/prices/quorum.ts';
import { SIGNAL_TIME } from '../../src/market/signal-time.ts';
import { joinUrl } from '../../src/platform/service-url.ts';
import { COMMITMENT_FORMULA } from '../../src/record/oracle/commitment-proof.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { IDENTITY } from '../identity.ts';

/** E.g. `HOLD 0, BUY 1`. */
const formatCodes = (table: Record<string, number>) =>
  Object.entries(table)
    .map(([name, code]) => `${name} ${code}`)
    .join(', ');

const formatClock = ({ hours, minutes }: { hours: number; minutes: number }) =>
  [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');

/** The methodology as Markdown, identical for all callers and over time. */
export function renderMethodology({ publicUrl }: { publicUrl: string }): string {
  return [
    `# How ${IDENTITY.name} forecasts, and how to check it`,
    renderForecasting(publicUrl),
    renderCommitment(),
    renderResolution(),
    renderScoring(publicUrl),
    renderVerification(publicUrl),
  ].join('\n\n');
}

function renderForecasting(publicUrl: string): string {
  return `## A forecast

Once a day, at ${formatClock(SIGNAL_TIME)} UTC, BTC/USD is forecast for ${HORIZONS.join(', ')} days by the model \`${MODEL_NAME}\`: a logistic regression
on ${MODEL_INPUTS.length} scores (${MODEL_INPUTS.join(', ')}) that are made from what was known at that minute. One fit serves ${BLOCK_DAYS} days, and no outcome that it
has learned from lies within ${EMBARGO_DAYS} days of the first of them. Its probability is calibrated on earlier blocks.

- \`P(up)\` is the probability that the window closes above where it opened; \`direction\` is the likelier side, \`confidence\` its
  probability within ${CONFIDENCE_RANGE.least} to ${CONFIDENCE_RANGE.most}.
- \`signal\` is BUY or SELL where \`P(up)\` is far enough from one half for the regime that holds, else HOLD. The direction of a HOLD
  is committed all the same.
- ${TRIAL_COUNT} variants were tried before this model was fixed. Whoever reads its record has to discount for that luck.

Inputs, coefficients, rules, known failures and limits: the model card, \`model\` at ${joinUrl(publicUrl, '/api/svc/info')}.`;
}

function renderCommitment(): string {
  return `## Committed before the window opens

The outcome window opens at 00:00 UTC after the forecast. Before that all horizons of the day are on chain, as attestations of
the Ethereum Attestation Service that cannot be revoked:

    ${EAS_SCHEMAS.prediction}

    commitment = ${COMMITMENT_FORMULA}

with \`signal\` ${formatCodes(SIGNAL_CODES)} and \`direction\` ${formatCodes(DIRECTION_CODES)}. Each refers to the prediction of the day before for the same horizon
(\`refUID\`), and \`sequence\` counts without gaps: a day that is dropped shows. What is not on chain in time is void; it stays in
the sequence and never counts. Salt and values are told to those who may see the forecast, and to everybody at its outcome.`;
}

function renderResolution(): string {
  const { minVenues, maxDeviationBps } = QUORUM_RULES.live;
  return `## Resolved in public

The outcome compares the daily close at which the window opened with the close at its end. On live data a close is the median of at least
${minVenues} venues within ${maxDeviationBps / 100} % of it; without them resolving waits, it never guesses. Simulated and recorded data have one source; \`source\`
on every figure says which it is, and what is earned on simulated data proves the machinery only.

A second attestation refers to the first and reveals it:

    ${EAS_SCHEMAS.resolution}

with \`outcome\` ${formatCodes(OUTCOME_CODES)}.`;
}

function renderScoring(publicUrl: string): string {
  return `## Scored, and what it is worth

${joinUrl(publicUrl, '/api/svc/scorecard')} lists every forecast, holds and missed days included. HOLD is not scored. Windows of several days
overlap, and so do their outcomes: the scorecard counts how many independent ones they are worth, and its interval is as wide
as that. Its verdict is a sentence made from these numbers, not from hopes.

**The direction has no skill that can be told from luck.** Over days the price is close to a coin flip, and no more is claimed. What can be relied on is
a probability that says how little is known, an abstention where nothing is, and a record that cannot be edited. Nothing here is
advice to trade.

Outcomes of wagers are logged to the ERC-8004 reputation registry by the operator's own second wallet. On paper venues nothing
is staked, and what is won there proves nothing.`;
}

function renderVerification(publicUrl: string): string {
  return `## Check it yourself

1. \`GET ${joinUrl(publicUrl, '/api/svc/onchain-oracle/verify/<uid>')}\` reads an attestation from the chain and lists each check with what it found.
2. Without trusting this service: read the attestation by its uid from the chain, compare its block time with \`windowOpensAt\`,
   and hash the revealed values and salt with the formula above. It must be the committed hash.
3. \`metadata\` is the sha2-256 of the bytes at ${joinUrl(publicUrl, '/ipfs/<cid>')}: model version and digest, regime, sources and times of all inputs.
4. Follow \`refUID\` from prediction to prediction: the sequence has no gap.
5. Compute the outcome from public prices, and the scorecard from the outcomes.

How to call the service by program: ${joinUrl(publicUrl, ENDPOINTS.skillFile)}
`;
}
