import { z } from 'zod';
import { CHANNELS } from '../../../../commerce/channels.ts';
import { listOf, nullableObjectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, COUNT, DATE, DECIMAL, INTEGER_TEXT, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';

const CHANNEL = z.enum(CHANNELS);
const MONEY_STATEMENT = {
  realMoney: z.boolean().describe('False on a local chain, where anyone can mint the stablecoin: its figures are of a demonstration'),
  statement: z.string().describe('What counts, and what does not'),
  asOf: TIME.describe('Time of the count'),
};
const REF = z.string().regex(/^[a-z0-9][a-z0-9_-]{2,31}$/);

const TAKINGS = z.object({
  payments: COUNT.describe('Settled payments'),
  usd: DECIMAL.describe('Sum in USD, an exact decimal'),
  usdMicros: INTEGER_TEXT.describe('Sum in millionths of a USD, as digits'),
});

const CHANNEL_STATE = z.object({
  channel: CHANNEL.describe('Payment channel'),
  open: z.boolean().describe('Whether it accepts payments now; if not, send none'),
  reason: z.string().nullable().describe('Reason where closed; null when open'),
});

const PRICE = z.object({
  amount: INTEGER_TEXT.describe('Price in the smallest unit of the asset, as digits'),
  asset: ADDRESS.describe('Stablecoin, valued at one USD'),
  decimals: COUNT.describe('Decimals of the asset'),
  currency: z.literal('USD').describe('Currency of prices'),
});

const HOW_TO_PAY = z.object({
  payee: ADDRESS.nullable().describe('Recipient, for a job its provider; null while the channel is closed'),
  chain: z.string().describe('Chain to pay on, CAIP-2, e.g. eip155:8453'),
  asset: ADDRESS.describe('Stablecoin to pay in'),
  contract: ADDRESS.nullable().describe('ERC-8183 contract for jobs; null for other channels, and while closed'),
  signature: nullableObjectOf('Proof that the paying wallet claims the purchase; null for other channels', {
    required: z.boolean().describe('True where a claim without it answers 402: pay only from a wallet that can sign'),
    message: z.string().describe('Text to sign, with the lower-case hash of the transfer at its placeholder'),
    scheme: z.literal('EIP-191').describe('Signature scheme of EOAs; contract wallets use EIP-1271 or ERC-6492'),
  }),
  steps: z.array(z.string()).describe('Steps of the buyer, in order'),
});

const OFFERING = z.object({
  id: z.string().describe('Unique id: `<channel>:<name>`'),
  name: z.string().describe('Name within the channel, e.g. svc_signal_with_proof'),
  channel: CHANNEL.describe('Payment channel'),
  title: z.string().describe('Display name'),
  description: z.string().describe('What it is'),
  priceDisplay: z.string().describe('Price as text, e.g. 1.00 USD'),
  price: PRICE.describe('Exact price'),
  delivers: z.array(z.string()).describe('What the buyer receives'),
  evidence: z.string().describe('How the buyer can verify it without trusting the seller'),
  example: z.string().describe('Example request'),
  open: z.boolean().describe('Whether it can be bought now'),
  howToPay: HOW_TO_PAY.describe('Payment instructions'),
});

export const OFFERINGS_REPLY = z.object({
  success: SUCCESS,
  offerings: z.array(OFFERING).describe('All offerings'),
  channels: z.array(CHANNEL_STATE).describe('Payment channels and whether each is open'),
  count: COUNT.describe('Length of `offerings`'),
});

export const REVENUE_REPLY = z.object({
  success: SUCCESS,
  ...TAKINGS.shape,
  payers: COUNT.describe('Wallets with at least one payment'),
  since: TIME.nullable().describe('First settlement; null before it'),
  lastSettledAt: TIME.nullable().describe('Latest settlement; null before the first'),
  byChannel: z.array(z.object({ channel: CHANNEL.describe('Payment channel'), ...TAKINGS.shape })).describe('All channels'),
  byOffering: listOf('All current offerings', {
    id: z.string().describe('Offering id'),
    channel: CHANNEL.describe('Payment channel'),
    offering: z.string().describe('Its name'),
    ...TAKINGS.shape,
  }),
  byDay: z.array(z.object({ date: DATE.describe('UTC date of settlement'), ...TAKINGS.shape })).describe('The last 30 days, oldest first'),
  asset: ADDRESS.describe('Stablecoin, valued at one USD'),
  ...MONEY_STATEMENT,
});

export const PARTNERS_REPLY = z.object({
  success: SUCCESS,
  partners: COUNT.describe('Ref codes with at least one settled payment'),
  paidCalls: COUNT.describe('Settled payments with a ref code'),
  referred: TAKINGS.describe('Revenue with a ref code'),
  total: TAKINGS.describe('All revenue, with and without a ref code'),
  share: PROBABILITY.nullable().describe('Referred share of all revenue, 0 to 1, rounded down to 4 digits; null before the first payment'),
  ...MONEY_STATEMENT,
});

const REF_FIGURES = z.object({
  ref: REF.describe('Ref code, lower case'),
  paidCalls: COUNT.describe('Settled payments with this code'),
  payers: COUNT.describe('Number of wallets that paid with it; their addresses are not published'),
  revenue: TAKINGS.describe('Settled revenue'),
  lastSettledAt: TIME.nullable().describe('Latest settlement; null before the first'),
});

export const LEADERBOARD_REPLY = z.object({
  success: SUCCESS,
  leaderboard: z
    .array(z.object({ rank: z.int().min(1).describe('Rank, from 1'), ...REF_FIGURES.shape }))
    .describe('By settled revenue, descending; ties by code'),
  count: COUNT.describe('Length of `leaderboard`'),
  ...MONEY_STATEMENT,
});

export const REF_STATS_REPLY = z.object({
  success: SUCCESS,
  ref: REF.nullable().describe('Requested code; null without one'),
  known: z
    .boolean()
    .nullable()
    .describe('Whether the code has a settled payment: a new code has none, and zeros below; null without a code'),
  partners: COUNT.describe('Number of codes in the figures: 1 or 0 for one code, else all with a payment'),
  paidCalls: COUNT.describe('Settled payments with a code'),
  payers: COUNT.nullable().describe('Wallets that paid with the code; null without a code'),
  revenue: TAKINGS.describe('Settled revenue'),
  share: PROBABILITY.nullable().describe('Share of all revenue, 0 to 1, rounded down to 4 digits; null before the first payment'),
  lastSettledAt: TIME.nullable().describe('Latest settlement; null before the first, and without a code'),
  ...MONEY_STATEMENT,
});
