import type { Address, Hash } from 'viem';
import type { StablecoinDomain } from '../chain/stablecoin.ts';
import type { Context } from '../context.ts';
import { OracleError } from '../errors.ts';
import { DEFAULT_HORIZON, SIGNAL_HORIZONS } from '../forecast/horizon-input.ts';
import { formatHorizonName, HORIZONS, type HorizonName } from '../forecast/model.ts';
import { DIRECTION_EVIDENCE } from '../forecast/signal.ts';
import { createCache } from '../platform/concurrency.ts';
import type { RevealedCalls } from '../record/figures.ts';

/** Limits of x402, specs/extensions/bazaar.md: a name and tags of at most 32 printable ASCII characters, five tags. */
export interface SellerInfo {
  serviceName: string;
  tags: string[];
  iconUrl: string;
}

export interface MerchantConfig {
  chainId: number;
  asset: Address;
  /** EIP-712 domain of the stablecoin, without chain id and contract. */
  domain: StablecoinDomain;
  payee: Address;
  /** False on a local chain, whose stablecoin is freely mintable. */
  realMoney: boolean;
  publicUrl: string;
  /** How directories show the seller, in `resource` of each quote; unset: by its URL. */
  service?: SellerInfo;
}

export function getCaip2Network({ chainId }: Pick<MerchantConfig, 'chainId'>): `eip155:${number}` {
  return `eip155:${chainId}`;
}

/** What a buyer of a forecast has to know beforehand, whatever the record holds. */
export const FORECAST_TERMS = `${DIRECTION_EVIDENCE} Every answer is complete and charged, HOLD included.`;

export interface ForecastTerms {
  /** `FORECAST_TERMS` with what the record says of the signals: a short text, which stands in the headers of a 402. */
  text: string;
  revealedCalls: (RevealedCalls & { horizon: HorizonName })[];
}

export type ReadForecastTerms = () => Promise<ForecastTerms>;

/** Read at most once a minute: every client without a payment gets them. */
export function createForecastTerms({ figures, now }: Context): ReadForecastTerms {
  const cache = createCache<ForecastTerms>('forecast-terms', 1);
  return () =>
    cache.get(Math.floor(now().getTime() / 60_000), async () => {
      const byHorizon = await figures.getHorizons();
      const revealedCalls = HORIZONS.map((days, index) => ({ horizon: formatHorizonName(days), ...byHorizon[index].revealedCalls }));
      return { text: `${FORECAST_TERMS} ${formatRevealedCalls(revealedCalls)}`, revealedCalls };
    });
}

function formatRevealedCalls(calls: ForecastTerms['revealedCalls']): string {
  const sold = calls.filter(({ horizon }) => SIGNAL_HORIZONS.some((one) => one === horizon));
  const holds = sold.map(({ horizon, days90: { hold, days } }) => `${horizon} ${hold} of ${days}`);
  const repeated = sold.flatMap(({ days90 }) => days90.sameAsDayBefore ?? []);
  const facts = [
    `HOLD ${holds.join(', ')}`,
    ...(repeated.length === 0 ? [] : [`signal unchanged on ${formatPercentRange(repeated)}`]),
    ...(isNeverIssued('sell', calls) ? ['SELL never issued'] : []),
  ];
  return `Newest revealed days: ${facts.join('; ')}.`;
}

/** Whether the revealed record of some horizons has no such signal; false before the first revealed day. */
export function isNeverIssued(signal: 'buy' | 'sell', calls: readonly RevealedCalls[]): boolean {
  return calls.some(({ all }) => all.days > 0) && calls.every(({ all }) => all[signal] === 0);
}

/** `94 to 96 %` of shares. */
function formatPercentRange(shares: readonly number[]): string {
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => Math.round(100 * share));
  return least === most ? `${least} %` : `${least} to ${most} %`;
}

/** @param description text of an offering or a paid resource */
export function addForecastTerms(description: string, { text }: ForecastTerms): string {
  return `${description.replace(/\.?$/, '.')} ${text}`;
}

/** Called before a quote is issued or a payment is processed. @throws OracleError STEP_WAITING while sales are closed */
export type RequireSalesOpen = () => void;

