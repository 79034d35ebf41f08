import { DEFAULT_HORIZON } from '../forecast/horizon-input.ts';
import { formatHorizonName, type HorizonName } from '../forecast/model.ts';
import type { Channel } from './channels.ts';
import { type Money, parseUsd } from './money.ts';

/** A product; identified by channel and name. */
export interface Offering {
  /** Public identifier (interface, section 2.8). */
  name: string;
  channel: Channel;
  title: string;
  /** One or two sentences. */
  description: string;
  price: Money;
  /** Parts of the deliverable. */
  delivers: readonly string[];
  /** How the buyer can verify it without trusting the seller. */
  evidence: string;
  /** Example of an order. */
  example: string;
  /** HTTP operation of an x402 offering; null for other channels. */
  resource: PaidResource | null;
}

/** An HTTP operation that requires a payment. */
export interface PaidResource {
  method: 'GET';
  path: string;
  /** Description for a horizon in days. */
  describe(horizonDays: number): string;
}

type OfferingInput = Omit<Offering, 'channel' | 'example' | 'resource'>;
type PaidRequestInput = Omit<OfferingInput, 'description'> & { describe(horizon: HorizonName): string };

const formatHorizonAdjective = (horizon: HorizonName) => horizon.replace('d', '-day');

const definePurchase = (offering: OfferingInput): Offering => ({
  ...offering,
  channel: 'purchase',
  resource: null,
  example: `POST /api/svc/commerce/purchase {"offering":"${offering.name}","txHash":"0x<64 hex>","wallet":"0x<40 hex>","signature":"0x<by wallet, over: Buy svc offering: ${offering.name}:<txHash in lower case>>"}`,
});

const defineJob = (offering: OfferingInput): Offering => ({
  ...offering,
  channel: 'agent-commerce',
  resource: null,
  example: `createJob(<payee>, <evaluator>, <expiry>, '{"offering":"${offering.name}"}', <zero address>)`,
});

const definePaidRequest = (path: string, { describe, ...offering }: PaidRequestInput): Offering => ({
  ...offering,
  description: `${describe(DEFAULT_HORIZON)} Other horizons by \`?horizon=\`.`,
  channel: 'x402',
  resource: { method: 'GET', path, describe: (horizonDays) => describe(formatHorizonName(horizonDays)) },
  example: `GET ${path}?horizon=7d, answered with 402 and the terms; then the same again with PAYMENT-SIGNATURE: <base64 of the payment>`,
});

const COMMITMENT_EVIDENCE =
  'The delivered values and salt hash to the commitment of an attestation that was on chain before the outcome window opened.';
const RECORD_EVIDENCE = 'Each forecast names its attestations; the chain and public prices are enough to compute the figures again.';
const CROWD_EVIDENCE =
  "Each week names the attestations of its forecasts with what opens them, and what the oracle's probability follows from by a formula that is told: it can be computed again. Quotes and winners are the venue's words; those of the paper venue are ours.";
const SOURCES_EVIDENCE = 'Each figure names its source, its time and its age.';

