import { type Hex, keccak256, stringToBytes } from 'viem';
import { computeCommitment } from '../../chain/eas/commitment.ts';
import { deriveSalt } from '../../chain/eas/salt.ts';
import { parseDay, toInstantMs } from '../../forecast/day.ts';
import { MODEL_NAME } from '../../forecast/model.ts';
import { buildCid } from '../../record/commitment/metadata.ts';
import { MICROS } from '../../wager/venue.ts';
import type { PushedName } from '../event-names.ts';
import type { PushedEvent } from '../event-payloads.ts';
import { type EventViewOptions, viewEvent } from '../event-view.ts';
import type { EventContent, EventDoc } from '../log/event.ts';

export type ExampleOptions = Pick<EventViewOptions, 'publicUrl' | 'chainId'>;

export const EXAMPLE_WEBHOOK = '6f1c1f0e-3f0b-4d3c-9a52-0d9c3a7e4b11';

/** Earlier than any record: no real forecast has these ids. */
const DATE = '2021-03-10';
const DAY = parseDay(DATE);
const ID = `${DATE}:7d`;
const at = (days: number, hours: number, minutes: number) => new Date(toInstantMs(DAY + days, hours, minutes));

/** The example salts open the example commitments. */
const SALT_SECRET = 'the events of the examples never were';
const hashWord = (of: string): Hex => keccak256(stringToBytes(of));

const probabilities = { confidence: 0.5614, confidenceBps: 5_614, pUp: 0.5614, pUpBps: 5_614 };
const values: EventContent['signal.new']['values'] = {
  signal: 'BUY',
  direction: 'UP',
  ...probabilities,
  btcPriceCents: 5_612_350,
  climatology: 0.5302,
  threshold: 0.03,
  distribution: { scale: 0.061, shift: 0.009 },
  priceQuantiles: { p05: 50_660.2, p10: 52_050.7, p25: 54_290.4, p50: 56_530.9, p75: 58_850.6, p90: 61_400.1, p95: 63_290.5 },
};
const forecast = { _id: ID, day: DAY, horizonDays: 7, sequence: 69, modelVersion: `${MODEL_NAME}.2021-02-12`, replayed: false };
const commitment = computeCommitment({ salt: deriveSalt(SALT_SECRET, ID), ...values });
const metadata = { commitment, cid: buildCid(hashWord('metadata')) };
const transactionCost = { gasUsed: 1_420_000, effectiveGasPriceWei: '6000000', attestationsInTransaction: 4 };
const buildAttested = (name: string, blockNumber: number, when: Date) => {
  return { uid: hashWord(name), txHash: hashWord(`transaction: ${name}`), blockNumber, at: when, ...transactionCost };
};
const prediction = buildAttested('prediction', 27_310_404, at(0, 21, 38));
const reveal = buildAttested('resolution', 27_613_204, at(8, 0, 5));

const resolution: EventContent['signal.resolved']['resolution'] = {
  btcAtSignalCents: 5_606_120,
  btcAtResolutionCents: 5_709_980,
  returnBps: 185,
  actualDirection: 'UP',
  outcome: 'WIN',
  venues: ['bitstamp', 'coinbase', 'kraken'],
  deviationBps: 3,
  decidedAt: at(8, 0, 2),
  batch: 'resolutions',
};

const market = { id: `paper:${DATE}:56000`, question: 'Will BTC/USD close above 56,000 on 2021-03-13 (UTC)?', strikeUsd: 56_000 };
const wager = {
  _id: DATE,
  venue: 'paper',
  asset: 'PAPER-USD',
  side: 'YES' as const,
  contracts: 20,
  costMicros: 9.8 * MICROS,
  replayed: false,
  market: { ...market, expiresAt: at(4, 0, 0) },
};

const EXAMPLE_CONTENTS: EventContent = {
  'signal.new': {
    ...forecast,
    commitment,
    values,
    late: false,
    regime: 'BULL_TREND',
    signalAt: at(0, 21, 35),
    windowOpensAt: at(1, 0, 0),
    resolvesAt: at(8, 0, 0),
  },
  'signal.resolved': { ...forecast, values, attestation: prediction, resolution, reveal, outcome: 'WIN' },
  'attestation.created': {
    ...forecast,
    ...metadata,
    kind: 'prediction',
    status: 'PENDING',
    attested: prediction,
    refUid: hashWord('prediction of the day before'),
  },
  'wager.placed': { ...wager, pModel: 0.548, qMarket: 0.48, pBelieved: 0.531, weight: 0.75, placedAt: at(0, 21, 42), skippedBecause: null },
  'wager.settled': { ...wager, winner: 'YES', payoutMicros: 20 * MICROS, settledAt: at(4, 0, 10), outcome: 'WIN' },
  'regime.changed': { date: DATE, from: 'CHOP', to: 'BULL_TREND', at: at(0, 21, 35), replayed: false },
  'webhook.disabled': {
    webhookId: EXAMPLE_WEBHOOK,
    url: 'https://bot.example/oracle',
    reason: 'Every attempt has failed for five days; the last one: HTTP 500',
    failingSince: at(3, 21, 35),
  },
};

const EXAMPLE_PLACES: Readonly<Record<PushedName, readonly [id: number, at: Date]>> = {
  'signal.new': [1_204, at(0, 21, 35)],
  'regime.changed': [1_205, at(0, 21, 35)],
  'attestation.created': [1_209, at(0, 21, 38)],
  'wager.placed': [1_210, at(0, 21, 42)],
  'wager.settled': [1_224, at(4, 0, 10)],
  'signal.resolved': [1_251, at(8, 0, 5)],
  'webhook.disabled': [1_257, at(8, 21, 35)],
};

export function buildExampleEvent<Name extends PushedName>(type: Name): EventDoc<Name> {
  const [_id, when] = EXAMPLE_PLACES[type];
  const common = { _id, key: `example:${type}`, type, at: when, horizonDays: null, wallet: null, appendedAt: when };
  return { ...common, content: EXAMPLE_CONTENTS[type] };
}

export function buildExampleView<Name extends PushedName>(type: Name, tier: 'basic' | 'premium', options: ExampleOptions) {
  const event = buildExampleEvent(type) as Parameters<typeof viewEvent>[0];
  const eventView = viewEvent(event, { tier }, { ...options, saltSecret: SALT_SECRET, policy: 'resolution' });
  return eventView as PushedEvent<Name>;
}
