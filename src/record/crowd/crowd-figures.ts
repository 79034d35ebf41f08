import { isDeepStrictEqual } from 'node:util';
import type { Day } from '../../forecast/day.ts';
import { buildWagerAccounts } from '../../wager/accounts.ts';
import { compareHeadToHead } from '../../wager/head-to-head.ts';
import { toSettledComparison } from '../../wager/settled-comparisons.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { FiguresStore } from '../figures/figures-store.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { computeAccuracyByVenue, computeCrowdAccuracy } from './crowd-accuracy.ts';
import { isSettledPin, readPins } from './crowd-pins.ts';
import { buildDisagreementLog } from './disagreement-log.ts';
import { computeMarketSkill } from './market-skill.ts';
import { compareWeekly } from './weekly-comparison.ts';

export type CrowdFigures = Awaited<ReturnType<typeof computeCrowdFigures>>;

interface CrowdFiguresDeps {
  store: FiguresStore;
  record: ForecastRecord;
  wagers: WagerBook;
  /** Names of the venues that quote the order book of the configured one. */
  sameBook: readonly string[];
}

/** Everything that is computed from all wagers, by the last day that a caller may read; computed once per revision of the wagers. */
export class CrowdFiguresReader {
  readonly #deps: CrowdFiguresDeps;

  constructor(deps: CrowdFiguresDeps) {
    this.#deps = deps;
  }

  /** @param through null without a limit */
  async get(through: Day | null): Promise<CrowdFigures> {
    const { store, wagers, sameBook } = this.#deps;
    const key = JSON.stringify([await wagers.revision.read(), through, sameBook]);
    return store.get(through === null ? 'crowd:all' : 'crowd:public', key, () => computeCrowdFigures(this.#deps, through));
  }

  /** Whether the stored figures are those of a recomputation; if not, the next read computes them again. */
  async verify(): Promise<boolean> {
    const isSame = isDeepStrictEqual(await this.get(null), await computeCrowdFigures(this.#deps, null));
    if (!isSame) await this.#deps.wagers.revision.advance();
    return isSame;
  }

  /** Computes what the newest revision lacks. */
  async refresh(now: Date): Promise<void> {
    await this.get(await this.#deps.record.getLastPublicDay(now));
    await this.get(null);
  }
}

async function computeCrowdFigures({ record, wagers, sameBook }: CrowdFiguresDeps, through: Day | null) {
  const isReadable = ({ day }: { day: Day }) => through === null || day <= through;
  const [pins, all] = [await readPins({ wagers, record }), await wagers.listThrough(through ?? Number.MAX_SAFE_INTEGER)];
  const ofBook = pins.filter(({ venue }) => sameBook.includes(venue));
  const settled = pins.filter(isSettledPin).filter(isReadable);
  const { weeks, totals } = compareWeekly(ofBook, through);
  const compared = all.filter(({ winner, venue }) => winner !== null && sameBook.includes(venue));
  const countState = (state: 'WIN' | 'LOSS') => all.filter((wager) => wager.state === state).length;
  return {
    headToHead: compareHeadToHead(compared.map(toSettledComparison)),
    outcomes: { wins: countState('WIN'), losses: countState('LOSS') },
    accounts: buildWagerAccounts(all),
    wagers: all.length,
    venuesOfWagers: [...new Set(all.map(({ venue }) => venue))],
    hasReplayedWagers: all.some(({ replayed }) => replayed),
    weeks,
    totals,
    ...buildDisagreementLog(weeks),
    marketSkill: computeMarketSkill(ofBook, through),
    accuracy: computeCrowdAccuracy(settled.filter(({ venue }) => sameBook.includes(venue))),
    byVenue: computeAccuracyByVenue(settled),
    pins: { comparison: describePins(ofBook), accuracy: describePins(settled) },
  };
}

/** What the notes of an answer depend on. */
function describePins(pins: readonly { venue: string; replayed: boolean }[]) {
  return { venues: [...new Set(pins.map(({ venue }) => venue))], hasReplayed: pins.some(({ replayed }) => replayed) };
}
