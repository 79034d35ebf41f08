import { z } from 'zod';
import { CHANNELS } from '../../../../commerce/channels.ts';
import { type Commerce, listChannelStates } from '../../../../commerce/commerce.ts';
import { readPartnerTotals } from '../../../../commerce/ledger/referrals.ts';
import { type PaymentTotals, readRevenue } from '../../../../commerce/ledger/revenue.ts';
import type { MerchantConfig } from '../../../../commerce/merchant-config.ts';
import { formatAmount, formatMoney, usdFromMicros } from '../../../../commerce/money.ts';
import { getPaymentInstructions } from '../../../../commerce/payment-instructions.ts';
import { getOfferingId, OFFERINGS, type Offering } from '../../../../commerce/price-list.ts';
import { formatDay } from '../../../../forecast/day.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Route, route } from '../../server/route.ts';
import { OFFERINGS_REPLY, PARTNERS_REPLY, REVENUE_REPLY } from './schemas.ts';

type OfferingDeps = Pick<HttpDeps, 'commerce' | 'jobs' | 'now'>;

/** Interface, section 2.8: offerings and revenue. */
export function commerceRoutes(deps: OfferingDeps): Route[] {
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
      handle: ({ query }) => ({ body: toOfferingsReply(deps, query.channel) }),
    }),
    route('GET /api/svc/revenue', 'getRevenue', {
      tag: 'commerce',
      summary: 'Settled revenue by channel, offering and day',
      reply: REVENUE_REPLY,
      handle: async () => ({ body: await buildRevenueReply(deps.commerce, deps.now()) }),
    }),
    route('GET /api/svc/partner-stats', 'getPartnerStats', {
      tag: 'commerce',
      summary: 'Revenue through partners',
      reply: PARTNERS_REPLY,
      handle: async () => ({ body: await buildPartnersReply(deps.commerce, deps.now()) }),
    }),
  ];
}

function toOfferingsReply(deps: OfferingDeps, channel: Offering['channel'] | undefined): z.input<typeof OFFERINGS_REPLY> {
  const channels = listChannelStates(deps.commerce).filter((state) => channel === undefined || state.channel === channel);
  const offerings = OFFERINGS.flatMap((offering) => {
    const state = channels.find((one) => one.channel === offering.channel);
    return state === undefined ? [] : [toOfferingReply(offering, deps, state.open)];
  });
  return { success: true, offerings, channels, count: offerings.length };
}

function toOfferingReply(offering: Offering, { commerce, jobs }: OfferingDeps, open: boolean) {
  const { name, channel, title, description, price, delivers, evidence, example } = offering;
  const { merchant, purchaseSignatures: signatures } = commerce;
  return {
    id: getOfferingId(offering),
    name,
    channel,
    title,
    description,
    priceDisplay: formatMoney(price),
    price: { amount: price.amount.toString(), asset: merchant.asset, decimals: price.decimals, currency: 'USD' as const },
    delivers: [...delivers],
    evidence,
    example,
    open,
    howToPay: getPaymentInstructions(offering, { merchant, jobs, signatures, open }),
  };
}

async function buildRevenueReply({ ledger, merchant: { asset, realMoney } }: Commerce, now: Date): Promise<z.input<typeof REVENUE_REPLY>> {
  const revenue = await readRevenue(ledger, now);
  return {
    success: true,
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
    asset,
    ...buildMoneyStatement({ realMoney }, now),
  };
}

async function buildPartnersReply({ ledger, merchant: { realMoney } }: Commerce, now: Date): Promise<z.input<typeof PARTNERS_REPLY>> {
  const { partners, referred, total } = await readPartnerTotals(ledger);
  return {
    success: true,
    partners,
    paidCalls: referred.payments,
    referred: toTakingsReply(referred),
    total: toTakingsReply(total),
    share: computeShare(referred, total),
    ...buildMoneyStatement({ realMoney }, now),
  };
}

export function toTakingsReply({ payments, amountMicros }: PaymentTotals) {
  return { payments, usd: formatAmount(usdFromMicros(amountMicros)), usdMicros: amountMicros.toString() };
}

/** Rounded down, so that a share below 1 never reads as 1; null without revenue. */
export function computeShare(part: PaymentTotals, whole: PaymentTotals): number | null {
  return whole.amountMicros === 0n ? null : Number((part.amountMicros * 10_000n) / whole.amountMicros) / 10_000;
}

/** Members of every reply with revenue. */
export function buildMoneyStatement({ realMoney }: Pick<MerchantConfig, 'realMoney'>, now: Date) {
  const rule = 'Only payments settled on chain count, not prices, offers, authorizations or pending transfers.';
  const statement = realMoney ? rule : `${rule} This is a local chain: its money has no value.`;
  return { realMoney, statement, asOf: now.toISOString() };
}
