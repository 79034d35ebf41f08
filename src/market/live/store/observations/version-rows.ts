import type { Day } from '../../../../forecast/day.ts';
import { allocateFloat64, allocateInt32, createGrowableColumn, type GrowableColumn } from '../../../series/growable-column.ts';
import type { KnownVersion } from './observation-store.ts';

const FINAL_FLAG = 1;
const BACKFILLED_FLAG = 2;
/** Flag bits of a mark, below the source index. */
const FLAG_BITS = 2;
const NO_ROW = -1;
const INITIAL_CAPACITY = 256;

/** Columnar storage of versions: about 70,000 rows over all streams at less than 100 bytes each, instead of 500 as documents. */
export class VersionRows {
  readonly #days: GrowableColumn<Int32Array> = createGrowableColumn(allocateInt32, INITIAL_CAPACITY);
  readonly #values: GrowableColumn<Float64Array> = createGrowableColumn(allocateFloat64, INITIAL_CAPACITY);
  readonly #receivedAt: GrowableColumn<Float64Array> = createGrowableColumn(allocateFloat64, INITIAL_CAPACITY);
  /** Source index and flags. */
  readonly #marks: GrowableColumn<Int32Array> = createGrowableColumn(allocateInt32, INITIAL_CAPACITY);
  /** The previous row of the same day: a linked list. */
  readonly #previous: GrowableColumn<Int32Array> = createGrowableColumn(allocateInt32, INITIAL_CAPACITY);
  readonly #newest = new Map<Day, number>();
  readonly #sources: string[] = [];

  /** The version must be newer than all others of its day and source. */
  add(day: Day, source: string, { value, final, backfilled, receivedAtMs }: KnownVersion): void {
    this.#days.push(day);
    this.#values.push(value);
    this.#receivedAt.push(receivedAtMs);
    this.#marks.push((this.#indexOf(source) << FLAG_BITS) | (final ? FINAL_FLAG : 0) | (backfilled ? BACKFILLED_FLAG : 0));
    this.#previous.push(this.#newest.get(day) ?? NO_ROW);
    this.#newest.set(day, this.#days.length - 1);
  }

  listDays(): Int32Array {
    return Int32Array.from(this.#newest.keys()).sort();
  }

  get length(): number {
    return this.#days.length;
  }

  /** A row as an object. For reading many, the accessors of single columns allocate nothing. */
  read(row: number): KnownVersion & { day: Day; source: string } {
    return {
      day: this.dayAt(row),
      source: this.#sources[this.#sourceAt(row)],
      value: this.#values.at(row),
      final: this.isFinal(row),
      backfilled: this.isBackfilled(row),
      receivedAtMs: this.receivedAtMs(row),
    };
  }

  dayAt(row: number): Day {
    return this.#days.at(row);
  }

  receivedAtMs(row: number): number {
    return this.#receivedAt.at(row);
  }

  isFinal(row: number): boolean {
    return (this.#marks.at(row) & FINAL_FLAG) !== 0;
  }

  isBackfilled(row: number): boolean {
    return (this.#marks.at(row) & BACKFILLED_FLAG) !== 0;
  }

  /**
   * One row of each day with any, ascending by day: the first or last row of each source that qualifies, and of these the one that was
   * received first or last; of those received together, that of the source whose first version is older.
   */
  selectRows(which: 'first' | 'last', qualifies: (row: number) => boolean): number[] {
    const chosen = new Int32Array(this.#sources.length);
    const oldest = new Int32Array(this.#sources.length);
    const sign = which === 'last' ? 1 : -1;
    const isBetter = (source: number, than: number) => {
      const later = sign * (this.receivedAtMs(chosen[source]) - this.receivedAtMs(chosen[than]));
      return later > 0 || (later === 0 && oldest[source] < oldest[than]);
    };
    const selected: number[] = [];
    for (const day of this.listDays()) {
      chosen.fill(NO_ROW);
      for (let row = this.#newest.get(day)!; row !== NO_ROW; row = this.#previous.at(row)) {
        const source = this.#sourceAt(row);
        oldest[source] = row;
        if ((which === 'first' || chosen[source] === NO_ROW) && qualifies(row)) chosen[source] = row;
      }
      let best = NO_ROW;
      for (let source = 0; source < chosen.length; source++) {
        if (chosen[source] !== NO_ROW && (best === NO_ROW || isBetter(source, best))) best = source;
      }
      if (best !== NO_ROW) selected.push(chosen[best]);
    }
    return selected;
  }

  /** Rows of a day, oldest first. */
  listRows(day: Day): number[] {
    const rows: number[] = [];
    for (let row = this.#newest.get(day) ?? NO_ROW; row !== NO_ROW; row = this.#previous.at(row)) rows.push(row);
    return rows.reverse();
  }

  countVersions(day: Day, source: string): number {
    const index = this.#sources.indexOf(source);
    return this.listRows(day).filter((row) => this.#sourceAt(row) === index).length;
  }

  hasFinal(day: Day): boolean {
    return this.listRows(day).some((row) => this.isFinal(row));
  }

  /** The last day with a final value of the source; null without one. */
  findLastFinalDay(source: string): Day | null {
    const mark = (this.#sources.indexOf(source) << FLAG_BITS) | FINAL_FLAG;
    let last: Day | null = null;
    for (let row = 0; row < this.#days.length; row++) {
      if ((this.#marks.at(row) & ~BACKFILLED_FLAG) === mark && (last === null || this.#days.at(row) > last)) last = this.#days.at(row);
    }
    return last;
  }

  #sourceAt(row: number): number {
    return this.#marks.at(row) >> FLAG_BITS;
  }

  #indexOf(source: string): number {
    const known = this.#sources.indexOf(source);
    return known === -1 ? this.#sources.push(source) - 1 : known;
  }
}
