import type { Address, Hex } from 'viem';
import { z } from 'zod';
import type { OpenedSession } from '../../auth/auth.ts';
import { TIERS } from '../../auth/caller.ts';
import { LOGIN_WINDOW_MS } from '../../auth/login-message.ts';
import { WINDOW_SECONDS } from '../../auth/rate-limits.ts';
import { getRequiredBalance } from '../../auth/tiers.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../auth/tokens.ts';
import type { ContractStates } from '../../chain/contracts.ts';
import type { PaymentQuote } from '../../commerce/x402/terms.ts';
import { WEBSOCKET } from '../../events/events.ts';
import { MAX_WEBHOOKS_PER_WALLET } from '../../events/webhooks/registry.ts';
import { MODEL_INPUTS } from '../../forecast/model.ts';
import { MODEL_NAMES } from '../../forecast/models.ts';
import { RISK_LEVELS } from '../../forecast/regime.ts';
import { CONFIDENCE_RANGE } from '../../forecast/signal.ts';
import { FEED_KINDS } from '../../market/feed.ts';
import { SERIES_ID } from '../../market/reports/report.ts';
import {
  ADDRESS,
  BYTES32,
  COUNT,
  DATE,
  keyedObject,
  listOf,
  namedObject,
  nullableObjectOf,
  objectOf,
  PROBABILITY,
  SUCCESS,
  TIME,
} from '../../platform/validation.ts';
import { HORIZON, REGIME } from '../../record/schemas/forecast.ts';
import { BODY_LIMIT_BYTES, MAX_URL_CHARS } from '../guard.ts';
import { PAGE_LIMITS } from '../parameters.ts';
import { CONTRACT_ADDRESSES } from './health.ts';

/** Paths of the operations, with a local chain only. */
export const DEMO_PATHS = { login: '/api/demo/login', signature: '/api/demo/signature', payment: '/api/demo/payment' } as const;

/** Demo wallets that hold gate tokens for a tier. */
export const DEMO_TIER_ROLES = ['basic', 'premium'] as const;

type DemoTierRole = (typeof DEMO_TIER_ROLES)[number];

/** The buyer holds the stablecoin of the local chain, and no gate tokens. */
export const DEMO_ROLES = [...DEMO_TIER_ROLES, 'buyer'] as const;

export type DemoRole = (typeof DEMO_ROLES)[number];

/** `PaymentPayload` of x402 version 2 over an EIP-3009 authorization. */
export interface DemoPayment {
  x402Version: 2;
  resource: PaymentQuote['resource'];
  accepted: PaymentQuote['requirements'];
  payload: {
    signature: string;
    authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>;
  };
  extensions: { 'payment-identifier': { info: { required: boolean; id: string } } };
}

/** The wallets of a local chain, which sign in this process: their keys are not part of it. */
export interface DemoWallets {
  addresses: Readonly<Record<DemoRole, Address>>;
  /** @throws OracleError as the login of any wallet */
  logIn(role: DemoTierRole): Promise<OpenedSession>;
  /** Signs a text that this service has composed for the wallet. @throws OracleError INPUT_INVALID for any other */
  sign(role: DemoTierRole, message: string): Promise<Hex>;
  /** Signs the authorization of the buyer for a quote of this service. @throws OracleError RATE_LIMITED beyond the budget */
  authorize(quote: PaymentQuote): Promise<DemoPayment>;
}

interface ScheduledStep {
  step: string;
  days: 'every day' | 'Monday' | 'Sunday';
  /** UTC, `HH:MM`. */
  times: string[];
  what: string;
}

export interface About {
  /** Whether the chain is a local throw-away. */
  local: boolean;
  /** Confirmation depth, blocks. */
  confirmations: number;
  rates: RateSettings;
  schedule: readonly ScheduledStep[];
  /** Contract states, cached for up to a minute. */
  contracts(): Promise<ContractStates & { checkedAt: Date }>;
}

interface RateSettings {
  public: number;
  wallet: number;
  rpc: number;
}

