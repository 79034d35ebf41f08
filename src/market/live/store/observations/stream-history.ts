import type { Day } from '../../../../forecast/day.ts';
import { type Observations, sliceKnownAt } from '../../../series/observations.ts';
import type { ObservationDoc } from './observation-store.ts';
import { getFinalMs, type ObservationStream } from './observation-stream.ts';
import { type KnownVersion, VersionRows } from './version-rows.ts';

interface SelectedVersion {
  day: Day;
  source: string;
  value: number;
  availableAtMs: number;
}

/** Each exchange counts its own contracts. */
const SOURCE_SPECIFIC_STREAMS: ReadonlySet<ObservationStream> = new Set<ObservationStream>(['openInterest']);

type VersionSelector = (versions: KnownVersion[], day: Day) => KnownVersion | undefined;

/** The observations of one stream in memory, as they were known at any instant. Fed with documents; never asks the database. */
export class StreamHistory {
  readonly #stream: ObservationStream;
  readonly #rows = new VersionRows();
  #first: Observations | undefined;
  #lastFinalDay: Day | null = null;
  #revision = 0;

  constructor(stream: ObservationStream) {
    this.#stream = stream;
  }

  /** Takes over a document; versions are only ever added to one. */
  merge({ day, source, versions }: ObservationDoc): void {
    const added = versions.slice(this.#rows.countVersions(day, source));
    if (added.length === 0) return;
    const wasFinal = this.#rows.hasFinal(day);
    for (const version of added) this.#rows.add(day, source, version);
    this.#first = undefined;
    if (!wasFinal && this.#rows.hasFinal(day)) this.#markFinal(day);
  }

  /** Changes when a day became final after a later one: what was built from the past has to be built again. */
  get revision(): number {
    return this.#revision;
  }

  #markFinal(day: Day): void {
    if (this.#lastFinalDay !== null && day < this.#lastFinalDay) this.#revision++;
    else this.#lastFinalDay = day;
  }

  /**
   * The first final version of each day, as known at `atMs`. A day that became known only after a later one stays out for good:
   * whoever read the later one before would otherwise see the past change.
   */
  getFirstVersions(atMs: number): Observations {
    this.#first ??= toObservations(
      this.#keepComparable(dropLateEntries(this.#selectVersions((versions) => versions.find(({ final }) => final), isEarlier))),
    );
    return sliceKnownAt(this.#first, atMs);
  }

  /** The newest version of each day as known at `atMs`, provisional ones included. */
  getLatestVersions(atMs: number): Observations {
    const known: VersionSelector = (versions, day) => versions.findLast((version) => getKnownMs(this.#stream, version, day) <= atMs);
    const chosen = this.#keepComparable(this.#selectVersions(known, isLater));
    let soFar = Number.NEGATIVE_INFINITY;
    for (const entry of chosen) {
      soFar = Math.max(soFar, entry.availableAtMs);
      entry.availableAtMs = soFar;
    }
    return toObservations(chosen);
  }

  /** The last day with a final value, of one source or of any; null for none. */
  getLastFinalDay(source?: string): Day | null {
    return source === undefined ? this.#lastFinalDay : this.#rows.findLastFinalDay(source);
  }

  /** The first final value of one day from each provider, as known at `atMs`. */
  getFinalValues(day: Day, atMs: number): Map<string, number> {
    const found = this.#rows.getVersions(day).flatMap(({ source, versions }) => {
      const version = versions.find(({ final }) => final);
      return version && getKnownMs(this.#stream, version, day) <= atMs ? [[source, version.value] as const] : [];
    });
    return new Map(found);
  }

  /** Levels of one exchange say nothing beside those of another: of such a stream only the newest day's source is told. */
  #keepComparable(chosen: SelectedVersion[]): SelectedVersion[] {
    if (!SOURCE_SPECIFIC_STREAMS.has(this.#stream)) return chosen;
    const source = chosen.at(-1)?.source;
    return chosen.filter((entry) => entry.source === source);
  }

  /** The version of each day that `pick` takes, from the provider whose version is the better one; ascending by day. */
  #selectVersions(pick: VersionSelector, better: (a: KnownVersion, b: KnownVersion) => boolean): SelectedVersion[] {
    const chosen: SelectedVersion[] = [];
    for (const day of this.#rows.listDays()) {
      let best: { source: string; version: KnownVersion } | undefined;
      for (const { source, versions } of this.#rows.getVersions(day)) {
        const version = pick(versions, day);
        if (version && (best === undefined || better(version, best.version))) best = { source, version };
      }
      if (best === undefined) continue;
      const { source, version } = best;
      chosen.push({ day, source, value: version.value, availableAtMs: getKnownMs(this.#stream, version, day) });
    }
    return chosen;
  }
}

const isEarlier = (a: KnownVersion, b: KnownVersion) => a.receivedAtMs < b.receivedAtMs;
const isLater = (a: KnownVersion, b: KnownVersion) => a.receivedAtMs > b.receivedAtMs;

/** What was fetched with the history was public since its publication; everything else is known since it came. */
function getKnownMs(stream: ObservationStream, { backfilled, receivedAtMs }: KnownVersion, day: Day): number {
  return backfilled ? getFinalMs(stream, day) : receivedAtMs;
}

/** Leaves out what became known after something dated later. `chosen` ascends by day. */
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
    source: getNewestSource(chosen),
    days: Int32Array.from(chosen, ({ day }) => day),
    values: Float64Array.from(chosen, ({ value }) => value),
    availableAt: Float64Array.from(chosen, ({ availableAtMs }) => availableAtMs),
  };
}

/** The provider of the newest observation: the one that a reader of the series has to name. */
function getNewestSource(chosen: readonly SelectedVersion[]): string {
  return chosen.at(-1)?.source ?? 'none yet';
}
