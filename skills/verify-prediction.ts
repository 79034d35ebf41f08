import type { Hex } from 'viem';
import { z } from 'zod';
import type { Caller } from '../src/auth/caller.ts';
import type { Context } from '../src/context.ts';
import { OracleError } from '../src/errors.ts';
import { HORIZON_SCHEMA, recordHorizonInput } from '../src/forecast/horizon-input.ts';
import { formatPercent } from '../src/forecast/math.ts';
import { DATE, listOf, TIME, withInputRules } from '../src/platform/validation.ts';
import type { PredictionReference } from '../src/record/attestations.ts';
import { DIRECTION, HORIZON, SIGNAL, STATUS } from '../src/record/schemas/forecast.ts';
import { PREDICTION_VERIFICATION, type PredictionVerificationReply } from '../src/record/schemas/verification.ts';
import { verifyAttestation, verifyPrediction } from '../src/record/verification.ts';
import { DATE_INPUT, defineOutline, defineSkill, formatInstant, limitWords } from './skill.ts';
import { findDates, findHorizon } from './text.ts';

const MAX_LISTED = 5;

const VALUE = PREDICTION_VERIFICATION.shape.checks.element.shape.differences.element.shape.expected;

const VERIFICATION_OUTLINE = defineOutline(PREDICTION_VERIFICATION, {
  schema: z.object({
    asOf: TIME,
    verified: z.boolean(),
    verdict: z.string(),
    agreeing: z.int().describe('Checks that hold'),
    total: z.int().describe('Checks in all'),
    checks: listOf('In a summary only those that fail', {
      check: z.string(),
      what: z.string(),
      ok: z.boolean(),
      differences: z.array(z.object({ attestation: z.string(), field: z.string(), expected: VALUE, actual: VALUE })),
    }),
    unchecked: z.array(z.object({ check: z.string(), what: z.string(), reason: z.string() })),
    attestations: z.array(z.object({ type: z.string(), uid: z.string(), onChain: z.boolean(), blockTime: TIME.nullable() })),
    prediction: z.object({
      predictionId: z.string(),
      date: DATE,
      horizon: HORIZON,
      status: STATUS,
      signal: SIGNAL.nullable(),
      direction: DIRECTION.nullable(),
      pUp: z.number().nullable(),
      windowOpensAt: TIME,
      resolvesAt: TIME,
      btcAtSignal: z.number().nullable(),
      btcAtResolution: z.number().nullable(),
      returnBps: z.int().nullable(),
    }),
    byHand: z.object({ chain: z.string(), easContract: z.string(), attester: z.string(), formula: z.string() }),
  }),
  cut: ({ checks, unchecked, ...rest }) => ({
    ...rest,
    checks: checks
      .filter(({ ok }) => !ok)
      .slice(0, MAX_LISTED)
      .map((check) => ({ ...check, differences: check.differences.slice(0, MAX_LISTED) })),
    unchecked: unchecked.slice(0, MAX_LISTED),
  }),
});

const IDENTIFIERS = ['date', 'predictionId', 'uid'] as const;
const IDENTIFIER_RULE = 'name the forecast by exactly one of "date" (with "horizon"), "predictionId" and "uid"';

const FIELDS = z.strictObject({
  date: DATE_INPUT.optional().describe('Forecast day, UTC; with `horizon`'),
  horizon: withInputRules(recordHorizonInput.optional(), HORIZON_SCHEMA).describe('Default 7d; with `date` only'),
  predictionId: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}:[1237]d$/, 'must be the id of a forecast, YYYY-MM-DD:<days>d, e.g. 2026-01-05:7d')
    .optional()
    .describe('Id of the forecast'),
  uid: z
    .string()
    .regex(/^0x[a-fA-F0-9]{64}$/, 'must be 0x followed by 64 hex characters')
    .optional()
    .describe('Uid of the attestation of a prediction or resolution'),
});

/** Exactly one identifier is required. */
const INPUT = withInputRules(
  FIELDS.superRefine((input, context) => {
    const [first, second] = IDENTIFIERS.filter((name) => input[name] !== undefined);
    const reject = (name: string, fault: string) =>
      context.addIssue({ code: 'custom', path: [name], message: `${fault}: ${IDENTIFIER_RULE}`, input });
    if (first === undefined) reject('predictionId', 'is missing');
    if (second !== undefined) reject(second, `must not be sent together with "${first}"`);
  }),
  { oneOf: IDENTIFIERS.map((name) => ({ required: [name] })) },
);

type Input = z.output<typeof INPUT>;

const UID_IN_TEXT = /\b0x[0-9a-f]{64}\b/;
const ID_IN_TEXT = /\b\d{4}-\d{2}-\d{2}:[1-9]d\b/;

function readReference(text: string): z.input<typeof INPUT> | string {
  const [uid] = UID_IN_TEXT.exec(text) ?? [];
  if (uid !== undefined) return { uid };
  const [predictionId] = ID_IN_TEXT.exec(text) ?? [];
  if (predictionId !== undefined) return { predictionId };
  const [date] = findDates(text);
  if (date !== undefined) return { date, horizon: findHorizon(text) };
  return 'Which forecast should be verified? Send its date (YYYY-MM-DD), its id (e.g. 2026-01-05:7d) or the uid of its attestation (0x and 64 hex digits).';
}