/** Limits of the interface (section 8), from the constants and settings that enforce them. */
export function buildLimits(rates: RateSettings): Info['limits'] {
  return {
    gateBalance: { basic: getRequiredBalance('basic'), premium: getRequiredBalance('premium') },
    sessionTokenSeconds: TOKEN_LIFETIME_SECONDS,
    signatureWindowSeconds: LOGIN_WINDOW_MS / 1_000,
    attestationHistory: { least: 1, ...PAGE_LIMITS.attestations },
    copyTradeHistory: { least: 1, ...PAGE_LIMITS.copyTrade },
    wagerHistory: { least: 1, ...PAGE_LIMITS.wagers },
    confidence: CONFIDENCE_RANGE,
    requests: { windowSeconds: WINDOW_SECONDS, publicPerAddress: rates.public, perWallet: rates.wallet, chainCallsPerAddress: rates.rpc },
    bodyBytes: BODY_LIMIT_BYTES,
    urlCharacters: MAX_URL_CHARS,
    webhooksPerWallet: MAX_WEBHOOKS_PER_WALLET,
    webSocket: {
      connectionsPerWallet: WEBSOCKET.connectionsPerWallet,
      pingSeconds: WEBSOCKET.pingSeconds,
      reconnectSeconds: WEBSOCKET.reconnectSeconds,
    },
  };
}

const SCORE = z.enum(MODEL_INPUTS);

const byScore = (what: string) => keyedObject(MODEL_INPUTS, (name) => z.number().describe(`${what} ${name}`));

const FIT = z.object({
  horizon: HORIZON.describe('Horizon of this fit'),
  trainedFrom: DATE.describe('First training day'),
  trainedTo: DATE.describe('Last training day, its outcome included'),
  trainingDays: COUNT.describe('Number of training days'),
  baseRate: PROBABILITY.describe('Shrunk share of rises in training, 0 to 1: the benchmark of the forecast'),
  coefficients: byScore('Log odds per unit of').describe('Regression coefficients'),
  inputMeans: byScore('Training mean of').describe('Training means of the scores'),
  calibration: nullableObjectOf(
    'logit P(up) = logit(baseRate) + intercept + slope * sum of coefficient * (score - mean). Null below Basic: it would reveal the direction of unresolved forecasts',
    {
      intercept: z.number().describe('Added to the log odds'),
      slope: z.number().min(0).max(1).describe('Multiplier of the log odds of the scores'),
      lowest: PROBABILITY.describe('Lowest P(up) of this fit for any scores in -1 to 1'),
      highest: PROBABILITY.describe('Highest P(up) of this fit'),
    },
  ),
});

const LINES = z.array(z.string());

