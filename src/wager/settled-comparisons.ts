import type { Day } from '../forecast/day.ts';
import type { SettledComparison } from './head-to-head.ts';

/** What is read of a wager with a market. */
export interface ComparedWager {
  day: Day;
  market: { id: string } | null;
  pModel: number | null;
  qMarket: number | null;
  winner: 'YES' | 'NO' | null;
}

export const COMPARED_FIELDS = { day: 1, 'market.id': 1, pModel: 1, qMarket: 1, winner: 1 } as const;

/** Wagers with a market of these venues after a day, oldest first. */
type ReadWagers = (venues: readonly string[], after: Day) => Promise<ComparedWager[]>;

/** Read again each time: far longer than a market stays open, or the wagers of two workers overlap. */
const RECENT_DAYS = 30;

interface Comparisons {
  /** Last day of which nothing can change any more. */
  through: Day;
  comparisons: readonly SettledComparison[];
}

const NONE: Comparisons = { through: Number.MIN_SAFE_INTEGER, comparisons: [] };

/** Both probabilities of all settled wagers, oldest first. A winner is final, so each day is read once, but for the recent and unsettled ones. */
export class SettledComparisons {
  readonly #read: ReadWagers;
  readonly #known = new Map<string, Comparisons>();

  constructor(read: ReadWagers) {
    this.#read = read;
  }

  /** @param venues names */
  async list(venues: readonly string[]): Promise<SettledComparison[]> {
    const known = this.#known.get(venues.join()) ?? NONE;
    const newer = await this.#read(venues, known.through);
    const settled = newer.filter(({ winner }) => winner !== null);
    const through = Math.min(
      ...newer.filter(({ winner }) => winner === null).map(({ day }) => day - 1),
      (newer.at(-1)?.day ?? 0) - RECENT_DAYS,
    );
    const final = settled.filter(({ day }) => day <= through).map(toSettledComparison);
    if (final.length > 0) this.#known.set(venues.join(), { through, comparisons: known.comparisons.concat(final) });
    return [...known.comparisons, ...settled.map(toSettledComparison)];
  }
}

/** Requires a settled wager. */
export function toSettledComparison({ market, pModel, qMarket, winner }: ComparedWager): SettledComparison {
  return { marketId: market!.id, pModel: pModel!, qMarket: qMarket!, winner: winner! };
}
