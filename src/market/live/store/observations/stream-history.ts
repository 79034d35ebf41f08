import type { Day } from '../../../../forecast/day.ts';
import { type Observations, sliceKnownAt } from '../../../series/observations.ts';
import type { KnownObservation } from './observation-store.ts';
import { getFinalMs, type ObservationStream } from './observation-stream.ts';
import { VersionRows } from './version-rows.ts';

interface SelectedVersion {
  day: Day;
  source: string;
  value: number;
  availableAtMs: number;
}

/** Observations that are the same at every instant from `fromMs` until before `untilMs`. */
interface KnownObservations {
  observations: Observations;
  fromMs: number;
  untilMs: number;
}

/** Point-in-time observations of one stream in memory, built from stored documents. */
export class StreamHistory {
  readonly #stream: ObservationStream;
  readonly #rows = new VersionRows();
  #first: Observations | undefined;
  #latest: KnownObservations | undefined;
  #lastFinalDay: Day | null = null;
  /** Changes when a day becomes final after a later one, or by a backfill: both invalidate frames of the past. */
  revision = 0;

  constructor(stream: ObservationStream) {
    this.#stream = stream;
  }

  /** Adds the new versions of a document, whose versions are append-only. */
  merge({ day, source, versions }: KnownObservation): void {
    const added = versions.slice(this.#rows.countVersions(day, source));
    if (added.length === 0) return;
    const wasFinal = this.#rows.hasFinal(day);
    for (const version of added) this.#rows.add(day, source, version);
    this.#first = undefined;
    this.#latest = undefined;
    const first = wasFinal ? undefined : added.find(({ final }) => final);
    if (first === undefined) return;
    const isNewest = this.#lastFinalDay === null || day >= this.#lastFinalDay;
    if (first.backfilled || !isNewest) this.revision++;
    if (isNewest) this.#lastFinalDay = day;
  }

  /**
   * The first final version of each day as known at `atMs`. A day that became known after a later one is excluded for good, because a
   * reader of the later one would otherwise see the past change.
   */
  getFirstVersions(atMs: number): Observations {
    this.#first ??= toObservations(
      this.#keepComparable(dropLateEntries(this.#read(this.#rows.selectRows('first', (row) => this.#rows.isFinal(row))))),
    );
    return sliceKnownAt(this.#first, atMs);
  }

  /** The newest version of each day as known at `atMs`, provisional versions included. Kept until another version is known. */
  getLatestVersions(atMs: number): Observations {
    const kept = this.#latest;
    if (kept !== undefined && atMs >= kept.fromMs && atMs < kept.untilMs) return kept.observations;
    this.#latest = { observations: this.#selectLatest(atMs), ...this.#findUnchanged(atMs) };
    return this.#latest.observations;
  }

  /** The time around `atMs` in which no version becomes known. */
  #findUnchanged(atMs: number): Pick<KnownObservations, 'fromMs' | 'untilMs'> {
    let [fromMs, untilMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let row = 0; row < this.#rows.length; row++) {
      const knownMs = this.#getKnownMs(row);
      if (knownMs > atMs) untilMs = Math.min(untilMs, knownMs);
      else fromMs = Math.max(fromMs, knownMs);
    }
    return { fromMs, untilMs };
  }

  #selectLatest(atMs: number): Observations {
    const chosen = this.#keepComparable(this.#read(this.#rows.selectRows('last', (row) => this.#getKnownMs(row) <= atMs)));
    let soFar = Number.NEGATIVE_INFINITY;
    for (const entry of chosen) {
      soFar = Math.max(soFar, entry.availableAtMs);
      entry.availableAtMs = soFar;
    }
    return toObservations(chosen);
  }

  /** The last day with a final value of the given source or of any; null without one. */
  getLastFinalDay(source?: string): Day | null {
    return source === undefined ? this.#lastFinalDay : this.#rows.findLastFinalDay(source);
  }

  /** The first final value of each source for one day, as known at `atMs`. */
  getFinalValues(day: Day, atMs: number): Map<string, number> {
    const values = new Map<string, number>();
    const decided = new Set<string>();
    for (const row of this.#rows.listRows(day)) {
      const { source, value, final } = this.#rows.read(row);
      if (!final || decided.has(source)) continue;
      decided.add(source);
      if (this.#getKnownMs(row) <= atMs) values.set(source, value);
    }
    return values;
  }

  /** Open interest is not comparable between exchanges: only the source of the newest day is kept. */
  #keepComparable(chosen: SelectedVersion[]): SelectedVersion[] {
    if (this.#stream !== 'openInterest') return chosen;
    const source = chosen.at(-1)?.source;
    return chosen.filter((entry) => entry.source === source);
  }

  #read(rows: readonly number[]): SelectedVersion[] {
    return rows.map((row) => {
      const { day, source, value } = this.#rows.read(row);
      return { day, source, value, availableAtMs: this.#getKnownMs(row) };
    });
  }

  /** Backfilled values count as known since their publication, all others since their reception. */
  #getKnownMs(row: number): number {
    return this.#rows.isBackfilled(row) ? getFinalMs(this.#stream, this.#rows.dayAt(row)) : this.#rows.receivedAtMs(row);
  }
}

/** Drops entries that became known after one of a later day. `chosen` ascends by day. */
function dropLateEntries(chosen: SelectedVersion[]): SelectedVersion[] {
  const kept: SelectedVersion[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const entry of chosen.toReversed()) {
    if (entry.availableAtMs > earliest) continue;
    earliest = entry.availableAtMs;
    kept.push(entry);
  }
  return kept.reverse();
}

function toObservations(chosen: readonly SelectedVersion[]): Observations {
  return {
    // Reports name the provider of the newest observation.
    source: chosen.at(-1)?.source ?? 'none yet',
    days: Int32Array.from(chosen, ({ day }) => day),
    values: Float64Array.from(chosen, ({ value }) => value),
    availableAt: Float64Array.from(chosen, ({ availableAtMs }) => availableAtMs),
  };
}
