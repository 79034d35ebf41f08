import { z } from 'zod';
import { findOffering } from '../src/commerce/offerings.ts';
import { parseHorizonDays } from '../src/forecast/horizon-input.ts';
import { formatPercent } from '../src/forecast/math.ts';
import type { HorizonName } from '../src/forecast/model.ts';
import { DIRECTION_EVIDENCE } from '../src/forecast/signal.ts';
import { DATE, objectOf, TIME } from '../src/platform/validation.ts';
import { type ExpectedRange, findPriceRange } from '../src/record/distributions.ts';
import { getOracleSignal } from '../src/record/prediction.ts';
import {
  CONFIDENCE,
  DIRECTION,
  EVIDENCE_OF_DIRECTION,
  HORIZON,
  INTERVAL,
  PRICE_RANGE,
  REGIME,
  SIGNAL,
  STATUS,
} from '../src/record/schemas/forecast.ts';
import { ORACLE_SIGNAL, type PublicSignal } from '../src/record/schemas/signal.ts';
import type { TrackRecordReply } from '../src/record/schemas/track-record.ts';
import { defineSkill, forecastHorizon, formatInstant, formatInterval, formatSource, limitWords, type PublicPart } from './skill.ts';

const SHARE = z.number().nullable();
const BOUNDS = z.object(INTERVAL.shape).nullable();

/** Members that the forecast and its public part have in common. */
const PREDICTION_MEMBERS = {
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
  replayed: z.boolean().describe('Made after the fact, by a demonstration'),
  source: z.string().describe('Of the market data; `simulated` is no real market'),
};

/** Central range of the price at `resolvesAt`. */
const OUTLINED_RANGE = objectOf('Central range of the price at `resolvesAt`, BTC/USD, by the model: it has no direction', {
  share: z.number(),
  low: z.number(),
  high: z.number(),
});

const SHOWN_SHARE = 0.8;

const PART = z.object({ ...PREDICTION_MEMBERS, range: OUTLINED_RANGE });

type PredictionPublicPart = z.input<typeof PART>;

export const PREDICTION_PUBLIC_PART = {
  schema: PART,
  async read(source, { horizon }) {
    const name = horizon as HorizonName;
    const [signal, range, record] = await Promise.all([
      source.publicSignal(name) as Promise<PublicSignal>,
      source.expectedRange(name) as unknown as Promise<ExpectedRange>,
      source.run('get_track_record', { horizon, pageSize: 1 }),
    ]);
    return toPublicPart(signal, range, record.output as TrackRecordReply);
  },
  formatText: (part, ways) => formatPublicPart(part as PredictionPublicPart, ways),
} satisfies PublicPart;

function toPublicPart(signal: PublicSignal, { ranges }: ExpectedRange, record: TrackRecordReply): PredictionPublicPart {
  const { direction, directionEvidence, confidence, horizon, predictionId, status, btcPrice, regime, windowOpensAt, resolvesAt, ...rest } =
    signal;
  const { share, low, high } = ranges.find((range) => range.share === SHOWN_SHARE) ?? ranges[0];
  const { statistics, wholeRecord } = record;
  const { resolved: scored, accuracy, accuracyInterval95: interval95, alwaysUpAccuracy, verdict } = statistics;
  return {
    signal: signal.signal,
    direction,
    directionEvidence,
    confidence,
    pUp: record.entries.find((entry) => entry.predictionId === predictionId)?.pUp ?? null,
    horizon,
    date: predictionId.slice(0, 10),
    predictionId,
    status,
    btcPrice,
    regime,
    windowOpensAt,
    resolvesAt,
    attestationUid: rest.attestationUid,
    skill: { verdict, scored, effectiveN: wholeRecord.effectiveN, accuracy, interval95, alwaysUpAccuracy },
    replayed: rest.replayed,
    source: rest.source,
    range: { share, low, high },
  };
}

function formatPublicPart(part: PredictionPublicPart, ways: string): string {
  const { horizon, date, attestationUid, btcPrice, regime, resolvesAt, range, source } = part;
  const place = attestationUid === null ? 'made, not yet on chain' : 'committed on chain';
  const bounds = `${Math.round(range.low)} and ${Math.round(range.high)}`;
  return [
    `The ${horizon} forecast of ${date} is ${place}; ${formatValues(part)}`,
    `Public: by the model, BTC/USD closes between ${bounds} on ${resolvesAt.slice(0, 10)} with ${100 * range.share} % probability (${Math.round(btcPrice)} at the forecast), which says nothing of the direction. Regime ${regime}.`,
    formatSkill(part),
    `To see it: ${ways}.`,
    `${formatSource(source)} No advice to trade.`,
  ].join('\n');
}

