import { type HorizonName, horizonName } from '../forecast/model.ts';
import { DEFAULT_HORIZON } from '../horizon-input.ts';
import type { Channel } from './channel.ts';
import { type Money, usd } from './money.ts';

/** Something that is sold; told apart by channel and name. */
export interface Offering {
  /** The identifier that buyers and protocols use (interface, section 2.8). */
  name: string;
  channel: Channel;
  title: string;
  /** One or two sentences. */
  description: string;
  price: Money;
  /** What the buyer gets, piece by piece. */
  delivers: readonly string[];
  /** What the buyer can check it against without trusting the seller. */
  evidence: string;
  /** How it is asked for. */
  example: string;
  /** Where it is asked for by a request that is paid with it; null for what is paid another way. */
  resource: PaidResource | null;
}

/** An operation of HTTP that answers for a payment. */
export interface PaidResource {
  method: 'GET';
  path: string;
  /** The offering's description for the horizon that a request names, in days. */
  describe(horizonDays: number): string;
}

type Described = Omit<Offering, 'channel' | 'example' | 'resource'>;
type DescribedRequest = Omit<Described, 'description'> & { describe(horizon: HorizonName): string };

const asAdjective = (horizon: HorizonName) => horizon.replace('d', '-day');

const purchase = (offering: Described): Offering => ({
  ...offering,
  channel: 'purchase',
  resource: null,
  example: `POST /api/svc/commerce/purchase {"offering":"${offering.name}","txHash":"0x<64 hex>","wallet":"0x<40 hex>","signature":"0x<by wallet, over: Buy svc offering: ${offering.name}:<txHash in lower case>>"}`,
});

const job = (offering: Described): Offering => ({
  ...offering,
  channel: 'agent-commerce',
  resource: null,
  example: `createJob(<payee>, <evaluator>, <expiry>, '{"offering":"${offering.name}"}', <zero address>)`,
});

const paidRequest = (path: string, { describe, ...offering }: DescribedRequest): Offering => ({
  ...offering,
  description: `${describe(DEFAULT_HORIZON)} Other horizons by \`?horizon=\`.`,
  channel: 'x402',
  resource: { method: 'GET', path, describe: (horizonDays) => describe(horizonName(horizonDays)) },
  example: `GET ${path}?horizon=7d, answered with 402 and the terms; then the same again with PAYMENT-SIGNATURE: <base64 of the payment>`,
});

const COMMITMENT =
  'The delivered values and salt hash to the commitment of an attestation that was on chain before the outcome window opened.';
const RECORD = 'Each forecast names its attestations; the chain and public prices are enough to compute the figures again.';
const CROWD =
  "Each week names the attestations of its forecasts with what opens them, and what the oracle's probability follows from by a formula that is told: it can be computed again. Quotes and winners are the venue's words; those of the paper venue are ours.";
const SOURCES = 'Each figure names its source, its time and its age.';

