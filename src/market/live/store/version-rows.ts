import type { Day } from '../../../forecast/day.ts';
import { createGrowable, float64, type Growable, int32 } from '../../growable.ts';
import type { ObservationVersion } from './observation-store.ts';

/** What is asked of a version: the provider's own time of it only the database keeps. */
export type KnownVersion = Omit<ObservationVersion, 'providerAtMs'>;

/** What one provider has said of a day, oldest first. */
export interface Told {
  source: string;
  versions: KnownVersion[];
}

const FINAL = 1;
const BACKFILLED = 2;
/** Bits of a mark below the number of its source. */
const FLAGS = 2;
const NONE = -1;
const FIRST_CAPACITY = 256;

/**
 * Versions of the days of one stream, a row each, in columns: the history of all streams is some seventy thousand of them, of which each
 * would take about 500 bytes as the document that it comes in, and takes less than 100 here.
 */
export class VersionRows {
  readonly #days: Growable<Int32Array> = createGrowable(int32, FIRST_CAPACITY);
  readonly #values: Growable<Float64Array> = createGrowable(float64, FIRST_CAPACITY);
  readonly #receivedAt: Growable<Float64Array> = createGrowable(float64, FIRST_CAPACITY);
  /** Number of the source, and flags. */
  readonly #marks: Growable<Int32Array> = createGrowable(int32, FIRST_CAPACITY);
  /** The row before of the same day. */
  readonly #previous: Growable<Int32Array> = createGrowable(int32, FIRST_CAPACITY);
  readonly #newest = new Map<Day, number>();
  readonly #sources: string[] = [];

  /** Adds a version that is newer than all others of its day and source. */
  add(day: Day, source: string, { value, final, backfilled, receivedAtMs }: KnownVersion): void {
    this.#days.push(day);
    this.#values.push(value);
    this.#receivedAt.push(receivedAtMs);
    this.#marks.push((this.#numberOf(source) << FLAGS) | (final ? FINAL : 0) | (backfilled ? BACKFILLED : 0));
    this.#previous.push(this.#newest.get(day) ?? NONE);
    this.#newest.set(day, this.#days.length - 1);
  }

  /** Days of which anything was said, ascending. */
  days(): Int32Array {
    return Int32Array.from(this.#newest.keys()).sort();
  }

  /** What was said of a day, the provider first that spoke of it first; empty where nobody did. */
  of(day: Day): Told[] {
    const told: Told[] = [];
    for (const row of this.#rowsOf(day)) {
      const source = this.#sources[this.#marks.at(row) >> FLAGS];
      const version = this.#version(row);
      const known = told.find((one) => one.source === source);
      if (known === undefined) told.push({ source, versions: [version] });
      else known.versions.push(version);
    }
    return told;
  }

  /** How many versions of a day a source has told. */
  countOf(day: Day, source: string): number {
    const number = this.#sources.indexOf(source);
    return this.#rowsOf(day).filter((row) => this.#marks.at(row) >> FLAGS === number).length;
  }

  /** Whether any source has told a final value of a day. */
  hasFinal(day: Day): boolean {
    return this.#rowsOf(day).some((row) => (this.#marks.at(row) & FINAL) !== 0);
  }

  /** The last day of which a source has told a final value; null for none. */
  lastFinalDay(source: string): Day | null {
    const mark = (this.#sources.indexOf(source) << FLAGS) | FINAL;
    let last: Day | null = null;
    for (let row = 0; row < this.#days.length; row++) {
      if ((this.#marks.at(row) & ~BACKFILLED) === mark && (last === null || this.#days.at(row) > last)) last = this.#days.at(row);
    }
    return last;
  }

  /** Oldest first. */
  #rowsOf(day: Day): number[] {
    const rows: number[] = [];
    for (let row = this.#newest.get(day) ?? NONE; row !== NONE; row = this.#previous.at(row)) rows.push(row);
    return rows.reverse();
  }

  #version(row: number): KnownVersion {
    const mark = this.#marks.at(row);
    const [final, backfilled] = [(mark & FINAL) !== 0, (mark & BACKFILLED) !== 0];
    return { value: this.#values.at(row), final, backfilled, receivedAtMs: this.#receivedAt.at(row) };
  }

  #numberOf(source: string): number {
    const known = this.#sources.indexOf(source);
    return known === -1 ? this.#sources.push(source) - 1 : known;
  }
}
