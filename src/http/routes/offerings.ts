import type { Address } from 'viem';
import { z } from 'zod';
import type { Commerce } from '../../commerce/commerce.ts';
import type { JobPolicy } from '../../commerce/jobs/jobs.ts';
import {
  findReferralTotals,
  listTopReferrals,
  type PaymentTotals,
  parseRefCode,
  REF_CODE_PATTERN,
  REF_CODE_RULE,
  readPartnerTotals,
  readRevenue,
} from '../../commerce/ledger.ts';
import {
  addForecastTerms,
  CHANNELS,
  type Channel,
  formatAmount,
  formatMoney,
  getCaip2Network,
  getOfferingId,
  type MerchantConfig,
  OFFERINGS,
  type Offering,
  type SignatureRule,
  usdFromMicros,
} from '../../commerce/offerings.ts';
import { formatDay } from '../../forecast/day.ts';
import {
  ADDRESS,
  COUNT,
  DATE,
  DECIMAL,
  INTEGER_TEXT,
  listOf,
  namedObject,
  nullableObjectOf,
  objectOf,
  PROBABILITY,
  SUCCESS,
  TIME,
} from '../../platform/validation.ts';
import { HORIZON_CALLS } from '../../record/schemas/track-record.ts';
import { limitInput } from '../parameters.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const refCodeInput = z
  .string({ error: `must be given once, with ${REF_CODE_RULE}` })
  .regex(REF_CODE_PATTERN, `must have ${REF_CODE_RULE}`)
  .transform(parseRefCode);

const NO_REFERRALS = { payments: 0, amountMicros: 0n, payers: 0, lastSettledAt: null };

export function refRoutes({ commerce: { ledger, merchant }, now }: Services): Route[] {
  return [
    route('GET /api/refs/leaderboard', 'getRefLeaderboard', {
      tag: 'commerce',
      summary: 'Ref codes by settled revenue',
      query: z.object({ limit: limitInput(100, 20).describe('Maximum number of codes') }),
      reply: LEADERBOARD_REPLY,
      async handle({ query }) {
        const at = now();
        const found = await listTopReferrals(ledger, query.limit);
        const leaderboard = found.map((figures, i) => ({ rank: i + 1, ref: figures.ref, ...toRefFiguresReply(figures) }));
        return { body: { success: true as const, leaderboard, count: leaderboard.length, ...buildMoneyStatement(merchant, at) } };
      },
    }),
    route('GET /api/refs/stats', 'getRefStats', {
      tag: 'commerce',
      summary: 'Revenue of one ref code, or of all',
      query: z.object({ ref: refCodeInput.optional().describe(`Ref code, in any case: ${REF_CODE_RULE}`) }),
      reply: REF_STATS_REPLY,
      async handle({ query: { ref = null } }) {
        const at = now();
        const found = ref === null ? null : await findReferralTotals(ledger, ref);
        const { partners, referred, total } = await readPartnerTotals(ledger);
        const figures =
          ref === null
            ? { known: null, partners, ...toRefFiguresReply({ ...referred, payers: null, lastSettledAt: null }) }
            : { known: found !== null, partners: found === null ? 0 : 1, ...toRefFiguresReply(found ?? NO_REFERRALS) };
        const share = computeShare(ref === null ? referred : (found ?? NO_REFERRALS), total);
        return { body: { success: true as const, ref, ...figures, share, ...buildMoneyStatement(merchant, at) } };
      },
    }),
  ];
}

function toRefFiguresReply<Payers extends number | null>(figures: PaymentTotals & { payers: Payers; lastSettledAt: Date | null }) {
  const { payments, payers, lastSettledAt } = figures;
  return { paidCalls: payments, payers, revenue: toTakingsReply(figures), lastSettledAt: lastSettledAt?.toISOString() ?? null };
}