/** All offerings; the only place that defines prices. */
export const OFFERINGS: readonly Offering[] = [
  definePurchase({
    name: 'svc_signal_with_proof',
    title: 'Signal with proof',
    description: 'The newest 7-day forecast of BTC/USD before its outcome is known, with everything it takes to check it on chain.',
    price: parseUsd('1.00'),
    delivers: ['signal, direction, confidence and probability of a rise', 'salt and attestation of its commitment', 'how to check both'],
    evidence: COMMITMENT_EVIDENCE,
  }),
  definePurchase({
    name: 'svc_verified_track_record',
    title: 'Verified track record',
    description: 'Every forecast that was ever made, holds and missed days included, with its attestations and honest statistics.',
    price: parseUsd('0.50'),
    delivers: ['all forecasts with outcome, both closes and attestations', 'accuracy and scores with their intervals'],
    evidence: RECORD_EVIDENCE,
  }),
  definePurchase({
    name: 'svc_analysis_report',
    title: 'Analysis report',
    description: 'The forecasts of all horizons with their distributions, the regime with its factors, and the data they were made from.',
    price: parseUsd('2.00'),
    delivers: [
      'forecasts of 1, 2, 3 and 7 days with quantiles',
      'regime, risk level and factors',
      'model, its inputs and its thresholds',
      'record of each horizon with intervals',
    ],
    evidence: COMMITMENT_EVIDENCE,
  }),
  definePurchase({
    name: 'svc_crowd_vs_oracle',
    title: 'Crowd against oracle',
    description:
      "The weekly strike closest to the money: the prediction market's probability beside the oracle's, and how both have scored.",
    price: parseUsd('0.50'),
    delivers: [
      'probability of both for the running week',
      'scores of both over all settled weeks, with the interval of the difference',
      'attestations and openings of the forecasts, and the inputs of each probability',
    ],
    evidence: CROWD_EVIDENCE,
  }),
  definePurchase({
    name: 'svc_daily_macro_review',
    title: 'Daily macro review',
    description: "The day's macro, flow, derivatives and sentiment data beside bitcoin, with correlations and changes.",
    price: parseUsd('0.50'),
    delivers: ['dollar, equities, gold, rates and PMI beside bitcoin', 'ETF flows, funding, open interest and sentiment'],
    evidence: SOURCES_EVIDENCE,
  }),
  definePurchase({
    name: 'svc_alpha_brief',
    title: 'Alpha brief',
    description: 'The day on one page: forecast, regime, what the prediction market asks, and the size of a wager that follows from both.',
    price: parseUsd('1.50'),
    delivers: [
      'forecast of the day with its proof',
      'the market it was wagered on, with price and size',
      'what was resolved since the last one',
    ],
    evidence: COMMITMENT_EVIDENCE,
  }),
  defineJob({
    name: 'svc_bitcoin_signal',
    title: 'Bitcoin signal',
    description: 'The newest 7-day forecast of BTC/USD with the method it was made by.',
    price: parseUsd('1.00'),
    delivers: ['signal, direction, confidence and probability of a rise', 'salt and attestation of its commitment', 'method and record'],
    evidence: COMMITMENT_EVIDENCE,
  }),
  defineJob({
    name: 'svc_market_context',
    title: 'Market context',
    description: "The day's market data, the regime and its risk level; no forecast.",
    price: parseUsd('0.25'),
    delivers: ['price, sentiment, flows, derivatives and macro data', 'regime with its factors'],
    evidence: SOURCES_EVIDENCE,
  }),
  defineJob({
    name: 'svc_crowd_vs_oracle',
    title: 'Crowd against oracle',
    description: "The prediction market's probability beside the oracle's for the weekly strike closest to the money.",
    price: parseUsd('0.50'),
    delivers: [
      'probability of both for the running week',
      'scores of both over all settled weeks, with the interval of the difference',
      'attestations and openings of the forecasts, and the inputs of each probability',
    ],
    evidence: CROWD_EVIDENCE,
  }),
  definePaidRequest('/oracle', {
    name: 'x402_signal',
    title: 'Signal, paid with the request',
    describe: (horizon) => `Direction and confidence of the newest ${formatHorizonAdjective(horizon)} forecast.`,
    price: parseUsd('0.001'),
    delivers: ['signal, direction and confidence', 'salt and attestation of its commitment'],
    evidence: COMMITMENT_EVIDENCE,
  }),
  definePaidRequest('/oracle/premium', {
    name: 'x402_premium_signal',
    title: 'Premium signal, paid with the request',
    describe: (horizon) => `The newest ${formatHorizonAdjective(horizon)} forecast with its breakdown by category and the scorecard.`,
    price: parseUsd('0.01'),
    delivers: ['signal, direction and confidence', 'breakdown by trend, momentum, flow and value', 'scorecard data'],
    evidence: COMMITMENT_EVIDENCE,
  }),
];

/** Unique over all channels. */
export function getOfferingId({ channel, name }: Pick<Offering, 'channel' | 'name'>): string {
  return `${channel}:${name}`;
}

export function findOffering(channel: Channel, name: string): Offering | null {
  return OFFERINGS.find((offering) => offering.channel === channel && offering.name === name) ?? null;
}

/** Offerings of the channel `x402` with their HTTP operations. */
export const PAID_RESOURCES: readonly (Offering & { resource: PaidResource })[] = OFFERINGS.flatMap((offering) =>
  offering.resource === null ? [] : [{ ...offering, resource: offering.resource }],
);
