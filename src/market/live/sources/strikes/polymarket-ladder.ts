import { z } from 'zod';
import type { StrikeSnapshot } from '../../../strikes.ts';
import { numeric, parseAnswer, positive } from '../http-source.ts';
import { boundVenueTexts, contractPrice as price, toOfferPrice } from './strike-source.ts';

const LADDER_TITLE = /^bitcoin above _+ on /i;
const STRIKE = /^\$?(\d[\d,]*(?:\.\d+)?)(k?)$/i;
const STRIKE_IN_QUESTION = /\babove \$?(\d[\d,]*(?:\.\d+)?)(k?)\b/i;
const events = z.array(z.looseObject({ title: z.string() }));
export type GammaEvent = z.output<typeof events>[number];
const ladder = z.object({ slug: z.string(), markets: z.array(z.unknown()) });
const state = z.object({ closed: z.boolean().optional(), acceptingOrders: z.boolean().optional() });

/** A JSON array of two strings, itself in a string. */
const pair = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'is not JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.tuple([z.string(), z.string()]));

const yesAndNo = pair.refine((names) => names.toSorted().join() === 'No,Yes', 'is not Yes and No');
const instant = z.iso.datetime({ offset: true }).transform(Date.parse);

const market = z.object({
  id: z.string().min(1),
  question: z.string(),
  groupItemTitle: z.string().optional(),
  description: z.string().default(''),
  conditionId: z.string().regex(/^0x[0-9a-f]{64}$/i, 'is not a condition id'),
  endDate: instant,
  updatedAt: instant.nullish(),
  outcomes: yesAndNo,
  outcomePrices: pair.pipe(z.tuple([numeric.pipe(price), numeric.pipe(price)])),
  clobTokenIds: pair.pipe(z.tuple([z.string().regex(/^\d+$/, 'is not a token id'), z.string().regex(/^\d+$/, 'is not a token id')])),
  bestBid: price.nullish(),
  bestAsk: price.nullish(),
  lastTradePrice: price.nullish(),
  orderPriceMinTickSize: positive.nullish(),
  orderMinSize: positive.nullish(),
  negRisk: z.boolean().nullish(),
});

/** Parses "87,600", "$96k", or a question that contains "above $96,000" to US dollars. */
const strike = z.string().transform((text, context) => {
  const [, digits, thousands] = STRIKE.exec(text.trim()) ?? STRIKE_IN_QUESTION.exec(text) ?? [];
  if (digits === undefined) {
    context.addIssue({ code: 'custom', path: ['groupItemTitle'], message: 'names no strike' });
    return z.NEVER;
  }
  return Number(digits.replaceAll(',', '')) * (thousands === '' ? 1 : 1_000);
});

/** All events of a Gamma response. @throws OracleError FEED_INVALID */
export function parseGammaEvents(body: unknown, providerTitle: string): GammaEvent[] {
  return parseAnswer(events, body, providerTitle);
}

/** The open strikes of an event without order books; empty unless the event is a ladder. @throws OracleError FEED_INVALID naming the field */
export function parseLadder(event: GammaEvent, providerTitle: string, receivedAtMs: number): StrikeSnapshot[] {
  if (!LADDER_TITLE.test(event.title)) return [];
  const { slug, markets } = parseAnswer(ladder, event, providerTitle);
  const url = `https://polymarket.com/event/${encodeURIComponent(slug)}`;
  return markets
    .filter((entry) => isOpenMarket(entry, providerTitle))
    .map((entry) => ({ ...parseMarket(entry, providerTitle), url, receivedAtMs }));
}

function isOpenMarket(entry: unknown, providerTitle: string): boolean {
  const { closed, acceptingOrders } = parseAnswer(state, entry, providerTitle);
  return closed !== true && acceptingOrders !== false;
}

function parseMarket(entry: unknown, providerTitle: string): Omit<StrikeSnapshot, 'url' | 'receivedAtMs'> {
  const data = parseAnswer(market, entry, providerTitle);
  const strikeUsd = parseAnswer(strike, data.groupItemTitle || data.question, providerTitle);
  const yes = data.outcomes.indexOf('Yes');
  return {
    venue: 'polymarket',
    marketId: data.id,
    ...boundVenueTexts(data.question, data.description),
    strikeUsd,
    expiresAtMs: data.endDate,
    bid: toOfferPrice(data.bestBid),
    ask: toOfferPrice(data.bestAsk),
    // Polymarket quotes an indicative price before the first trade.
    lastPrice: data.lastTradePrice || data.outcomePrices[yes],
    bids: [],
    asks: [],
    tickSize: data.orderPriceMinTickSize ?? null,
    minOrderSize: data.orderMinSize ?? null,
    negRisk: data.negRisk ?? null,
    conditionId: data.conditionId,
    yesTokenId: data.clobTokenIds[yes],
    noTokenId: data.clobTokenIds[1 - yes],
    providerAtMs: data.updatedAt ?? null,
  };
}
