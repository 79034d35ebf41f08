import { z } from 'zod';
import { TIERS } from '../../../../auth/caller.ts';
import { FEED_KINDS } from '../../../../market/feed.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { ADDRESS, COUNT, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { HORIZON } from '../../../../record/schemas/forecast.ts';
import { MODEL_CARD } from './model-card-schemas.ts';

const SERIES = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  title: z.string().describe('Its name'),
  unit: z.string().describe('Unit of its values'),
  source: z.string().describe('Where it comes from at present'),
  lagDays: COUNT.describe('The forecast of a day reads values dated this many days before it, or earlier'),
  staleDays: COUNT.describe('A value dated longer ago than this is left out'),
  inModel: z.boolean().describe('True for what forecasts are made from; the rest is told, and takes no part'),
});

const TIER = z.object({
  tier: z.enum(TIERS).describe('Name of the tier'),
  requirement: z.string().describe('What it takes, in words'),
  gateTokens: z.string().nullable().describe('Whole gate tokens that the wallet has to hold, decimal digits; null for none'),
  opens: z.string().describe('What it opens'),
});

const PAGE = z.object({
  least: COUNT.describe('Smallest value'),
  most: COUNT.describe('Largest value'),
  default: COUNT.describe('Value unless told'),
});

const LIMITS = z.object({
  gateBalance: z
    .object({
      basic: z.string().describe('Whole gate tokens, decimal digits'),
      premium: z.string().describe('Whole gate tokens, decimal digits'),
    })
    .describe('What the tiers take'),
  sessionTokenSeconds: COUNT.describe('How long a session token lasts'),
  signatureWindowSeconds: COUNT.describe('How far the timestamp of a login may be from the clock of this service, either way'),
  attestationHistory: PAGE.describe('`limit` of the attestation history'),
  copyTradeHistory: PAGE.describe('`limit` of the copy-trade history'),
  wagerHistory: PAGE.describe('`limit` of the list of wagers'),
  confidence: z
    .object({
      least: PROBABILITY.describe('Smallest confidence that is told'),
      most: PROBABILITY.describe('Largest confidence that is told'),
    })
    .describe('Range of confidences'),
  requests: z
    .object({
      windowSeconds: COUNT.describe('What the following numbers are counted over'),
      publicPerAddress: COUNT.describe('Requests of one client address without a token; IPv6: of one /64'),
      perWallet: COUNT.describe('Requests of one wallet that is logged in'),
      chainCallsPerAddress: COUNT.describe('Requests of one client address to operations that ask the chain; they count above as well'),
    })
    .describe('Requests; the headers RateLimit and RateLimit-Policy tell what is left'),
  bodyBytes: COUNT.describe('Largest request body, bytes'),
  urlCharacters: COUNT.describe('Longest URL, characters'),
  webhooksPerWallet: COUNT.describe('Webhooks of one wallet'),
  webSocket: z
    .object({
      connectionsPerWallet: COUNT.describe('Connections of one wallet'),
      pingSeconds: COUNT.describe('Seconds between two pings'),
      reconnectSeconds: COUNT.describe('Seconds to wait before connecting again'),
    })
    .describe('The WebSocket that events are pushed over'),
});

const LINK = z.object({ name: z.string().describe('What it is'), url: z.string().describe('Where it is') });

export const INFO = z.object({
  success: SUCCESS,
  name: z.string().describe('Name of the service'),
  description: z.string().describe('What it does'),
  version: z.string().describe('Version of the software'),
  apiVersion: z.string().describe('Version of this interface'),
  capabilities: z.array(z.string()).describe('What it can do, as keywords'),
  skill: z
    .object({
      statement: z.string().describe('What to expect of the direction, in words'),
      horizon: HORIZON.describe('The horizon that the verdict is on'),
      verdict: z.string().describe('What the record so far amounts to, made from its own numbers'),
      scorecard: z.string().describe('URL of these numbers'),
    })
    .describe('How good the forecasts are'),
  model: MODEL_CARD.describe('The model card: how forecasts are made, from what, and what they are worth'),
  horizons: z
    .object({
      signals: z.array(HORIZON).describe('Horizons of signals'),
      scored: z.array(HORIZON).describe('Horizons of the scorecard'),
      default: HORIZON.describe('The one unless told'),
    })
    .describe('Days from the opening of the outcome window to its end'),
  schedule: z
    .array(
      z.object({
        step: z.string().describe('What runs'),
        days: z.enum(['every day', 'Monday', 'Sunday']).describe('On which days'),
        times: z.array(z.string().regex(/^\d{2}:\d{2}$/)).describe('UTC, HH:MM'),
        what: z.string().describe('What it does'),
      }),
    )
    .describe('Times of the service, in the order of the day'),
  tiers: z.array(TIER).describe('Who may read what, in rising order'),
  chain: z
    .object({
      id: z.int().min(1).describe('Id of the chain'),
      caip2: z.string().describe('The same as CAIP-2, e.g. `eip155:8453`'),
      local: z.boolean().describe('True on a throw-away chain of this machine, where nothing is worth anything'),
      confirmations: COUNT.describe('Blocks after which a transaction counts'),
      attester: ADDRESS.describe('Wallet that attests forecasts'),
      rpcUrl: z
        .url()
        .nullable()
        .describe('JSON-RPC endpoint to read the chain by, to check the record; null where none is known: any of that chain will do'),
    })
    .describe('Where forecasts are committed'),
  contracts: z
    .object({
      gateToken: ADDRESS.describe('ERC-20 whose balance opens the tiers'),
      stablecoin: ADDRESS.describe('What payments are made in'),
      eas: ADDRESS.describe('Ethereum Attestation Service'),
      schemaRegistry: ADDRESS.describe('Schema registry of EAS'),
      identityRegistry: ADDRESS.describe('ERC-8004 identity registry'),
      reputationRegistry: ADDRESS.describe('ERC-8004 reputation registry'),
      agentCommerce: ADDRESS.nullable().describe('ERC-8183 contract whose jobs are taken; null where none are'),
    })
    .describe('Addresses on that chain'),
  limits: LIMITS.describe('Every limit that callers meet'),
  data: z
    .object({
      kind: z.enum(FEED_KINDS).describe('Kind of market data'),
      source: z.string().describe('Where it comes from'),
      series: z.array(SERIES).describe('Every series'),
    })
    .describe('Where the market data comes from'),
  documents: z.array(LINK).describe('Where to read on'),
  timestamp: TIME.describe('When this was put together'),
});

export type Info = z.input<typeof INFO>;
