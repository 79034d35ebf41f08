import { z } from 'zod';
import { formatDay } from '../../../../forecast/day.ts';
import type { CrowdFigures } from '../../../../record/crowd/crowd-figures.ts';
import { computeProfitMicros, type WagerAccount } from '../../../../wager/accounts.ts';
import type { WagerDoc } from '../../../../wager/wager-book.ts';
import type { HttpDeps } from '../../deps.ts';
import { limitInput, PAGE_LIMITS } from '../../server/parsing/parameters.ts';
import { toTaggedReply } from '../../server/replies/tagged-reply.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { WAGERS_REPLY, type WagerAccountRow, type WagerRow, type WagersReply } from './schemas.ts';

type WagerDeps = Pick<HttpDeps, 'crowd' | 'market' | 'now' | 'record' | 'wagers'>;

const PAPER = 'paper';
const PAPER_NOTE = 'Paper wagers stake no money, and the service makes their quotes: a profit proves nothing.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demonstration started.';
const GATED_NOTE = 'Wagers are published through `throughDate`: the side of a later one would reveal an unresolved forecast.';

/** Days of cumulative profit: a year of daily wagers. */
const MAX_PROFIT_DAYS = 365;

/** Bounds text of the venue. */
const MAX_SKIP_REASON_CHARS = 300;

/** Wagers of days whose forecasts are all public: the side of a later one would reveal a direction. The same for every caller. */
export function wagerRoutes(deps: WagerDeps): Route[] {
  return [
    route('GET /api/svc/wagers', 'listWagers', {
      units: 0.3,
      tag: 'crowd',
      summary: "The service's own wagers of resolved days, with order book and outcome",
      query: z.object({ limit: limitInput(PAGE_LIMITS.wagers.most, PAGE_LIMITS.wagers.default) }),
      reply: WAGERS_REPLY,
      handle: ({ query }) => listWagers(deps, query.limit),
    }),
  ];
}

async function listWagers({ record, wagers, crowd, market, now }: WagerDeps, count: number): Promise<Reply<WagersReply>> {
  const at = now();
  const through = await record.getLastPublicDay(at);
  const [figures, shown] = await Promise.all([crowd.get(through), wagers.listNewest(through, count)]);
  return toTaggedReply({
    success: true as const,
    throughDate: formatDay(through),
    accounts: figures.accounts.map(toAccountRow),
    wagers: shown.map(toWagerRow),
    count: shown.length,
    total: figures.wagers,
    notes: buildWagerNotes(figures),
    source: market.source,
    timestamp: at.toISOString(),
  });
}

function buildWagerNotes({ venuesOfWagers, hasReplayedWagers }: CrowdFigures): string[] {
  return [...(venuesOfWagers.includes(PAPER) ? [PAPER_NOTE] : []), ...(hasReplayedWagers ? [REPLAYED_NOTE] : []), GATED_NOTE];
}

function toAccountRow({ profitByDay, ...account }: WagerAccount): WagerAccountRow {
  const profits = profitByDay.slice(-MAX_PROFIT_DAYS).map(({ day, profitMicros }) => ({ date: formatDay(day), profitMicros }));
  return { ...account, quotesAreOurs: account.venue === PAPER, profitByDay: profits };
}

function toWagerRow(wager: WagerDoc): WagerRow {
  return {
    date: formatDay(wager.day),
    venue: wager.venue,
    asset: wager.asset,
    quotesAreOurs: wager.venue === PAPER,
    state: wager.state,
    skippedBecause: wager.skippedBecause?.slice(0, MAX_SKIP_REASON_CHARS) ?? null,
    ...toMarketMembers(wager),
    book: toBook(wager),
    pModel: roundToFourDigits(wager.pModel),
    qMarket: roundToFourDigits(wager.qMarket),
    pBelieved: roundToFourDigits(wager.pBelieved),
    weight: wager.weight,
    side: wager.side,
    contracts: wager.contracts,
    costMicros: wager.costMicros,
    payoutMicros: wager.payoutMicros,
    profitMicros: computeProfitMicros(wager),
    winner: wager.winner,
    placedAt: wager.placedAt?.toISOString() ?? null,
    settledAt: wager.settledAt?.toISOString() ?? null,
    feedbackTxHash: wager.feedbackTxHash,
    replayed: wager.replayed,
  };
}

function toMarketMembers({ market }: WagerDoc): Pick<WagerRow, 'marketId' | 'question' | 'strike' | 'expiresAt'> {
  if (market === null) return { marketId: null, question: null, strike: null, expiresAt: null };
  return { marketId: market.id, question: market.question, strike: market.strikeUsd, expiresAt: market.expiresAt.toISOString() };
}

function toBook({ quote, book }: WagerDoc): WagerRow['book'] {
  if (quote === null) return null;
  const { bid, ask, fee, at } = quote;
  return { bid, ask, fee, at: at.toISOString(), bids: book?.bids ?? [], asks: book?.asks ?? [] };
}

function roundToFourDigits(probability: number | null): number | null {
  return probability === null ? null : Math.round(probability * 10_000) / 10_000;
}
