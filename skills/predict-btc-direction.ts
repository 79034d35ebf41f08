import { z } from 'zod';
import type { Caller } from '../src/auth/caller.ts';
import { findOffering, isNeverIssued } from '../src/commerce/offerings.ts';
import type { Context } from '../src/context.ts';
import { parseHorizonDays } from '../src/forecast/horizon-input.ts';
import { formatPercent } from '../src/forecast/math.ts';
import { computePositionSize, formatMove, MAX_ACCOUNT_USD, MAX_RISK_PERCENT, type PositionSize } from '../src/forecast/move.ts';
import { DIRECTION_EVIDENCE } from '../src/forecast/signal.ts';
import { DATE, objectOf, TIME, withInputRules } from '../src/platform/validation.ts';
import { getExpectedRange, getExpectedRanges } from '../src/record/distributions.ts';
import {
  type Prediction,
  type PublicPrediction,
  readPrediction,
  readPremiumPrediction,
  readPublicPrediction,
} from '../src/record/prediction.ts';
import {
  CONFIDENCE,
  DIRECTION,
  EVIDENCE_OF_DIRECTION,
  HORIZON,
  INTERVAL,
  MOVE,
  REGIME,
  SIGNAL,
  SIZING,
  STATUS,
} from '../src/record/schemas/forecast.ts';
import { PREDICTION, PREMIUM_EVIDENCE, type PremiumEvidence, PUBLIC_PREDICTION } from '../src/record/schemas/signal.ts';
import { defineSkill, forecastHorizon, formatInstant, formatInterval, formatSource, limitWords, type SkillTerms } from './skill.ts';
import { findHorizon, findRisk } from './text.ts';

const SHARE = z.number().nullable();
const BOUNDS = z.object(INTERVAL.shape).nullable();

/** Members that the forecast and its public part have in common. */
const PREDICTION_MEMBERS = {
  ...MOVE,
  signal: SIGNAL.describe('GATED: hidden from this caller until its outcome; HOLD: P(up) is too close to one half'),
  direction: DIRECTION.nullable().describe('Null while GATED'),
  directionEvidence: EVIDENCE_OF_DIRECTION,
  confidence: CONFIDENCE.nullable().describe('Probability of the direction; null while GATED'),
  pUp: SHARE.describe('P(up); null while GATED'),
  horizon: HORIZON,
  date: DATE.describe('Day of the forecast, UTC'),
  predictionId: z.string(),
  status: STATUS.describe('PENDING until the outcome is on chain'),
  btcPrice: z.number().describe('BTC/USD at signal time'),
  regime: REGIME,
  windowOpensAt: TIME,
  resolvesAt: TIME.describe('End of the outcome window; the outcome and, with it, the forecast become public after it'),
  attestationUid: z.string().nullable().describe('Of the commitment; null until it is on chain'),
  skill: objectOf('The whole record of the horizon', {
    verdict: z.string(),
    scored: z.int(),
    effectiveN: z.number().describe('Independent calls that the scored ones are worth'),
    accuracy: SHARE,
    interval95: BOUNDS,
    alwaysUpAccuracy: SHARE,
  }),
  range: objectOf('Central range of the price at `resolvesAt`, BTC/USD, by the model: it has no direction', {
    share: z.number(),
    low: z.number(),
    high: z.number(),
  }).nullable(),
  sizing: SIZING,
  replayed: z.boolean().describe('Made after the fact, by a demonstration'),
  source: z.string().describe('Of the market data; `simulated` is no real market'),
};

const READERS = { public: readPublicPrediction, basic: readPrediction, premium: readPremiumPrediction };

type Detail = keyof typeof READERS;

/** The answer in its detail, for resources that show it in a form of their own. @throws OracleError STEP_WAITING, TIER_REQUIRED */
export function predict<D extends Detail>(
  detail: D,
  horizonDays: number,
  context: Context,
  caller: Caller,
): ReturnType<(typeof READERS)[D]> {
  return READERS[detail](context, horizonDays, caller) as ReturnType<(typeof READERS)[D]>;
}