export const verifyPredictionSkill = defineSkill({
  id: 'verify_prediction',
  title: 'Verification of a forecast on chain',
  summary: 'Checks a forecast against the chain: committed in time, unchanged, and resolved by the rule',
  description:
    'Name a forecast by exactly one of `date` (with `horizon`), `predictionId` and `uid`, all as `get_track_record` lists them. Checks its attestations on chain, alone and against the record; once it is resolved, also that the revealed salt and values open the commitment made before the window opened. Returns each check with the values of a difference, what could not be checked and why, and the steps without this service. Proves that a forecast was made in time and not changed, not that forecasts are good.',
  question: 'was a forecast made in time and left unchanged?',
  tags: ['bitcoin', 'verification', 'attestation', 'EAS', 'commitment'],
  examples: [
    { say: 'Was the 7-day forecast of 5 January 2026 really made before its outcome?', input: { date: '2026-01-05', horizon: '7d' } },
    { say: 'Verify prediction 2026-01-05:2d.', input: { predictionId: '2026-01-05:2d' } },
    { say: `Check attestation 0x${'ab'.repeat(32)}.`, input: { uid: `0x${'ab'.repeat(32)}` } },
  ],
  fromText: {
    words: [
      [7, /\b(?:verif(?:y|ied|ies|ication)|authentic\w*|tamper\w*|genuine)\b/],
      [5, /\b(?:check|prove|valid(?:ate)?|audit)\b/],
      [5, /\b(?:made|committed) (?:before|in time|on time)\b/],
      [4, /\b(?:unchanged|unaltered|altered)\b/],
      [2, /\b(?:on[- ]chain|attest\w*|commitment|proof)\b/],
      [20, UID_IN_TEXT],
      [20, ID_IN_TEXT],
      [2, /\b\d{4}-\d{2}-\d{2}\b/],
    ],
    rank: 3,
    read: readReference,
  },
  input: INPUT,
  output: PREDICTION_VERIFICATION,
  outline: VERIFICATION_OUTLINE,
  tier: 'public',
  offering: null,
  freshness: { description: 'read from the chain at each call; changes once, when the outcome is on chain', seconds: 60 },
  cost: 'rpc',
  errors: ['NOT_FOUND', 'CHAIN_UNREACHABLE'],
  async run(input, context, caller) {
    const reply = await verifyPrediction(context, toPredictionQuery(input), caller);
    requireMatchingHorizon(input, reply);
    return reply;
  },
  formatText({ prediction, verified, verdict, checks, attestations, byHand }) {
    const failed = checks.flatMap(({ differences }) => differences).slice(0, MAX_DIFFERENCES);
    return [
      `${prediction.predictionId}, ${prediction.status}: ${verified ? 'VERIFIED' : 'NOT VERIFIED'}. ${capitalize(limitWords(verdict, MAX_VERDICT_WORDS))}.`,
      ...attestations.map(formatAttestation),
      ...failed.map(
        ({ attestation, field, expected, actual }) =>
          `${attestation} ${field}: expected ${truncateValue(expected)}, found ${truncateValue(actual)}.`,
      ),
      formatValues(prediction),
      prediction.replayed
        ? 'It proves that the forecast was not changed, not when it was made, as a demonstration replayed it, nor that forecasts are good.'
        : 'It proves when the forecast was made and that it was not changed, not that forecasts are good.',
      `By hand, without this service: getAttestation(uid) of ${byHand.easContract} on ${byHand.chain}; the full answer lists the steps.`,
    ].join('\n');
  },
});

/** The same verification with the attestation that names it (section 2.5). @throws OracleError NOT_FOUND, CHAIN_UNREACHABLE */
export const readVerification = (uid: Hex, context: Context, caller: Caller) => verifyAttestation(context, uid, caller);

const MAX_VERDICT_WORDS = 50;
const MAX_DIFFERENCES = 2;

const MAX_VALUE_WORDS = 4;

function toPredictionQuery({ date, horizon = '7d', predictionId, uid }: Input): PredictionReference {
  if (uid !== undefined) return { uid: uid.toLowerCase() as Hex };
  return predictionId === undefined ? { predictionId: `${date}:${horizon}`, field: 'date' } : { predictionId, field: 'predictionId' };
}

/** Rejects a horizon that contradicts the named forecast. @throws OracleError INPUT_INVALID naming `horizon` */
function requireMatchingHorizon({ horizon }: Input, { prediction }: PredictionVerificationReply): void {
  if (horizon === undefined || prediction.horizon === horizon) return;
  throw new OracleError('INPUT_INVALID', `input "horizon": the forecast that was named is of ${prediction.horizon}`, {
    field: 'horizon',
    suggestedAction: 'Leave "horizon" out, or name the forecast of that horizon.',
  });
}

function formatValues({ signal, direction, pUp, btcAtSignal, btcAtResolution }: PredictionVerificationReply['prediction']): string {
  if (signal === null || pUp === null || direction === null)
    return signal === 'GATED' ? 'Its values are hidden until its outcome, which opens the commitment.' : 'It has no values.';
  const outcome = btcAtResolution === null ? 'its outcome is open' : `BTC/USD closed at ${btcAtResolution} after ${btcAtSignal}`;
  return `It says ${signal}, ${direction}, P(up) ${formatPercent(pUp)}; ${outcome}.`;
}

function formatAttestation({ type, uid, blockTime }: PredictionVerificationReply['attestations'][number]): string {
  return `${capitalize(type)} ${uid}: ${blockTime === null ? 'not on chain' : `on chain since ${formatInstant(blockTime)}`}.`;
}

function capitalize(text: string): string {
  return text[0].toUpperCase() + text.slice(1);
}

/** Values on chain are bounded before they are quoted. */
function truncateValue(value: string | number | boolean | null): string {
  return value === null ? 'nothing' : limitWords(String(value).slice(0, 70), MAX_VALUE_WORDS);
}