/** Interface, section 2.8: offerings and revenue. */
export function commerceRoutes({ commerce, jobs, now }: Services): Route[] {
  const { ledger, merchant, purchaseSignatures: signatures } = commerce;
  return [
    route('GET /api/svc/commerce/offerings', 'listOfferings', {
      tag: 'commerce',
      summary: 'All offerings with prices and availability',
      query: z.object({
        channel: z
          .enum(CHANNELS, { error: `must be one of ${CHANNELS.join(', ')}` })
          .optional()
          .describe('Only offerings of this channel'),
      }),
      reply: OFFERINGS_REPLY,
      async handle({ query }) {
        const terms = await commerce.readForecastTerms();
        const channels = listChannelStates(commerce).filter(({ channel }) => query.channel === undefined || channel === query.channel);
        const offerings = OFFERINGS.flatMap((offering) => {
          const state = channels.find(({ channel }) => channel === offering.channel);
          if (state === undefined) return [];
          const { name, channel, title, description, sellsForecast, price, delivers, evidence, example } = offering;
          const { open } = state;
          return {
            id: getOfferingId(offering),
            name,
            channel,
            title,
            description: sellsForecast ? addForecastTerms(description, terms) : description,
            priceDisplay: formatMoney(price),
            price: { amount: price.amount.toString(), asset: merchant.asset, decimals: price.decimals, currency: 'USD' as const },
            delivers: [...delivers],
            evidence,
            example,
            open,
            howToPay: getPaymentInstructions(offering, { merchant, jobs, signatures, open }),
          };
        });
        return { body: { success: true as const, offerings, channels, revealedCalls: terms.revealedCalls, count: offerings.length } };
      },
    }),
    route('GET /api/svc/revenue', 'getRevenue', {
      tag: 'commerce',
      summary: 'Settled revenue by channel, offering and day',
      reply: REVENUE_REPLY,
      async handle() {
        const at = now();
        const revenue = await readRevenue(ledger, at);
        return {
          body: {
            success: true as const,
            ...toTakingsReply(revenue.total),
            payers: revenue.payers,
            since: revenue.firstSettledAt?.toISOString() ?? null,
            lastSettledAt: revenue.lastSettledAt?.toISOString() ?? null,
            byChannel: revenue.byChannel.map((one) => ({ channel: one.channel, ...toTakingsReply(one) })),
            byOffering: revenue.byOffering.map(({ channel, offering, ...takings }) => ({
              id: getOfferingId({ channel, name: offering }),
              channel,
              offering,
              ...toTakingsReply(takings),
            })),
            byDay: revenue.byDay.map(({ day, ...takings }) => ({ date: formatDay(day), ...toTakingsReply(takings) })),
            asset: merchant.asset,
            ...buildMoneyStatement(merchant, at),
          },
        };
      },
    }),
    route('GET /api/svc/partner-stats', 'getPartnerStats', {
      tag: 'commerce',
      summary: 'Revenue through partners',
      reply: PARTNERS_REPLY,
      async handle() {
        const at = now();
        const { partners, referred, total } = await readPartnerTotals(ledger);
        return {
          body: {
            success: true as const,
            partners,
            paidCalls: referred.payments,
            referred: toTakingsReply(referred),
            total: toTakingsReply(total),
            share: computeShare(referred, total),
            ...buildMoneyStatement(merchant, at),
          },
        };
      },
    }),
  ];
}

/** The reason is null when open. */
export function listChannelStates({ closed }: Pick<Commerce, 'closed'>): { channel: Channel; open: boolean; reason: string | null }[] {
  return CHANNELS.map((channel) => {
    const reason = closed[channel] ?? null;
    return { channel, open: reason === null, reason };
  });
}

interface JobProvider {
  contract: Address;
  provider: Address;
  policy: Pick<JobPolicy, 'evaluators' | 'maxMicros' | 'direct'>;
}