/** The range with all its shares (section 4.1), which everyone may know. @param every of all horizons of its day. @throws OracleError STEP_WAITING */
export function predictRange(horizonDays: number, context: Context, every: boolean) {
  return (every ? getExpectedRanges : getExpectedRange)(context, horizonDays);
}

/** A premium answer as the forecast and what is known beside it. */
export function splitPrediction(answer: Prediction): { signal: Prediction; evidence: PremiumEvidence } {
  const isEvidence = ([name]: [string, unknown]) => name in PREMIUM_EVIDENCE.shape;
  const entries = Object.entries(answer);
  return {
    signal: Object.fromEntries(entries.filter((entry) => !isEvidence(entry))) as Prediction,
    evidence: Object.fromEntries(entries.filter(isEvidence)) as unknown as PremiumEvidence,
  };
}

/** Who may ask for a detail, and what buys it. */
const TERMS: Record<Detail, SkillTerms> = {
  public: { tier: 'public', offering: null },
  basic: { tier: 'basic', offering: findOffering('x402', 'x402_signal') },
  premium: { tier: 'premium', offering: findOffering('x402', 'x402_premium_signal') },
};

export type { Prediction, PublicPrediction };

const DETAILS = ['public', 'basic', 'premium'] as const satisfies Detail[];

const positiveUpTo = (most: number) => {
  const error = `must be a number above 0 and at most ${most}`;
  return z.number({ error }).gt(0, error).max(most, error).optional();
};

/** @returns lines of a text: none without a size */
function formatSizing(size: PositionSize | null | undefined): string[] {
  if (!size) return [];
  const { riskPercent, accountUsd, stopPercentLong, stopPercentShort, positionUsdLong, positionUsdShort, exceedsAccount } = size;
  const borrowed = exceedsAccount ? ', more than the account' : '';
  return [
    `${riskPercent} % of ${accountUsd} USD at risk: stop ${stopPercentLong.toFixed(2)} % below or ${stopPercentShort.toFixed(2)} % above; position ${positionUsdLong} USD long, ${positionUsdShort} short${borrowed}.`,
  ];
}

/** Before a purchase; nothing before the first revealed day. */
function formatCalls(calls: PublicPrediction['revealedCalls']): string[] {
  const { days, hold, sameAsDayBefore } = calls.days90;
  if (days === 0) return [];
  const repeated = sameAsDayBefore === null ? '' : `, unchanged on ${formatPercent(sameAsDayBefore, 0)}`;
  return [`Newest ${days} revealed days: HOLD ${hold}${repeated}${isNeverIssued('sell', [calls]) ? ', SELL never issued' : ''}.`];
}

function formatPublicPart(part: PublicPrediction, ways: string): string {
  const { date, attestationUid, regime, resolvesAt, range, source } = part;
  const place = attestationUid === null ? 'made, not yet on chain' : 'committed on chain';
  // A text has at most 120 words: what was asked for stands in place of range and record.
  const expected =
    range &&
    !part.sizing &&
    `BTC/USD closes between ${Math.round(range.low)} and ${Math.round(range.high)} at ${formatInstant(resolvesAt)} (${100 * range.share} %, by the model). `;
  return [
    ...formatSize(part),
    `${expected || ''}Regime ${regime}.`,
    ...formatSizing(part.sizing),
    `Direction, no proven skill: ${place} on ${date}; ${formatValues(part)}`,
    ...(part.sizing ? [] : [formatSkill(part)]),
    ...formatCalls(part.revealedCalls),
    `To see it: ${ways}.`,
    `${formatSource(source)} No advice to trade.`,
  ].join('\n');
}

/** What has skill comes first. */
function formatSize(part: Parameters<typeof formatMove>[0]): string[] {
  const move = formatMove(part);
  return move === null ? [] : [`Size of the move over ${part.horizon}: ${move}.`];
}

