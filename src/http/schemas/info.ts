import { z } from 'zod';
import { ADDRESS, BYTES32, COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../fields.ts';
import { MODEL_INPUTS } from '../../forecast/model.ts';
import { FEED_KINDS } from '../../market/feed.ts';
import { SERIES_IDS } from '../../market/series.ts';
import { TIERS } from '../../record/caller.ts';
import { HORIZON } from '../../record/schemas/forecast.ts';

const FITTED = z.object({
  version: z.string().describe('Version of the model that the newest forecast was made with'),
  fittedAt: TIME.describe('When it was fitted'),
  horizons: z
    .array(
      z.object({
        horizon: HORIZON.describe('Horizon that this fit forecasts'),
        trainedFrom: DATE.describe('First day that was learned from'),
        trainedTo: DATE.describe('Last day that was learned from, its outcome included'),
        trainingDays: COUNT.describe('How many days that are'),
        baseRate: PROBABILITY.describe('Shrunk share of rises among them, 0 to 1: what the forecast is measured against'),
      }),
    )
    .describe('One fit a horizon'),
  trainingDigest: BYTES32.describe('Digest of everything that the fit could have read'),
  coefficientsDigest: BYTES32.describe('sha2-256 of the canonical JSON (RFC 8785) of all coefficients'),
});

const MODEL = z.object({
  name: z.string().describe('Name of the method'),
  trials: COUNT.describe('Variants that were tried before it was fixed: a reader of the record has to discount for luck'),
  blockDays: COUNT.describe('Days that one fit serves; then it is made anew'),
  embargoDays: COUNT.describe('Days between the last day that is learned from and the first that is forecast'),
  scores: z.array(z.enum(MODEL_INPUTS)).describe('Scores that the model reads'),
  fitted: FITTED.nullable().describe('The fit in use; null before the first forecast'),
});

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
  model: MODEL.describe('How forecasts are made'),
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
        days: z.enum(['every day', 'Monday']).describe('On which days'),
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