function formatValues({ signal, direction, confidence, resolvesAt }: PredictionPublicPart): string {
  if (signal === 'GATED') return `its direction is hidden from you until its outcome, due ${formatInstant(resolvesAt)}.`;
  return `it is public: ${signal}, ${direction}, with ${confidence === null ? 'unknown' : formatPercent(confidence)} confidence.`;
}

/** The record in one line: the whole verdict has as many words as everything else here. */
function formatSkill({ skill: { verdict, scored, accuracy, interval95 }, horizon }: PredictionPublicPart): string {
  if (accuracy === null || interval95 === null) return `Record over ${horizon}: ${verdict}.`;
  const wins = Math.round(accuracy * scored);
  return `Record over ${horizon}: ${wins} of ${scored} right, ${formatInterval(interval95)}; ${verdict.split(':')[0]}.`;
}

export const predictBtcDirection = defineSkill({
  id: 'predict_btc_direction',
  title: 'Forecast of BTC/USD',
  summary: 'The newest forecast of BTC/USD for 1, 2, 3 or 7 days with its probability and its on-chain proof',
  description: `Signal (BUY, SELL, HOLD), direction, calibrated confidence and P(up) of the newest daily forecast of BTC/USD, with the salt of its on-chain commitment. HOLD means that P(up) is too close to one half for the regime. ${DIRECTION_EVIDENCE} \`skill.verdict\` is of this record; \`source\` shows whether the market is simulated. No advice to trade.`,
  tags: ['bitcoin', 'forecast', 'probability', 'on-chain commitment'],
  examples: [
    { say: 'Where is bitcoin going over the next week?', input: { horizon: '7d' } },
    { say: 'Give me the 2-day BTC forecast with its proof.', input: { horizon: '2d' } },
  ],
  input: z.strictObject({ horizon: forecastHorizon }),
  output: ORACLE_SIGNAL.omit({ success: true, access: true }).extend({ range: PRICE_RANGE }).meta({ id: 'Prediction' }),
  outline: {
    schema: z.object({
      ...PREDICTION_MEMBERS,
      range: OUTLINED_RANGE.nullable(),
      stale: z.boolean().describe('A newer forecast is overdue'),
    }),
  },
  tier: 'basic',
  publicPart: PREDICTION_PUBLIC_PART,
  offering: findOffering('x402', 'x402_signal'),
  freshness: { description: 'one forecast a day, at about 21:35 UTC', seconds: 86_400 },
  cost: 'normal',
  errors: ['STEP_WAITING'],
  async run({ horizon }, { deps, caller }) {
    const horizonDays = parseHorizonDays(horizon);
    const signal = await getOracleSignal(deps, horizonDays, caller);
    return { ...signal, range: await findPriceRange(deps, { horizonDays, date: signal.date }) };
  },
  formatText({ signal, direction, confidence, pUp, horizon, date, btcPrice, regime, status, skill, stale, source, range, ...rest }) {
    const { windowOpensAt, resolvesAt, attestationUid, replayed } = rest;
    const proof = attestationUid === null ? 'It is not on chain yet.' : `On chain: ${attestationUid}.`;
    return [
      `${signal} over ${horizon}: P(up) ${formatPercent(pUp)}, direction ${direction}, confidence ${formatPercent(confidence)}; forecast of ${date} at ${btcPrice} USD, regime ${regime}.`,
      `Window ${windowOpensAt.slice(0, 10)} to ${resolvesAt.slice(0, 10)}; ${status}${replayed ? ', replayed' : ''}.${stale ? ' Its successor is overdue.' : ''}`,
      ...(range ? [`Expected ${Math.round(100 * range.share)} % range: ${Math.round(range.low)} to ${Math.round(range.high)}.`] : []),
      `The record of this horizon: ${limitWords(skill.verdict, MAX_VERDICT_WORDS)}.`,
      proof,
      `A probability, not proven skill. ${formatSource(source)} No advice to trade.`,
    ].join('\n');
  },
});

const MAX_VERDICT_WORDS = 57;