function formatValues({ signal, direction, confidence, resolvesAt, range, sizing }: PublicPrediction): string {
  // The line of the range has the same instant.
  const due = range && !sizing ? '' : `, due ${formatInstant(resolvesAt)}`;
  if (signal === 'GATED') return `its direction is hidden from you until its outcome${due}.`;
  return `it says ${signal}, ${direction}, with ${confidence === null ? 'unknown' : formatPercent(confidence)} confidence.`;
}

/** The record in one line: the whole verdict has as many words as everything else here. */
function formatSkill({ skill: { verdict, scored, accuracy, interval95 }, horizon }: PublicPrediction): string {
  if (accuracy === null || interval95 === null) return `Record over ${horizon}: ${verdict}.`;
  const wins = Math.round(accuracy * scored);
  return `Record over ${horizon}: ${wins} of ${scored} right, ${formatInterval(interval95)}; ${verdict.split(':')[0]}.`;
}

/** What asks for the size of the move. Without a horizon it is that of a day, at which it is known best. */
const SIZE_WORDS =
  /\b(?:how (?:far|much|big|large)\b.{0,20}\b(?:will|can|could|might|may|is)\b.{0,40}\b(?:move|swing|change)|how (?:volatile|wild|calm)|(?:big|large|sharp|wild) (?:\w+ )?(?:move|swing)s?|size of the (?:\w+ )?move|volatility|expected (?:move|range))\b/;
const TOMORROW = /\btomorrow\b/;
const DIRECTION_WORDS = /\b(?:direction|signal|forecast|up or down|buy|sell|long or short|bull(?:ish)?|bear(?:ish)?)\b/;

function asksForSize(text: string): boolean {
  return (SIZE_WORDS.test(text) || 'riskPercent' in findRisk(text)) && !DIRECTION_WORDS.test(text);
}