const MODEL_CARD = z.object({
  name: z.string().describe('Name of the method: the version of the newest forecast'),
  method: LINES.describe('Steps of a forecast'),
  trials: COUNT.describe('Variants of the direction tried before it was fixed; readers should discount the record for selection'),
  distributionTrials: COUNT.describe('Distributions tried on the same history, those of challengers included'),
  versions: listOf('All model versions, oldest first', {
    name: z.enum(MODEL_NAMES).describe('Name of the version'),
    title: z.string().describe('What sets its distribution apart'),
    role: z
      .enum(['champion', 'challenger'])
      .nullable()
      .describe(
        '`champion`: the newest forecast is by it; `challenger`: it is committed and scored beside it; null before the first forecast',
      ),
    distributionTrials: COUNT.describe('Distributions tried until it was fixed, those of the versions before it included'),
    reads: LINES.describe('Data behind its distributions'),
    method: LINES.describe('Steps from P(up), which all versions share, to its distribution'),
    findings: LINES.describe('What it gains on history, where it does not, and how it was chosen'),
  }),
  blockDays: COUNT.describe('Days that one fit serves before it is refitted'),
  embargoDays: COUNT.describe('Days between the last training day and the first forecast day'),
  trainingStart: DATE.describe('First day of all training data'),
  scores: z.array(SCORE).describe('Scores that the model uses'),
  inputs: listOf('Series behind the scores, the price first', {
    series: SERIES_ID.describe('What it is'),
    title: z.string().describe('Its name'),
    unit: z.string().describe('Unit'),
    lagDays: COUNT.describe('Minimum age of values that a forecast reads, days'),
    staleDays: COUNT.describe('Maximum age of a value, days; older ones are masked'),
    enters: z.array(SCORE).describe('Scores that use it'),
    source: z.string().describe('Current source'),
    licences: listOf('Licences of all providers, the primary first', {
      of: z.string().describe('Data owner'),
      licence: z.string().describe('Terms of use, as far as known'),
    }),
  }),
  regimes: listOf('Regimes, rules and thresholds', {
    regime: REGIME.describe('Name'),
    rule: z.string().describe('Condition; rules apply in this order, the first match wins'),
    daysToEnter: COUNT.describe('Consecutive days the rule must hold before the regime changes'),
    theta: PROBABILITY.describe('Distance of P(up) from one half for BUY or SELL'),
    riskLevel: z.enum(RISK_LEVELS).describe('Market risk'),
  }),
  regimeTerms: z.string().describe('Definitions of the terms in the rules'),
  independentCallsAYear: listOf('Information content of a one-year record', {
    horizon: HORIZON.describe('Horizon'),
    calls: z.number().min(0).describe('Effective number of independent calls of a year of daily calls, given overlapping windows'),
  }),
  fitted: nullableObjectOf('Current fit; null before the first forecast', {
    version: z.string().describe('Model version of the newest forecast'),
    fittedAt: TIME.describe('When it was fitted'),
    horizons: z.array(FIT).describe('One fit per horizon'),
    trainingDigest: BYTES32.describe('Digest of all data available to the fit'),
    coefficientsDigest: BYTES32.describe('sha2-256 of the canonical JSON (RFC 8785) of all coefficients'),
  }),
  selfTests: objectOf('Self-tests, recomputed on schedule', {
    walkForward: z.string().describe('URL: out-of-sample scores, fold by fold, with intervals and leak tests'),
    contamination: z.string().describe('URL: look-ahead tests by era and regime'),
    stability: z.string().describe('URL: accuracy under moved thresholds'),
  }),
  intendedUse: LINES.describe('Intended use'),
  notFor: LINES.describe('Uses it is not intended for'),
  knownFailures: LINES.describe('Known failures'),
  limits: LINES.describe('Caveats'),
});

export type ModelCard = z.input<typeof MODEL_CARD>;

const PAGE = z.object({
  least: COUNT.describe('Minimum'),
  most: COUNT.describe('Maximum'),
  default: COUNT.describe('Default'),
});

const LIMITS = z.object({
  gateBalance: objectOf('Gate tokens per tier; null without a gate token', {
    basic: z.string().nullable().describe('Whole gate tokens, decimal digits'),
    premium: z.string().nullable().describe('Whole gate tokens, decimal digits'),
  }),
  sessionTokenSeconds: COUNT.describe('Lifetime of a session token'),
  signatureWindowSeconds: COUNT.describe('Tolerance of login timestamps against the server clock, either way'),
  attestationHistory: PAGE.describe('`limit` of the attestation history'),
  copyTradeHistory: PAGE.describe('`limit` of the copy-trade history'),
  wagerHistory: PAGE.describe('`limit` of the list of wagers'),
  confidence: objectOf('Range of confidences', {
    least: PROBABILITY.describe('Minimum confidence'),
    most: PROBABILITY.describe('Maximum confidence'),
  }),
  requests: objectOf('Rate limits; the headers RateLimit and RateLimit-Policy have the remaining quota', {
    windowSeconds: COUNT.describe('Window of the following counts'),
    publicPerAddress: COUNT.describe('Requests per client address (IPv6: per /64) without a token'),
    perWallet: COUNT.describe('Requests per logged-in wallet'),
    chainCallsPerAddress: COUNT.describe('Chain-call requests per client address; they count above too'),
  }),
  bodyBytes: COUNT.describe('Maximum request body, bytes'),
  urlCharacters: COUNT.describe('Maximum URL length, characters'),
  webhooksPerWallet: COUNT.describe('Webhooks per wallet'),
  webSocket: objectOf('WebSocket', {
    connectionsPerWallet: COUNT.describe('Connections per wallet'),
    pingSeconds: COUNT.describe('Seconds between pings'),
    reconnectSeconds: COUNT.describe('Seconds to wait before reconnecting'),
  }),
});