const STEPS: Record<Exclude<Channel, 'purchase'>, readonly string[]> = {
  x402: [
    'Send the request. The response is 402 with the terms.',
    'Sign the payment and repeat the request with it. You are charged only if it is answered.',
  ],
  'agent-commerce': [
    'createJob(payee, evaluator, expiredAt, description, zero address) on the contract: the expiry must be more than 5 minutes ahead, the description is the JSON of the example, optionally with "ref", a ref code.',
    'Wait until GET /api/svc/commerce/jobs/{jobId} reports it as accepted with the price as budget; for a rejected job it gives the reason.',
    'approve(contract, price) on the asset, then fund(jobId, price, 0x) on the contract.',
    'Once it is SUBMITTED, POST to /api/svc/commerce/jobs/{jobId}/deliverable with a signature, and compare the keccak256 of the bytes with the job on chain.',
    'The evaluator calls complete(jobId, reason, 0x), which pays the provider, or reject, which refunds the client and ends access to the deliverable. Clients and evaluators that reject deliveries or let them expire are not served again with an unknown evaluator.',
  ],
};

interface ClaimSignature {
  /** When false, an unsigned claim is delivered to the client address that makes it first. */
  required: boolean;
  /** Message to sign, with the placeholder `<txHash in lower case>`. */
  message: string;
  scheme: 'EIP-191';
}

function formatPurchaseSteps({ required, message }: ClaimSignature): string[] {
  const rule = required ? 'A claim without this signature is answered 402' : 'Optional here, and recommended';
  return [
    `Pay from a wallet that can sign a message: it signs the claim afterwards. ${required ? 'Without the signature nothing is delivered.' : ''}`.trim(),
    'Transfer the price in the asset to the payee, from the wallet that buys.',
    `Sign "${message}" (EIP-191; contract wallets by EIP-1271) with that wallet. ${rule}: the transfer is public on chain.`,
    'POST offering, txHash, wallet and signature to /api/svc/commerce/purchase within 24 hours. 503 with Retry-After: the transfer is not confirmed yet; repeat the request.',
  ];
}

function formatDirectRule({ direct }: JobProvider['policy']): string {
  if (direct === null) return '';
  const price = formatMoney(usdFromMicros(direct.maxMicros));
  return ` A job without an evaluator (the zero address), which the contract pays with its submission, is taken up to ${price}, while the code of the contract is a known one; those of clients that have not paid a job before are delivered one at a time.`;
}

function formatEvaluatorRule({ evaluators, maxMicros }: JobProvider['policy']): string {
  const known = evaluators.join(', ');
  if (maxMicros === 0n)
    return `Choose an evaluator, who judges what is delivered: ${known || 'none is known here'}. Jobs with another one are refused.`;
  const others = `Jobs of any other wallet, which may be your own, are taken up to ${formatMoney(usdFromMicros(maxMicros))} and delivered one at a time.`;
  return `Choose an evaluator, who judges what is delivered. ${known && `Known here: ${known}. `}${others}`;
}

/** @param jobs null when jobs are disabled */
export function getPaymentInstructions(
  { channel, name }: Pick<Offering, 'channel' | 'name'>,
  { merchant, jobs, signatures, open }: { merchant: MerchantConfig; jobs: JobProvider | null; signatures: SignatureRule; open: boolean },
) {
  const jobProvider = channel === 'agent-commerce' ? jobs : null;
  const payee = channel === 'agent-commerce' ? (jobs?.provider ?? null) : merchant.payee;
  const claim = {
    required: signatures === 'required',
    message: `Buy svc offering: ${name}:<txHash in lower case>`,
    scheme: 'EIP-191',
  } as const;
  const signature = channel === 'purchase' ? claim : null;
  return {
    /** For a job its provider. Null while the channel is closed. */
    payee: open ? payee : null,
    chain: getCaip2Network(merchant),
    asset: merchant.asset,
    /** ERC-8183 escrow contract of a job; null for other channels, and while the channel is closed. */
    contract: open ? (jobProvider?.contract ?? null) : null,
    /** Authenticates the payer of a purchase; null for other channels. */
    signature,
    steps: [
      ...(jobProvider === null ? [] : [formatEvaluatorRule(jobProvider.policy) + formatDirectRule(jobProvider.policy)]),
      ...(signature === null ? STEPS[channel as Exclude<Channel, 'purchase'>] : formatPurchaseSteps(signature)),
    ],
  };
}

