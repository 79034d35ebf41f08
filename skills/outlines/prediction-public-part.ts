import { z } from 'zod';
import { formatPercent } from '../../src/forecast/math/format-percent.ts';
import type { HorizonName } from '../../src/forecast/model.ts';
import type { ExpectedRange } from '../../src/record/distributions/expected-range.ts';
import type { PublicSignal } from '../../src/record/schemas/signal.ts';
import type { TrackRecordReply } from '../../src/record/schemas/track-record.ts';
import { formatInstant, formatInterval, formatSource } from './format-figures.ts';
import { OUTLINED_RANGE, PREDICTION_MEMBERS } from './prediction.ts';
import type { PublicPart } from './public-part.ts';

const SHOWN_SHARE = 0.8;

const PART = z.object({ ...PREDICTION_MEMBERS, range: OUTLINED_RANGE });

export type PredictionPublicPart = z.input<typeof PART>;

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
  const { direction, confidence, horizon, predictionId, status, btcPrice, regime, windowOpensAt, resolvesAt, ...rest } = signal;
  const { share, low, high } = ranges.find((range) => range.share === SHOWN_SHARE) ?? ranges[0];
  const { statistics, wholeRecord } = record;
  const { resolved: scored, accuracy, accuracyInterval95: interval95, alwaysUpAccuracy, verdict } = statistics;
  return {
    signal: signal.signal,
    direction,
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