const LINK = z.object({ name: z.string().describe('What it is'), url: z.string().describe('URL') });

const { gateToken, stablecoin, ...otherContracts } = CONTRACT_ADDRESSES;

export const INFO = namedObject('Info', {
  success: SUCCESS,
  name: z.string().describe('Name of the service'),
  description: z.string().describe('What it does'),
  version: z.string().describe('Version of the software'),
  apiVersion: z.string().describe('API version'),
  capabilities: z.array(z.string()).describe('Capabilities, as keywords'),
  skill: objectOf('Skill of the forecasts', {
    statement: z.string().describe('Expected skill of the direction'),
    horizon: HORIZON.describe('Horizon of the verdict'),
    verdict: z.string().describe('Conclusion from the record so far'),
    scorecard: z.string().describe('URL of the scorecard'),
  }),
  model: MODEL_CARD.describe('Model card'),
  horizons: objectOf('Days from the opening of the outcome window to its end', {
    signals: z.array(HORIZON).describe('Horizons of signals'),
    scored: z.array(HORIZON).describe('Horizons of the scorecard'),
    default: HORIZON.describe('Default'),
  }),
  schedule: listOf('Daily schedule, in order', {
    step: z.string().describe('Step'),
    days: z.enum(['every day', 'Monday', 'Sunday']).describe('Days'),
    times: z.array(z.string().regex(/^\d{2}:\d{2}$/)).describe('UTC, HH:MM'),
    what: z.string().describe('What it does'),
  }),
  tiers: listOf('Tiers, ascending', {
    tier: z.enum(TIERS).describe('Tier name'),
    requirement: z.string().describe('Requirement as text'),
    gateTokens: z.string().nullable().describe('Required whole gate tokens, decimal digits; null for none'),
    opens: z.string().describe('What it grants'),
  }),
  chain: objectOf('Chain of the commitments', {
    id: z.int().min(1).describe('Chain id'),
    caip2: z.string().describe('The same as CAIP-2, e.g. `eip155:8453`'),
    local: z.boolean().describe('True for a local throw-away chain without value'),
    confirmations: COUNT.describe('Confirmation depth, blocks'),
    attester: ADDRESS.describe('Attesting wallet'),
    explorerUrl: z.url().nullable().describe('Block explorer; null on a local chain, and where none is known'),
    rpcUrl: z.url().nullable().describe('JSON-RPC endpoint to verify the record; null where none is known: use any of that chain'),
  }),
  contracts: objectOf('Contract addresses', { gateToken, stablecoin, ...otherContracts }),
  demo: nullableObjectOf('Demo wallets of a local chain, which sign in this process; null on a real chain', {
    login: z.url().describe('URL that logs one with gate tokens in'),
    payment: z.url().describe('URL that signs a payment of the buyer'),
    wallets: listOf('Wallets', {
      role: z.enum(DEMO_ROLES).describe('Tier that its gate tokens grant; `buyer` has none, and holds the stablecoin'),
      address: ADDRESS.describe('Its address'),
    }),
  }),
  limits: LIMITS.describe('Limits for callers'),
  data: objectOf('Market data source', {
    kind: z.enum(FEED_KINDS).describe('Kind of market data'),
    source: z.string().describe('Source'),
    series: listOf('All series', {
      series: SERIES_ID.describe('What it is'),
      title: z.string().describe('Its name'),
      unit: z.string().describe('Unit'),
      source: z.string().describe('Current source'),
      lagDays: COUNT.describe('Minimum age of values that a forecast reads, days'),
      staleDays: COUNT.describe('Maximum age of a value, days; older ones are ignored'),
      inModel: z.boolean().describe('True for inputs of the model; other series are informational'),
    }),
  }),
  documents: z.array(LINK).describe('Documents'),
  timestamp: TIME.describe('Response time'),
});

export type Info = z.input<typeof INFO>;