/** Closes sales during the replay of history: the chain's clock is then in the past, where current authorizations are not valid yet. */
export function createSalesGate(isReplayAhead: () => boolean): RequireSalesOpen {
  return () => {
    if (!isReplayAhead()) return;
    throw new OracleError('STEP_WAITING', 'History is being replayed: pay when it is done', {
      suggestedAction: 'Nothing was charged. Repeat the request after the replay; GET /health reports its progress.',
      retryAfterSeconds: 10,
    });
  };
}

const PAYMENT_DESCRIPTIONS = {
  x402: ({ example }: Offering) => `with the request: \`${example.split(',', 1)[0]}\``,
  purchase: () => 'by a transfer, then `POST /api/svc/commerce/purchase`',
  'agent-commerce': () => 'by a job of ERC-8183',
} as const;

export function renderOfferingsTable(): string {
  const rows = OFFERINGS.map(
    (offering) =>
      `| \`${offering.name}\` | ${formatMoney(offering.price)} | ${PAYMENT_DESCRIPTIONS[offering.channel](offering)} | ${offering.description} |`,
  );
  return ['| Offering | Price | Paid for | What it is |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

export interface Money {
  asset: string;
  /** In units of 10^-decimals. */
  amount: bigint;
  decimals: number;
}

/** Millionths of a dollar, the smallest unit of a stablecoin with six decimals. */
export const USD_DECIMALS = 6;

const MAX_AMOUNT_CHARS = 40;

export function usdFromMicros(amountMicros: bigint): Money {
  return { asset: 'USD', amount: amountMicros, decimals: USD_DECIMALS };
}

/** US dollars from decimal text, e.g. `0.001`. @throws OracleError INPUT_INVALID as `parseAmount` */
export function parseUsd(text: string): Money {
  return usdFromMicros(parseAmount(text, USD_DECIMALS));
}

/** Integer of the smallest unit. @throws OracleError INPUT_INVALID for anything but digits with at most one point and `decimals` decimals */
export function parseAmount(text: string, decimals: number): bigint {
  const [, whole, fraction = ''] = (text.length <= MAX_AMOUNT_CHARS && /^(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === undefined || fraction.length > decimals) {
    throw new OracleError('INPUT_INVALID', `An amount must be a decimal number of at most ${decimals} decimals`, { field: 'amount' });
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Exact decimal text with at least `minDecimals` decimals and no further trailing zeros, e.g. `1.00`, `0.001`. */
export function formatAmount({ amount, decimals }: Money, minDecimals = Math.min(2, decimals)): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const decimalDigits = digits.slice(digits.length - decimals);
  const fraction = decimalDigits.replace(/0+$/, '').padEnd(minDecimals, '0');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** E.g. `1.00 USD`. */
export function formatMoney(money: Money): string {
  return `${formatAmount(money)} ${money.asset}`;
}

export interface Offering {
  name: string;
  channel: Channel;
  title: string;
  description: string;
  price: Money;
  /** Delivers a forecast whose outcome may be open. */
  sellsForecast?: true;
  delivers: readonly string[];
  evidence: string;
  example: string;
  /** HTTP operation of an x402 offering; null for other channels. */
  resource: PaidResource | null;
}

export interface PaidResource {
  method: 'GET';
  path: string;
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
  example: `GET ${path}?horizon=7d, answered with 402 and the terms; then the same request with PAYMENT-SIGNATURE: <base64 of the payment>`,
});

const COMMITTED_FORECAST = {
  sellsForecast: true,
  evidence: 'The delivered values and salt hash to the commitment of an attestation that was on chain before the outcome window opened.',
} as const;
const RECORD_EVIDENCE = 'Each forecast names its attestations; the figures can be recomputed from the chain and public prices.';
const CROWD_EVIDENCE =
  "Each week lists the attestations and openings of its forecasts, and the inputs and formula to recompute the oracle's probability. Quotes and winners are as reported by the venue; those of the paper venue are generated by this service.";
const CROWD_PARTS = [
  'probability of both for the running week',
  'scores of both over all settled weeks, with the interval of the difference',
  'attestations and openings of the forecasts, and the inputs of each probability',
];
const SOURCES_EVIDENCE = 'Each figure names its source, time and age.';

export const OFFERINGS: readonly Offering[] = [
  definePurchase({
    name: 'svc_signal_with_proof',
    title: 'Signal with proof',
    description: 'The newest 7-day forecast of BTC/USD before its outcome is known, with everything needed to verify it on chain.',
    price: parseUsd('1.00'),
    delivers: ['signal, direction, confidence and probability of a rise', 'salt and attestation of its commitment', 'how to check both'],
    ...COMMITTED_FORECAST,
  }),
  definePurchase({
    name: 'svc_verified_track_record',
    title: 'Verified track record',
    description: 'Every forecast ever made, holds and missed days included, with attestations and honest statistics.',
    price: parseUsd('0.50'),
    delivers: ['all forecasts with outcome, both closes and attestations', 'accuracy and scores with their intervals'],
    evidence: RECORD_EVIDENCE,
  }),
  definePurchase({
    name: 'svc_analysis_report',
    title: 'Analysis report',
    description: 'The forecasts of all horizons with their distributions, the regime with its factors, and the input data.',
    price: parseUsd('2.00'),
    delivers: [
      'forecasts of 1, 2, 3 and 7 days with quantiles',
      'regime, risk level and factors',
      'model, its inputs and its thresholds',
      'record of each horizon with intervals',
    ],
    ...COMMITTED_FORECAST,
  }),
  definePurchase({
    name: 'svc_crowd_vs_oracle',
    title: 'Crowd against oracle',
    description:
      "The weekly strike closest to the money: the prediction market's probability beside the oracle's, and how both have scored.",
    price: parseUsd('0.50'),
    delivers: CROWD_PARTS,
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
    ...COMMITTED_FORECAST,
  }),
  defineJob({
    name: 'svc_bitcoin_signal',
    title: 'Bitcoin signal',
    description: 'The newest 7-day forecast of BTC/USD with its methodology.',
    price: parseUsd('1.00'),
    delivers: ['signal, direction, confidence and probability of a rise', 'salt and attestation of its commitment', 'method and record'],
    ...COMMITTED_FORECAST,
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
    delivers: CROWD_PARTS,
    evidence: CROWD_EVIDENCE,
  }),
  definePaidRequest('/oracle', {
    name: 'x402_signal',
    title: 'Signal, paid with the request',
    describe: (horizon) => `Direction and confidence of the newest ${formatHorizonAdjective(horizon)} forecast.`,
    price: parseUsd('0.001'),
    delivers: ['signal, direction and confidence', 'salt and attestation of its commitment'],
    ...COMMITTED_FORECAST,
  }),
  definePaidRequest('/oracle/premium', {
    name: 'x402_premium_signal',
    title: 'Premium signal, paid with the request',
    describe: (horizon) => `The newest ${formatHorizonAdjective(horizon)} forecast with its breakdown by category and the scorecard.`,
    price: parseUsd('0.01'),
    delivers: ['signal, direction and confidence', 'breakdown by trend, momentum, flow and value', 'scorecard data'],
    ...COMMITTED_FORECAST,
  }),
];

/** Unique over all channels. */
export function getOfferingId({ channel, name }: Pick<Offering, 'channel' | 'name'>): string {
  return `${channel}:${name}`;
}

export function findOffering(channel: Channel, name: string): Offering | null {
  return OFFERINGS.find((offering) => offering.channel === channel && offering.name === name) ?? null;
}

export const PAID_RESOURCES: readonly (Offering & { resource: PaidResource })[] = OFFERINGS.flatMap((offering) =>
  offering.resource === null ? [] : [{ ...offering, resource: offering.resource }],
);

/** Payment channels: a claimed transfer, an ERC-8183 job, or an x402 payment within the request. */
export const CHANNELS = ['purchase', 'agent-commerce', 'x402'] as const;

export type Channel = (typeof CHANNELS)[number];

/** Reasons of closed channels; an unlisted channel is open. */
export type ClosedChannels = Partial<Record<Channel, string>>;

/** A sold document as JSON, the input of `hashDocument`, with the forecast in it. */
export interface ComposedDocument {
  document: Record<string, unknown>;
  /** The included 7-day forecast, or null. */
  forecastId: string | null;
  /** Attestation of that forecast; null without one, or before it is on chain. */
  attestationUid: Hash | null;
}

/** Whether a purchase needs a signature of its payer. */
export type SignatureRule = 'optional' | 'required';

/** Sentence on the paid alternative for a caller without the tier; empty when the answer is not sold. */
export function formatSingleAnswerHint(offering: Pick<Offering, 'price' | 'resource'> | null | undefined): string {
  if (!offering?.resource) return '';
  const { method, path } = offering.resource;
  return `Or pay ${formatMoney(offering.price)} for a single answer, without an account: ${method} ${path}?horizon=7d.`;
}
