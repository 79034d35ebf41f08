import { z } from 'zod';
import { CHANNELS } from '../../commerce/channel.ts';
import { type Commerce, channelStates } from '../../commerce/commerce.ts';
import { howToPay } from '../../commerce/how-to-pay.ts';
import { displayMoney, formatAmount, usdOf } from '../../commerce/money.ts';
import { OFFERINGS, type Offering, offeringId } from '../../commerce/offerings.ts';
import { partnerTotals } from '../../commerce/refs.ts';
import { revenueOf, type Takings } from '../../commerce/revenue.ts';
import type { Till } from '../../commerce/till.ts';
import { formatDay } from '../../forecast/day.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { OFFERINGS_REPLY, PARTNERS_REPLY, REVENUE_REPLY } from '../schemas/commerce.ts';

/** Interface, section 2.8: what is sold, and what was earned with it. */
export function commerceRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/commerce/offerings',
      name: 'listOfferings',
      tag: 'commerce',
      summary: 'Everything that is sold, with its price, and whether it can be bought now',
      query: z.object({
        channel: z
          .enum(CHANNELS, { error: `must be one of ${CHANNELS.join(', ')}` })
          .optional()
          .describe('Only what is sold this way'),
      }),
      reply: OFFERINGS_REPLY,
      handle: ({ query }) => ({ body: offeringsReply(parts, query.channel) }),
    }),
    route({
      path: '/api/svc/revenue',
      name: 'getRevenue',
      tag: 'commerce',
      summary: 'Settled revenue by channel, offering and day',
      reply: REVENUE_REPLY,
      handle: async () => ({ body: await revenueReply(parts.commerce, parts.now()) }),
    }),
    route({
      path: '/api/svc/partner-stats',
      name: 'getPartnerStats',
      tag: 'commerce',
      summary: 'What partners have brought, all together',
      reply: PARTNERS_REPLY,
      handle: async () => ({ body: await partnersReply(parts.commerce, parts.now()) }),
    }),
  ];
}

function offeringsReply(parts: HttpParts, channel: Offering['channel'] | undefined): z.input<typeof OFFERINGS_REPLY> {
  const channels = channelStates(parts.commerce).filter((state) => channel === undefined || state.channel === channel);
  const offerings = OFFERINGS.flatMap((offering) => {
    const state = channels.find((one) => one.channel === offering.channel);
    return state === undefined ? [] : [offeringReply(offering, parts, state.open)];
  });
  return { success: true, offerings, channels, count: offerings.length };
}

function offeringReply(offering: Offering, { commerce, jobs }: HttpParts, open: boolean) {
  const { name, channel, title, description, price, delivers, evidence, example } = offering;
  const { till, purchaseSignatures: signatures } = commerce;
  return {
    ...{ id: offeringId(offering), name, channel, title, description },
    priceDisplay: displayMoney(price),
    price: { amount: price.amount.toString(), asset: till.asset, decimals: price.decimals, currency: 'USD' as const },
    ...{ delivers: [...delivers], evidence, example, open },
    howToPay: howToPay(offering, { till, jobs, signatures, open }),
  };
}

async function revenueReply({ ledger, till: { asset, realMoney } }: Commerce, now: Date): Promise<z.input<typeof REVENUE_REPLY>> {
  const revenue = await revenueOf(ledger.payments, now);
  return {
    success: true,
    ...takingsReply(revenue.total),
    payers: revenue.payers,
    since: revenue.firstSettledAt?.toISOString() ?? null,
    lastSettledAt: revenue.lastSettledAt?.toISOString() ?? null,
    byChannel: revenue.byChannel.map((one) => ({ channel: one.channel, ...takingsReply(one) })),
    byOffering: revenue.byOffering.map(({ channel, offering, ...takings }) => ({
      id: offeringId({ channel, name: offering }),
      channel,
      offering,
      ...takingsReply(takings),
    })),
    byDay: revenue.byDay.map(({ day, ...takings }) => ({ date: formatDay(day), ...takingsReply(takings) })),
    asset,
    ...frameOf({ realMoney }, now),
  };
}

async function partnersReply({ ledger, till: { realMoney } }: Commerce, now: Date): Promise<z.input<typeof PARTNERS_REPLY>> {
  const { partners, referred, total } = await partnerTotals(ledger.payments);
  return {
    success: true,
    partners,
    paidCalls: referred.payments,
    referred: takingsReply(referred),
    total: takingsReply(total),
    share: shareOf(referred, total),
    ...frameOf({ realMoney }, now),
  };
}

/** A sum for a reply: exact in both units. */
export function takingsReply({ payments, amountMicros }: Takings) {
  return { payments, usd: formatAmount(usdOf(amountMicros)), usdMicros: amountMicros.toString() };
}

/** Rounded down, so that not everything never looks like everything; null of nothing. */
export function shareOf(part: Takings, whole: Takings): number | null {
  return whole.amountMicros === 0n ? null : Number((part.amountMicros * 10_000n) / whole.amountMicros) / 10_000;
}

/** What stands under every count of money. */
export function frameOf({ realMoney }: Pick<Till, 'realMoney'>, now: Date) {
  const rule = 'Only payments that have settled on chain count; prices, offers, authorizations and money on its way do not.';
  const statement = realMoney ? rule : `${rule} This chain is a local one: its money is worth nothing.`;
  return { realMoney, statement, asOf: now.toISOString() };
}
