import { z } from 'zod';
import { TIERS } from '../../../../auth/caller.ts';
import { FEED_KINDS } from '../../../../market/feed.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { listOf, nullableObjectOf, objectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, COUNT, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { HORIZON } from '../../../../record/schemas/forecast.ts';
import { DEMO_ROLES } from '../../demo/demo-wallets.ts';
import { MODEL_CARD } from './model-card-schemas.ts';

const SERIES = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  title: z.string().describe('Its name'),
  unit: z.string().describe('Unit'),
  source: z.string().describe('Current source'),
  lagDays: COUNT.describe('Minimum age of values that a forecast reads, days'),
  staleDays: COUNT.describe('Maximum age of a value, days; older ones are ignored'),
  inModel: z.boolean().describe('True for inputs of the model; other series are informational'),
});

const TIER = z.object({
  tier: z.enum(TIERS).describe('Tier name'),
  requirement: z.string().describe('Requirement as text'),
  gateTokens: z.string().nullable().describe('Required whole gate tokens, decimal digits; null for none'),
  opens: z.string().describe('What it grants'),
});

const PAGE = z.object({
  least: COUNT.describe('Minimum'),
  most: COUNT.describe('Maximum'),
  default: COUNT.describe('Default'),
});

const LIMITS = z.object({
  gateBalance: objectOf('Gate tokens per tier', {
    basic: z.string().describe('Whole gate tokens, decimal digits'),
    premium: z.string().describe('Whole gate tokens, decimal digits'),
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

export const INFO = z.object({
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
  tiers: z.array(TIER).describe('Tiers, ascending'),
  chain: objectOf('Chain of the commitments', {
    id: z.int().min(1).describe('Chain id'),
    caip2: z.string().describe('The same as CAIP-2, e.g. `eip155:8453`'),
    local: z.boolean().describe('True for a local throw-away chain without value'),
    confirmations: COUNT.describe('Confirmation depth, blocks'),
    attester: ADDRESS.describe('Attesting wallet'),
    explorerUrl: z.url().nullable().describe('Block explorer; null on a local chain, and where none is known'),
    rpcUrl: z.url().nullable().describe('JSON-RPC endpoint to verify the record; null where none is known: use any of that chain'),
  }),
  contracts: objectOf('Contract addresses', {
    gateToken: ADDRESS.describe('ERC-20 gate token'),
    stablecoin: ADDRESS.describe('Stablecoin of payments'),
    eas: ADDRESS.describe('Ethereum Attestation Service'),
    schemaRegistry: ADDRESS.describe('Schema registry of EAS'),
    identityRegistry: ADDRESS.describe('ERC-8004 identity registry'),
    reputationRegistry: ADDRESS.describe('ERC-8004 reputation registry'),
    agentCommerce: ADDRESS.nullable().describe('ERC-8183 contract; null where no jobs are taken'),
  }),
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
    series: z.array(SERIES).describe('All series'),
  }),
  documents: z.array(LINK).describe('Documents'),
  timestamp: TIME.describe('Response time'),
});

export type Info = z.input<typeof INFO>;
