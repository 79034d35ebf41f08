import { z } from 'zod';
import { type Day, formatDay } from '../../forecast/day.ts';
import { profitOf, type WagerAccount, wagerAccounts } from '../../wager/accounts.ts';
import type { WagerDoc } from '../../wager/wagers.ts';
import { weakEtag } from '../etag.ts';
import { limit, PAGES } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { WAGERS_REPLY, type WagerAccountRow, type WagerRow, type WagersReply } from '../schemas/wagers.ts';

const PAPER = 'paper';
const PAPER_NOTE = 'Paper wagers stake no money, and their quotes are made by this service: a profit on them proves nothing.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demo first started.';
const GATED_NOTE = 'Wagers are told up to `throughDate`: the side of a later one would give a forecast away that is still unresolved.';

/** What a venue said is told, but not at any length. */
const LONGEST_REASON = 300;

/** The service's own wagers, and what came of them. The same for every caller: no day is told before all its forecasts are. */
export function wagerRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/wagers',
      name: 'listWagers',
      tag: 'crowd',
      summary: "The service's own wagers of days that are over, what stood in the book, and what came of them",
      query: z.object({ limit: limit(PAGES.wagers.most, PAGES.wagers.default) }),
      reply: WAGERS_REPLY,
      handle: ({ query }) => listWagers(parts, query.limit),
    }),
  ];
}

async function listWagers({ record, wagers, market, now }: HttpParts, count: number): Promise<Reply<WagersReply>> {
  const at = now();
  const through = await record.lastDayTold(at);
  const told = await wagers.through(through);
  const shown = told.slice(-count).toReversed();
  const body = {
    success: true as const,
    throughDate: formatDay(through),
    accounts: wagerAccounts(told).map(accountRow),
    wagers: shown.map(wagerRow),
    count: shown.length,
    total: told.length,
    notes: notesOn(told),
    source: market.source,
    timestamp: at.toISOString(),
  };
  return { headers: { ETag: weakEtag(body) }, body };
}

function notesOn(told: readonly WagerDoc[]): string[] {
  return [
    ...(told.some(({ venue }) => venue === PAPER) ? [PAPER_NOTE] : []),
    ...(told.some(({ replayed }) => replayed) ? [REPLAYED_NOTE] : []),
    GATED_NOTE,
  ];
}

function accountRow({ profitByDay, ...account }: WagerAccount): WagerAccountRow {
  const told = ({ day, profitMicros }: { day: Day; profitMicros: number }) => ({ date: formatDay(day), profitMicros });
  return { ...account, quotesAreOurs: account.venue === PAPER, profitByDay: profitByDay.map(told) };
}

function wagerRow(wager: WagerDoc): WagerRow {
  const { venue, asset, state, pModel, qMarket, pBelieved, weight, side, contracts, costMicros, payoutMicros, winner, replayed } = wager;
  return {
    ...{ date: formatDay(wager.day), venue, asset, quotesAreOurs: venue === PAPER, state },
    skippedBecause: wager.skippedBecause?.slice(0, LONGEST_REASON) ?? null,
    ...marketOf(wager),
    book: bookOf(wager),
    ...{
      pModel: fourDigits(pModel),
      qMarket: fourDigits(qMarket),
      pBelieved: fourDigits(pBelieved),
      weight,
      side,
      contracts,
      costMicros,
      payoutMicros,
    },
    profitMicros: profitOf(wager),
    winner,
    placedAt: wager.placedAt?.toISOString() ?? null,
    settledAt: wager.settledAt?.toISOString() ?? null,
    feedbackTxHash: wager.feedbackTxHash,
    replayed,
  };
}

function marketOf({ market }: WagerDoc): Pick<WagerRow, 'marketId' | 'question' | 'strike' | 'expiresAt'> {
  if (market === null) return { marketId: null, question: null, strike: null, expiresAt: null };
  return { marketId: market.id, question: market.question, strike: market.strikeUsd, expiresAt: market.expiresAt.toISOString() };
}

function bookOf({ quote, book }: WagerDoc): WagerRow['book'] {
  if (quote === null) return null;
  const { bid, ask, fee, at } = quote;
  return { bid, ask, fee, at: at.toISOString(), bids: book?.bids ?? [], asks: book?.asks ?? [] };
}

function fourDigits(probability: number | null): number | null {
  return probability === null ? null : Math.round(probability * 10_000) / 10_000;
}
