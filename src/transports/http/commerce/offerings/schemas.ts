import { z } from 'zod';
import { CHANNELS } from '../../../../commerce/channels.ts';
import { ADDRESS, COUNT, DATE, INTEGER_TEXT, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';

const DECIMAL = z.string().regex(/^\d+(\.\d+)?$/);
const CHANNEL = z.enum(CHANNELS);
const STATEMENT = z.string().describe('What counts here and what does not');
const REAL_MONEY = z.boolean().describe('False on a local chain, whose stablecoin anybody can make: figures there are of a rehearsal');
const REF = z.string().regex(/^[a-z0-9][a-z0-9_-]{2,31}$/);

const TAKINGS = z.object({
  payments: COUNT.describe('Settled payments'),
  usd: DECIMAL.describe('Their sum in US dollars, an exact decimal'),
  usdMicros: INTEGER_TEXT.describe('The same in millionths of a US dollar, as digits'),
});

const CHANNEL_STATE = z.object({
  channel: CHANNEL.describe('A way to pay'),
  open: z.boolean().describe('Whether it takes money now; where it does not, send none'),
  reason: z.string().nullable().describe('Why it is closed; null when open'),
});

const PRICE = z.object({
  amount: INTEGER_TEXT.describe("What is to be paid, in the asset's smallest unit, as digits"),
  asset: ADDRESS.describe('The stablecoin that is paid in, counted as a US dollar each'),
  decimals: COUNT.describe('Decimals of the asset: 10^decimals smallest units are one'),
  currency: z.literal('USD').describe('The currency that prices are made in'),
});

const HOW_TO_PAY = z.object({
  payee: ADDRESS.nullable().describe('Wallet to pay to, for a job its provider; null while the channel is closed'),
  chain: z.string().describe('The chain to pay on, as CAIP-2, e.g. eip155:8453'),
  asset: ADDRESS.describe('The stablecoin to pay in'),
  contract: ADDRESS.nullable().describe('ERC-8183 contract that jobs are created in; null for other channels, and while it is closed'),
  signature: z
    .object({
      required: z.boolean().describe('True where a claim without it is answered 402: pay only from a wallet that can sign'),
      message: z.string().describe('The text to sign, with the hash of the transfer in lower case at the place that it names'),
      scheme: z.literal('EIP-191').describe('How wallets of a key sign it; contract wallets sign by EIP-1271 or ERC-6492'),
    })
    .nullable()
    .describe('What proves that the claim of a purchase is made by the wallet that paid; null for other channels'),
  steps: z.array(z.string()).describe('What the buyer does, in order'),
});

const OFFERING = z.object({
  id: z.string().describe('Unique over all channels: channel, colon, name'),
  name: z.string().describe('The identifier that the channel knows it by, e.g. svc_signal_with_proof'),
  channel: CHANNEL.describe('How it is paid for'),
  title: z.string().describe('Its name for people'),
  description: z.string().describe('What it is'),
  priceDisplay: z.string().describe('The price as text, e.g. 1.00 USD'),
  price: PRICE.describe('The price, exact'),
  delivers: z.array(z.string()).describe('What the buyer gets, piece by piece'),
  evidence: z.string().describe('What the buyer can check it against without trusting the seller'),
  example: z.string().describe('How it is asked for'),
  open: z.boolean().describe('Whether it can be bought now'),
  howToPay: HOW_TO_PAY.describe('Where the money goes'),
});

/** `GET /api/svc/commerce/offerings` (interface, section 2.8). */
export const OFFERINGS_REPLY = z.object({
  success: SUCCESS,
  offerings: z.array(OFFERING).describe('Everything that is sold, with its price'),
  channels: z.array(CHANNEL_STATE).describe('The ways to pay, and whether each is open'),
  count: COUNT.describe('Length of `offerings`'),
});

/** `GET /api/svc/revenue`. */
export const REVENUE_REPLY = z.object({
  success: SUCCESS,
  ...TAKINGS.shape,
  payers: COUNT.describe('Wallets that have paid at least once'),
  since: TIME.nullable().describe('When the first payment settled; null when none has'),
  lastSettledAt: TIME.nullable().describe('When the newest payment settled; null when none has'),
  byChannel: z.array(z.object({ channel: CHANNEL.describe('The way it was paid'), ...TAKINGS.shape })).describe('All channels'),
  byOffering: z
    .array(
      z.object({
        id: z.string().describe('The offering, as in the list of offerings'),
        channel: CHANNEL.describe('The way it was paid'),
        offering: z.string().describe('Its name'),
        ...TAKINGS.shape,
      }),
    )
    .describe('Everything that is sold now'),
  byDay: z
    .array(z.object({ date: DATE.describe('UTC date of settlement'), ...TAKINGS.shape }))
    .describe('The last 30 days up to today, oldest first'),
  asset: ADDRESS.describe('The stablecoin, counted as a US dollar each'),
  realMoney: REAL_MONEY,
  statement: STATEMENT,
  asOf: TIME.describe('When this was counted'),
});

/** `GET /api/svc/partner-stats`. */
export const PARTNERS_REPLY = z.object({
  success: SUCCESS,
  partners: COUNT.describe('Ref codes that have brought at least one settled payment'),
  paidCalls: COUNT.describe('Settled payments that named one'),
  referred: TAKINGS.describe('The revenue that came of them'),
  total: TAKINGS.describe('All revenue, with and without a ref code'),
  share: PROBABILITY.nullable().describe(
    'Referred revenue over all revenue, 0 to 1, rounded down to 4 digits; null before the first payment',
  ),
  realMoney: REAL_MONEY,
  statement: STATEMENT,
  asOf: TIME.describe('When this was counted'),
});

const REF_FIGURES = z.object({
  ref: REF.describe('The code, in lower case'),
  paidCalls: COUNT.describe('Settled payments that named it'),
  payers: COUNT.describe('Wallets that have paid with it; which ones is told to nobody'),
  revenue: TAKINGS.describe('What they settled'),
  lastSettledAt: TIME.nullable().describe('When the newest of them settled; null when none has'),
});

/** `GET /api/refs/leaderboard`. */
export const LEADERBOARD_REPLY = z.object({
  success: SUCCESS,
  leaderboard: z
    .array(z.object({ rank: z.int().min(1).describe('Place, from 1'), ...REF_FIGURES.shape }))
    .describe('By settled revenue, largest first; equal ones by code'),
  count: COUNT.describe('Length of `leaderboard`'),
  realMoney: REAL_MONEY,
  statement: STATEMENT,
  asOf: TIME.describe('When this was counted'),
});

/** `GET /api/refs/stats`. */
export const REF_STATS_REPLY = z.object({
  success: SUCCESS,
  ref: REF.nullable().describe('The code that was asked for; null when none was'),
  known: z
    .boolean()
    .nullable()
    .describe('Whether the code has brought a settled payment: a new one has not yet, and has zeros below; null without a code'),
  partners: COUNT.describe('Codes that the figures are of: 1 or 0 for one code, else all that have brought a payment'),
  paidCalls: COUNT.describe('Settled payments that named a code'),
  payers: COUNT.nullable().describe('Wallets that have paid with the code; null without a code'),
  revenue: TAKINGS.describe('What they settled'),
  share: PROBABILITY.nullable().describe('Of all revenue, 0 to 1, rounded down to 4 digits; null before the first payment'),
  lastSettledAt: TIME.nullable().describe('When the newest settled; null when none has, and without a code'),
  realMoney: REAL_MONEY,
  statement: STATEMENT,
  asOf: TIME.describe('When this was counted'),
});
