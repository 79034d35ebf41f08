import { isDeepStrictEqual } from 'node:util';
import type { Collection, Db } from 'mongodb';
import { createCache } from '../../platform/cache.ts';
import type { Revision } from '../../platform/concurrency/revision.ts';
import { ignoreDuplicate } from '../../platform/mongo.ts';
import type { CommitmentStore } from '../commitments/store.ts';
import type { Pagination } from '../pagination.ts';
import type { RoundStore } from '../rounds/store.ts';
import { CONTEST_FIGURES, openContestRevision } from './contest-revision.ts';
import type { StandingRow } from './standings-query.ts';

/** Figures of all decided rounds and scored commitments. */
export interface ContestSummary {
  resolved: number;
  void: number;
  /** Scored commitments. */
  scored: number;
  /** Wallets with a scored commitment, and those of them with enough rounds for a rank. */
  total: number;
  ranked: number;
}

export interface StandingsPage {
  rows: StandingRow[];
  total: number;
  ranked: number;
}

interface SummaryDoc extends ContestSummary {
  _id: string;
  revision: number;
}

/** `_id` is `<revision>:<place>`, so that a page is read by its keys. */
interface PlaceDoc {
  _id: string;
  revision: number;
  place: number;
  row: StandingRow;
}

const SUMMARY = 'summary';
const WRITE_BATCH = 500;
/** Rows of an older summary are deleted while a page is read. */
const MAX_PAGE_READS = 3;

/** Standings and counts, computed once per change by any process and stored: a request reads the summary and the rows of its page. */
export class ContestFigures {
  readonly #summaries: Collection<SummaryDoc>;
  readonly #places: Collection<PlaceDoc>;
  readonly #revision: Revision;
  readonly #commitments: CommitmentStore;
  readonly #rounds: RoundStore;
  readonly #computed = createCache<SummaryDoc>('contest-figures', 2);

  constructor(db: Db, { commitments, rounds }: { commitments: CommitmentStore; rounds: RoundStore }) {
    this.#summaries = db.collection(CONTEST_FIGURES);
    this.#places = db.collection('contest_standings');
    this.#revision = openContestRevision(db);
    this.#commitments = commitments;
    this.#rounds = rounds;
  }

  async getSummary(): Promise<ContestSummary> {
    const { _id, revision, ...summary } = await this.#readSummary();
    return summary;
  }

  async listStandings({ limit, offset }: Pagination): Promise<StandingsPage> {
    for (let read = 1; ; read++) {
      const { revision, total, ranked } = await this.#readSummary();
      const count = Math.max(0, Math.min(limit, total - offset));
      const keys = Array.from({ length: count }, (_, index) => buildPlaceKey(revision, offset + index + 1));
      const places = count === 0 ? [] : await this.#places.find({ _id: { $in: keys } }).toArray();
      if (places.length === count || read === MAX_PAGE_READS)
        return { rows: places.sort((a, b) => a.place - b.place).map(({ row }) => row), total, ranked };
    }
  }

  /** Computes the figures again, for all processes. */
  async rebuild(): Promise<void> {
    await this.#revision.advance();
    await this.#readSummary();
  }

  /** Whether the stored figures are those of a recomputation; if not, the next read computes them again. */
  async verify(): Promise<boolean> {
    const stored = await this.getSummary();
    const { rows } = await this.listStandings({ limit: stored.total, offset: 0 });
    const computed = await this.#compute();
    const isSame = isDeepStrictEqual(roundNumbers([rows, stored]), roundNumbers([computed.rows, computed.summary]));
    if (!isSame) await this.#revision.advance();
    return isSame;
  }

  async #readSummary(): Promise<SummaryDoc> {
    const revision = await this.#revision.read();
    const stored = await this.#summaries.findOne({ _id: SUMMARY });
    if (stored !== null && stored.revision >= revision) return stored;
    return this.#computed.get(revision, () => this.#store(revision, stored?.revision ?? 0));
  }

  async #store(revision: number, lastRevision: number): Promise<SummaryDoc> {
    const { rows, summary } = await this.#compute();
    await this.#commitments.addMissingWallets();
    for (let first = 0; first < rows.length; first += WRITE_BATCH)
      await this.#storeRows(revision, rows.slice(first, first + WRITE_BATCH), first);
    const change = { $set: { ...summary, revision } };
    // A newer summary of another process stays.
    await this.#summaries.updateOne({ _id: SUMMARY, revision: { $lte: revision } }, change, { upsert: true }).catch(ignoreDuplicate);
    // Requests may still read the rows of the last summary.
    await this.#places.deleteMany({ revision: { $lt: lastRevision } });
    return { _id: SUMMARY, revision, ...summary };
  }

  async #storeRows(revision: number, rows: readonly StandingRow[], first: number): Promise<void> {
    const writes = rows.map((row, index) => {
      const place = first + index + 1;
      const filter = { _id: buildPlaceKey(revision, place) };
      return { replaceOne: { filter, replacement: { revision, place, row }, upsert: true } };
    });
    await this.#places.bulkWrite(writes, { ordered: false });
  }

  async #compute(): Promise<{ rows: StandingRow[]; summary: ContestSummary }> {
    const [rows, counts] = await Promise.all([this.#commitments.computeStandings(), this.#rounds.countByState()]);
    const scored = rows.reduce((sum, { commitments }) => sum + commitments, 0);
    const ranked = rows.filter((row) => row.ranked).length;
    return { rows, summary: { resolved: counts.RESOLVED ?? 0, void: counts.VOID ?? 0, scored, total: rows.length, ranked } };
  }
}

function buildPlaceKey(revision: number, place: number): string {
  return `${revision}:${place}`;
}

/** Sums of another order differ in their last digits. */
function roundNumbers(figures: unknown): unknown {
  return JSON.parse(JSON.stringify(figures, (_, value) => (typeof value === 'number' ? Math.round(value * 1e9) / 1e9 : value)));
}