export const predictBtcDirection = defineSkill({
  id: 'predict_btc_direction',
  title: 'Forecast of BTC/USD',
  summary: 'How far BTC/USD will move in 1, 2, 3 or 7 days, then its direction, with the on-chain proof',
  description: `First the size of the move, free: CALM, USUAL or WILD, P(big move), 80 % range. Then signal, direction, confidence and P(up) of the daily forecast, with the salt of its commitment. ${DIRECTION_EVIDENCE} \`skill.verdict\` is of this record.`,
  question: 'what does it say today?',
  tags: ['bitcoin', 'forecast', 'volatility', 'probability', 'on-chain commitment'],
  examples: [
    { say: 'Where is bitcoin going over the next week?', input: { horizon: '7d' } },
    { say: 'Give me the 2-day BTC forecast with its proof.', input: { horizon: '2d' } },
    { say: 'How far will bitcoin move tomorrow?', input: { horizon: '1d', detail: 'public' } },
  ],
  fromText: {
    words: [
      [3, /\b(?:forecast|predict(?:ion)?|outlook|signal|direction)\b/],
      [3, /\b(?:will|going to|go(?:es|ing)?|head(?:ed|ing)?|move)\b/, /\b(?:up|down|rise|fall|drop|higher|lower|next|tomorrow|week)\b/],
      [4, SIZE_WORDS],
      [3, /\bwhere\b/, /\b(?:going|heading|headed)\b/],
      [3, /\b(?:up or down|bull(?:ish)?|bear(?:ish)?|long or short|buy|sell)\b/],
      [3, /\bwhat (?:do|does|did) (?:it|you|the (?:oracle|model)) (?:say|think|expect|see)\b/],
      [3, /\b(?:position size|size of (?:a|the|my) position|stop[ -]?loss|where (?:do|should) i (?:put|set|place) (?:a|the|my) stop)\b/],
      [1, /\b(?:next week|tomorrow|coming days|over the next)\b/],
    ],
    unwanted: /\b(?:without|no) (?:an? |any |the )?(?:forecast|prediction|signal)s?\b/g,
    rank: 1,
    read: (text) => ({
      horizon: findHorizon(text) ?? (TOMORROW.test(text) || SIZE_WORDS.test(text) ? '1d' : undefined),
      // What it is about is free.
      ...(asksForSize(text) ? { detail: 'public' as const } : {}),
      ...findRisk(text),
    }),
  },
  input: withInputRules(
    z
      .strictObject({
        horizon: forecastHorizon,
        detail: z
          .enum(DETAILS, { error: `must be one of ${DETAILS.join(', ')}` })
          .default('basic')
          .describe('premium: everything'),
        riskPercent: positiveUpTo(MAX_RISK_PERCENT).describe('Of accountUsd, lost at the stop: adds `sizing`'),
        accountUsd: positiveUpTo(MAX_ACCOUNT_USD).describe('With riskPercent'),
      })
      .superRefine(({ riskPercent, accountUsd }, { addIssue }) => {
        if ((riskPercent === undefined) === (accountUsd === undefined)) return;
        const [absent, present] = riskPercent === undefined ? ['riskPercent', 'accountUsd'] : ['accountUsd', 'riskPercent'];
        addIssue({ code: 'custom', path: [absent], message: `must be there with ${present}` });
      }),
    { dependentRequired: { riskPercent: ['accountUsd'], accountUsd: ['riskPercent'] } },
  ),
  output: PREDICTION,
  outline: {
    schema: z.object({
      ...PREDICTION_MEMBERS,
      stale: z.boolean().describe('A newer forecast is overdue'),
    }),
  },
  ...TERMS.basic,
  termsOf: ({ detail }) => TERMS[DETAILS.find((one) => one === detail) ?? 'basic'],
  publicPart: {
    input: { detail: 'public' },
    output: PUBLIC_PREDICTION,
    outline: { schema: z.object(PREDICTION_MEMBERS) },
    formatText: (part, ways) => formatPublicPart(part as PublicPrediction, ways),
  },
  freshness: { description: 'one forecast a day, at about 21:35 UTC', seconds: 86_400 },
  cost: 'normal',
  errors: ['STEP_WAITING'],
  async run({ horizon, detail, riskPercent, accountUsd }, context, caller): Promise<Prediction | PublicPrediction> {
    const answer = await predict(detail, parseHorizonDays(horizon), context, caller);
    if (riskPercent === undefined || accountUsd === undefined) return answer;
    const { moveLimits, btcPrice } = answer;
    const sizing = moveLimits && computePositionSize({ riskPercent, accountUsd }, { ...moveLimits, btcPrice });
    return { ...answer, sizing };
  },
  formatText({ signal, direction, confidence, pUp, horizon, date, btcPrice, regime, status, skill, stale, source, range, ...rest }) {
    const { windowOpensAt, resolvesAt, attestationUid, replayed, sizing } = rest;
    const proof = attestationUid === null ? 'It is not on chain yet.' : `On chain: ${attestationUid}.`;
    return [
      ...formatSize({ horizon, ...rest }),
      ...(range ? [`${Math.round(100 * range.share)} % range: ${Math.round(range.low)}–${Math.round(range.high)} USD.`] : []),
      ...formatSizing(sizing),
      `${signal} over ${horizon}: P(up) ${formatPercent(pUp)}, direction ${direction}, confidence ${formatPercent(confidence)}, not proven skill. Made ${date} at ${btcPrice}, regime ${regime}.`,
      `Window ${windowOpensAt.slice(0, 10)} to ${resolvesAt.slice(0, 10)}; ${status}${replayed ? ', replayed' : ''}${stale ? ', successor overdue' : ''}.`,
      `Record: ${limitWords(skill.verdict, sizing ? MAX_VERDICT_WORDS_BESIDE_SIZE : MAX_VERDICT_WORDS)}.`,
      proof,
      `${formatSource(source)} No advice to trade.`,
    ].join('\n');
  },
});

/** The whole text has at most 120 words, 26 of them for a size. */
const MAX_VERDICT_WORDS = 57;
const MAX_VERDICT_WORDS_BESIDE_SIZE = 31;
