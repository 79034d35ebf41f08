import type { Day } from '../forecast/day.ts';
import type { WagerDoc } from './wager-book.ts';

/** What came of the wagers at one venue in one asset. Amounts in micros of the asset. */
export interface WagerAccount {
  venue: string;
  asset: string;
  wins: number;
  losses: number;
  /** Placed, or about to be, and not settled. */
  open: number;
  skipped: number;
  /** Cost and payout of the settled ones, and the difference. */
  stakedMicros: number;
  returnedMicros: number;
  profitMicros: number;
  /** Cost of the open ones. */
  openMicros: number;
  /** Profit of all settled ones up to and with a day, for each day that has one, oldest first. */
  profitByDay: { day: Day; profitMicros: number }[];
}

export type AccountedWager = Pick<WagerDoc, 'day' | 'venue' | 'asset' | 'state' | 'costMicros' | 'payoutMicros'>;

/** What a wager gained or lost, in micros: 0 where nothing was staked, null until it is settled. */
export function computeProfitMicros({
  state,
  costMicros,
  payoutMicros,
}: Pick<AccountedWager, 'state' | 'costMicros' | 'payoutMicros'>): number | null {
  if (state === 'SKIPPED') return 0;
  return isSettled(state) ? (payoutMicros ?? 0) - costMicros : null;
}

/** One account a venue and asset, in the order of the alphabet. Expects the wagers oldest first. */
export function buildWagerAccounts(wagers: readonly AccountedWager[]): WagerAccount[] {
  const groups = Map.groupBy(wagers, ({ venue, asset }) => JSON.stringify([venue, asset]));
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => buildWagerAccount(members));
}

function buildWagerAccount(wagers: readonly AccountedWager[]): WagerAccount {
  const [{ venue, asset }] = wagers;
  const settled = wagers.filter(({ state }) => isSettled(state));
  const open = wagers.filter(({ state }) => state === 'PLACED' || state === 'DECIDED');
  const count = (wanted: WagerDoc['state']) => wagers.filter(({ state }) => state === wanted).length;
  const stakedMicros = sumMicros(settled.map(({ costMicros }) => costMicros));
  const returnedMicros = sumMicros(settled.map(({ payoutMicros }) => payoutMicros ?? 0));
  return {
    ...{ venue, asset, wins: count('WIN'), losses: count('LOSS'), open: open.length, skipped: count('SKIPPED') },
    ...{ stakedMicros, returnedMicros, profitMicros: returnedMicros - stakedMicros },
    openMicros: sumMicros(open.map(({ costMicros }) => costMicros)),
    profitByDay: accumulateProfit(settled),
  };
}

function accumulateProfit(settled: readonly AccountedWager[]): WagerAccount['profitByDay'] {
  let profitMicros = 0;
  return settled.map((wager) => {
    profitMicros += computeProfitMicros(wager)!;
    return { day: wager.day, profitMicros };
  });
}

function isSettled(state: WagerDoc['state']): boolean {
  return state === 'WIN' || state === 'LOSS';
}

function sumMicros(micros: number[]): number {
  return micros.reduce((total, one) => total + one, 0);
}
