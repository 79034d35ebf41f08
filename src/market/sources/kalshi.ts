import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { type StrikeSnapshot, selectNearTheMoney } from '../feed.ts';
import type { Provider, ProviderAnswer, ProviderRequest } from '../live/provider.ts';
import {
  boundVenueTexts,
  contractPrice,
  fetchParsed,
  keepProblems,
  numeric,
  parseAnswer,
  positive,
  type RowReader,
  readUsable,
  requireUsable,
  type StrikeSource,
  toOfferPrice,
} from './source.ts';

/** Hourly and daily "Bitcoin price above or below". */
const SERIES_TICKER = 'KXBTCD';
const PAGE_SIZE = 200;
const MAX_PAGES = 5;
const MAX_EXPIRIES = 4;
const MAX_STRIKES_PER_EXPIRY = 11;

const answer = z.object({
  cursor: z.string().nullish(),
  events: z.array(z.unknown()),
});
const event = z.object({ event_ticker: z.string(), markets: z.array(z.unknown()) });

const kind = z.object({ status: z.string(), strike_type: z.string() });
const price = numeric.pipe(contractPrice);

const market = z.object({
  ticker: z.string().min(1),
  title: z.string(),
  yes_sub_title: z.string(),
  rules_primary: z.string(),
  floor_strike: positive,
  close_time: z.iso.datetime({ offset: true }).transform(Date.parse),
  yes_bid_dollars: price,
  yes_ask_dollars: price,
  last_price_dollars: price,
});

export const kalshiStrikes: StrikeSource = {
  providers: ['kalshi'],
  async fetch({ kalshi }, { spotUsd, atMs }) {
    const { reader, problems } = keepProblems(kalshi);
    const open = (await fetchStrikes(kalshi, reader)).filter(({ expiresAtMs }) => expiresAtMs > atMs);
    if (open.length === 0) throw problems[0] ?? new OracleError('FEED_UNAVAILABLE', `${kalshi.title}: no strikes on bitcoin are listed`);
    const expiries = [...new Set(open.map(({ expiresAtMs }) => expiresAtMs))].sort((a, b) => a - b).slice(0, MAX_EXPIRIES);
    return expiries.flatMap((expiry) => {
      const ladder = open.filter(({ expiresAtMs }) => expiresAtMs === expiry);
      return selectNearTheMoney(ladder, spotUsd, MAX_STRIKES_PER_EXPIRY);
    });
  },
};

async function fetchStrikes(kalshi: Provider, reader: RowReader): Promise<StrikeSnapshot[]> {
  const strikes = new Map<string, StrikeSnapshot>();
  const query = { series_ticker: SERIES_TICKER, status: 'open', with_nested_markets: 'true', limit: PAGE_SIZE };
  let cursor: string | null = null;
  for (let page = 0; page === 0 || (page < MAX_PAGES && cursor); page++) {
    const request: ProviderRequest = { path: '/trade-api/v2/events', query: cursor ? { ...query, cursor } : query };
    const read: ReturnType<typeof parseKalshiEvents> = await fetchParsed(kalshi, request, (data) => parseKalshiEvents(data, reader));
    for (const strike of read.strikes) strikes.set(strike.marketId, strike);
    cursor = read.cursor;
  }
  return [...strikes.values()];
}

/** The open strikes of one page and the cursor of the next, empty or null after the last. @throws OracleError FEED_INVALID without a valid event */
export function parseKalshiEvents({ body, receivedAtMs, providerAtMs }: ProviderAnswer, reader: RowReader) {
  const { title } = reader;
  const { cursor = null, events } = parseAnswer(answer, body, title);
  const strikes = requireUsable(events, reader, (entry, index): StrikeSnapshot[] => {
    const { event_ticker, markets } = parseAnswer(event, entry, title, ['events', index]);
    const url = `https://kalshi.com/markets/${SERIES_TICKER.toLowerCase()}/bitcoin-price-abovebelow/${encodeURIComponent(event_ticker.toLowerCase())}`;
    return readUsable(markets, reader, (entry): StrikeSnapshot[] =>
      isOpenStrike(entry, title) ? [{ ...parseMarket(entry, title), url, receivedAtMs, providerAtMs }] : [],
    ).flat();
  });
  return { strikes: strikes.flat(), cursor };
}

function isOpenStrike(entry: unknown, providerTitle: string): boolean {
  const { status, strike_type } = parseAnswer(kind, entry, providerTitle);
  return status === 'active' && strike_type === 'greater';
}

function parseMarket(entry: unknown, providerTitle: string): Omit<StrikeSnapshot, 'url' | 'receivedAtMs' | 'providerAtMs'> {
  const data = parseAnswer(market, entry, providerTitle);
  return {
    venue: 'kalshi',
    marketId: data.ticker,
    ...boundVenueTexts(`${data.title} ${data.yes_sub_title}`, data.rules_primary),
    strikeUsd: data.floor_strike,
    expiresAtMs: data.close_time,
    bid: toOfferPrice(data.yes_bid_dollars),
    ask: toOfferPrice(data.yes_ask_dollars),
    lastPrice: toOfferPrice(data.last_price_dollars),
    bids: [],
    asks: [],
    tickSize: null,
    minOrderSize: null,
    negRisk: null,
    conditionId: null,
    yesTokenId: null,
    noTokenId: null,
  };
}