function toTakingsReply({ payments, amountMicros }: PaymentTotals) {
  return { payments, usd: formatAmount(usdFromMicros(amountMicros)), usdMicros: amountMicros.toString() };
}

/** Rounded down, so that a share below 1 never reads as 1; null without revenue. */
function computeShare(part: PaymentTotals, whole: PaymentTotals): number | null {
  return whole.amountMicros === 0n ? null : Number((part.amountMicros * 10_000n) / whole.amountMicros) / 10_000;
}

/** Members of every reply with revenue. */
function buildMoneyStatement({ realMoney }: MerchantConfig, now: Date) {
  const rule = 'Only payments settled on chain count, not prices, offers, authorizations or pending transfers.';
  const statement = realMoney ? rule : `${rule} This is a local chain: its money has no value.`;
  return { realMoney, statement, asOf: now.toISOString() };
}

const CHANNEL = z.enum(CHANNELS).meta({ id: 'SalesChannel' });
const MONEY_STATEMENT = {
  realMoney: z.boolean().describe('False on a local chain, where anyone can mint the stablecoin: its figures are of a demonstration'),
  statement: z.string().describe('What counts, and what does not'),
  asOf: TIME.describe('Time of the count'),
};
const REF = z.string().regex(/^[a-z0-9][a-z0-9_-]{2,31}$/);

const TAKINGS = namedObject('Takings', {
  payments: COUNT.describe('Settled payments'),
  usd: DECIMAL.describe('Sum in USD, an exact decimal'),
  usdMicros: INTEGER_TEXT.describe('Sum in millionths of a USD, as digits'),
});

const OFFERING = z.object({
  id: z.string().describe('Unique id: `<channel>:<name>`'),
  name: z.string().describe('Name within the channel, e.g. svc_signal_with_proof'),
  channel: CHANNEL.describe('Payment channel'),
  title: z.string().describe('Display name'),
  description: z.string().describe('What it is; of a forecast also what is known of its direction, and how often it was HOLD'),
  priceDisplay: z.string().describe('Price as text, e.g. 1.00 USD'),
  price: objectOf('Exact price', {
    amount: INTEGER_TEXT.describe('Price in the smallest unit of the asset, as digits'),
    asset: ADDRESS.describe('Stablecoin, valued at one USD'),
    decimals: COUNT.describe('Decimals of the asset'),
    currency: z.literal('USD').describe('Currency of prices'),
  }),
  delivers: z.array(z.string()).describe('What the buyer receives'),
  evidence: z.string().describe('How the buyer can verify it without trusting the seller'),
  example: z.string().describe('Example request'),
  open: z.boolean().describe('Whether it can be bought now'),
  howToPay: objectOf('Payment instructions', {
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
  }),
});

export const OFFERINGS_REPLY = z.object({
  success: SUCCESS,
  offerings: z.array(OFFERING).describe('All offerings'),
  channels: listOf('Payment channels and whether each is open', {
    channel: CHANNEL.describe('Payment channel'),
    open: z.boolean().describe('Whether it accepts payments now; if not, send none'),
    reason: z.string().nullable().describe('Reason where closed; null when open'),
  }),
  revealedCalls: HORIZON_CALLS.describe('Calls of the revealed days by horizon'),
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
  leaderboard: listOf('By settled revenue, descending; ties by code', {
    rank: z.int().min(1).describe('Rank, from 1'),
    ...REF_FIGURES.shape,
  }),
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