/** Everything that is sold, with its price: the only place that says one. */
export const OFFERINGS: readonly Offering[] = [
  purchase({
    name: 'svc_signal_with_proof',
    title: 'Signal with proof',
    description: 'The newest 7-day forecast of BTC/USD before its outcome is known, with everything it takes to check it on chain.',
    price: usd('1.00'),
    delivers: ['signal, direction, confidence and probability of a rise', 'salt and attestation of its commitment', 'how to check both'],
    evidence: COMMITMENT,
  }),
  purchase({
    name: 'svc_verified_track_record',
    title: 'Verified track record',
    description: 'Every forecast that was ever made, holds and missed days included, with its attestations and honest statistics.',
    price: usd('0.50'),
    delivers: ['all forecasts with outcome, both closes and attestations', 'accuracy and scores with their intervals'],
    evidence: RECORD,
  }),
  purchase({
    name: 'svc_analysis_report',
    title: 'Analysis report',
    description: 'The forecasts of all horizons with their distributions, the regime with its factors, and the data they were made from.',
    price: usd('2.00'),
    delivers: [
      'forecasts of 1, 2, 3 and 7 days with quantiles',
      'regime, risk level and factors',
      'model, its inputs and its thresholds',
      'record of each horizon with intervals',
    ],
    evidence: COMMITMENT,
  }),
  purchase({
    name: 'svc_crowd_vs_oracle',
    title: 'Crowd against oracle',
    description:
      "The weekly strike closest to the money: the prediction market's probability beside the oracle's, and how both have scored.",
    price: usd('0.50'),
    delivers: [
      'probability of both for the running week',
      'scores of both over all settled weeks, with the interval of the difference',
      'attestations and openings of the forecasts, and the inputs of each probability',
    ],
    evidence: CROWD,
  }),
  purchase({
    name: 'svc_daily_macro_review',
    title: 'Daily macro review',
    description: "The day's macro, flow, derivatives and sentiment data beside bitcoin, with correlations and changes.",
    price: usd('0.50'),
    delivers: ['dollar, equities, gold, rates and PMI beside bitcoin', 'ETF flows, funding, open interest and sentiment'],
    evidence: SOURCES,
  }),
  purchase({
    name: 'svc_alpha_brief',
    title: 'Alpha brief',
    description: 'The day on one page: forecast, regime, what the prediction market asks, and the size of a wager that follows from both.',
    price: usd('1.50'),
    delivers: [
      'forecast of the day with its proof',
      'the market it was wagered on, with price and size',
      'what was resolved since the last one',
    ],
    evidence: COMMITMENT,
  }),
  job({
    name: 'svc_bitcoin_signal',
    title: 'Bitcoin signal',
    description: 'The newest 7-day forecast of BTC/USD with the method it was made by.',
    price: usd('1.00'),
    delivers: ['signal, direction, confidence and probability of a rise', 'salt and attestation of its commitment', 'method and record'],
    evidence: COMMITMENT,
  }),
  job({
    name: 'svc_market_context',
    title: 'Market context',
    description: "The day's market data, the regime and its risk level; no forecast.",
    price: usd('0.25'),
    delivers: ['price, sentiment, flows, derivatives and macro data', 'regime with its factors'],
    evidence: SOURCES,
  }),
  job({
    name: 'svc_crowd_vs_oracle',
    title: 'Crowd against oracle',
    description: "The prediction market's probability beside the oracle's for the weekly strike closest to the money.",
    price: usd('0.50'),
    delivers: [
      'probability of both for the running week',
      'scores of both over all settled weeks, with the interval of the difference',
      'attestations and openings of the forecasts, and the inputs of each probability',
    ],
    evidence: CROWD,
  }),
  paidRequest('/oracle', {
    name: 'x402_signal',
    title: 'Signal, paid with the request',
    describe: (horizon) => `Direction and confidence of the newest ${asAdjective(horizon)} forecast.`,
    price: usd('0.001'),
    delivers: ['signal, direction and confidence', 'salt and attestation of its commitment'],
    evidence: COMMITMENT,
  }),
  paidRequest('/oracle/premium', {
    name: 'x402_premium_signal',
    title: 'Premium signal, paid with the request',
    describe: (horizon) => `The newest ${asAdjective(horizon)} forecast with its breakdown by category and the scorecard.`,
    price: usd('0.01'),
    delivers: ['signal, direction and confidence', 'breakdown by trend, momentum, flow and value', 'scorecard data'],
    evidence: COMMITMENT,
  }),
];

/** Unique over all channels. */
export function offeringId({ channel, name }: Pick<Offering, 'channel' | 'name'>): string {
  return `${channel}:${name}`;
}

/** Null when the channel sells nothing of that name. */
export function findOffering(channel: Channel, name: string): Offering | null {
  return OFFERINGS.find((offering) => offering.channel === channel && offering.name === name) ?? null;
}

/** What is paid for with the request itself, and where it is asked for. */
export const PAID_RESOURCES: readonly (Offering & { resource: PaidResource })[] = OFFERINGS.flatMap((offering) =>
  offering.resource === null ? [] : [{ ...offering, resource: offering.resource }],
);
