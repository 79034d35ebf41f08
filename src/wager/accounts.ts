import type { WagerDoc } from './wager-book.ts';

/** Totals of the wagers at one venue in one asset. Amounts in micros of the asset. */
export type WagerAccount = ReturnType<typeof buildWagerAccount>;
export type AccountedWager = Pick<WagerDoc, 'day' | 'venue' | 'asset' | 'state' | 'costMicros' | 'payoutMicros'>;

/** Profit in micros: 0 for skipped wagers, null until settled. */
export function computeProfitMicros(wager: Pick<AccountedWager, 'state' | 'costMicros' | 'payoutMicros'>): number | null {
  if (wager.state === 'SKIPPED') return 0;
  return isSettled(wager) ? (wager.payoutMicros ?? 0) - wager.costMicros : null;
}

/** Accounts by venue and asset, sorted alphabetically. Expects wagers oldest first. */
export function buildWagerAccounts(wagers: readonly AccountedWager[]): WagerAccount[] {
  const groups = Map.groupBy(wagers, ({ venue, asset }) => JSON.stringify([venue, asset]));
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => buildWagerAccount(members));
}

function buildWagerAccount(wagers: readonly AccountedWager[]) {
  const [{ venue, asset }] = wagers;
  const settled = wagers.filter(isSettled);
  const open = wagers.filter(({ state }) => state === 'PLACED' || state === 'DECIDED');
  const count = (wanted: WagerDoc['state']) => wagers.filter(({ state }) => state === wanted).length;
  const stakedMicros = sumMicros(settled.map(({ costMicros }) => costMicros));
  const returnedMicros = sumMicros(settled.map(({ payoutMicros }) => payoutMicros ?? 0));
  return {
    venue,
    asset,
    wins: count('WIN'),
    losses: count('LOSS'),
    open: open.length,
    skipped: count('SKIPPED'),
    stakedMicros,
    returnedMicros,
    profitMicros: returnedMicros - stakedMicros,
    openMicros: sumMicros(open.map(({ costMicros }) => costMicros)),
    profitByDay: accumulateProfit(settled),
  };
}

/** Cumulative profit by day of a settled wager, oldest first. */
function accumulateProfit(settled: readonly AccountedWager[]) {
  let profitMicros = 0;
  return settled.map((wager) => {
    profitMicros += computeProfitMicros(wager)!;
    return { day: wager.day, profitMicros };
  });
}

function isSettled({ state }: Pick<AccountedWager, 'state'>): boolean {
  return state === 'WIN' || state === 'LOSS';
}

function sumMicros(micros: number[]): number {
  return micros.reduce((total, one) => total + one, 0);
}
