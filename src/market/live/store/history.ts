import type { Day } from '../../../forecast/day.ts';
import { knownAt, type Observations } from '../../observations.ts';
import { finalFrom, type Stream } from '../streams.ts';
import type { ObservationDoc } from './observation-store.ts';
import { type KnownVersion, VersionRows } from './version-rows.ts';

interface Chosen {
  day: Day;
  source: string;
  value: number;
  availableAtMs: number;
}

/** Each exchange counts its own contracts. */
const LEVELS_DIFFER: ReadonlySet<Stream> = new Set<Stream>(['openInterest']);

type Pick = (versions: KnownVersion[], day: Day) => KnownVersion | undefined;

/** The observations of one stream in memory, as they were known at any instant. Fed with documents; never asks the database. */
export class StreamHistory {
  readonly #stream: Stream;
  readonly #rows = new VersionRows();
  #first: Observations | undefined;
  #lastFinalDay: Day | null = null;
  #revision = 0;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  /** Takes over a document; versions are only ever added to one. */
  merge({ day, source, versions }: ObservationDoc): void {
    const added = versions.slice(this.#rows.countOf(day, source));
    if (added.length === 0) return;
    const wasFinal = this.#rows.hasFinal(day);
    for (const version of added) this.#rows.add(day, source, version);
    this.#first = undefined;
    if (!wasFinal && this.#rows.hasFinal(day)) this.#becameFinal(day);
  }

  /** Changes when a day became final after a later one: what was built from the past has to be built again. */
  get revision(): number {
    return this.#revision;
  }

  #becameFinal(day: Day): void {
    if (this.#lastFinalDay !== null && day < this.#lastFinalDay) this.#revision++;
    else this.#lastFinalDay = day;
  }

  /**
   * The first final version of each day, as known at `atMs`. A day that became known only after a later one stays out for good:
   * whoever read the later one before would otherwise see the past change.
   */
  first(atMs: number): Observations {
    this.#first ??= columns(this.#comparable(inOrder(this.#chosen((versions) => versions.find(({ final }) => final), earlier))));
    return knownAt(this.#first, atMs);
  }

  /** The newest version of each day as known at `atMs`, provisional ones included. */
  latest(atMs: number): Observations {
    const known: Pick = (versions, day) => versions.findLast((version) => knownFrom(this.#stream, version, day) <= atMs);
    const chosen = this.#comparable(this.#chosen(known, later));
    let soFar = Number.NEGATIVE_INFINITY;
    for (const entry of chosen) {
      soFar = Math.max(soFar, entry.availableAtMs);
      entry.availableAtMs = soFar;
    }
    return columns(chosen);
  }

  /** The last day with a final value, of one source or of any; null for none. */
  lastFinalDay(source?: string): Day | null {
    return source === undefined ? this.#lastFinalDay : this.#rows.lastFinalDay(source);
  }

  /** The first final value of one day from each provider, as known at `atMs`. */
  bySource(day: Day, atMs: number): Map<string, number> {
    const found = this.#rows.of(day).flatMap(({ source, versions }) => {
      const version = versions.find(({ final }) => final);
      return version && knownFrom(this.#stream, version, day) <= atMs ? [[source, version.value] as const] : [];
    });
    return new Map(found);
  }

  /** Levels of one exchange say nothing beside those of another: of such a stream only the newest day's source is told. */
  #comparable(chosen: Chosen[]): Chosen[] {
    if (!LEVELS_DIFFER.has(this.#stream)) return chosen;
    const source = chosen.at(-1)?.source;
    return chosen.filter((entry) => entry.source === source);
  }

  /** The version of each day that `pick` takes, from the provider whose version is the better one; ascending by day. */
  #chosen(pick: Pick, better: (a: KnownVersion, b: KnownVersion) => boolean): Chosen[] {
    const chosen: Chosen[] = [];
    for (const day of this.#rows.days()) {
      let best: { source: string; version: KnownVersion } | undefined;
      for (const { source, versions } of this.#rows.of(day)) {
        const version = pick(versions, day);
        if (version && (best === undefined || better(version, best.version))) best = { source, version };
      }
      if (best === undefined) continue;
      const { source, version } = best;
      chosen.push({ day, source, value: version.value, availableAtMs: knownFrom(this.#stream, version, day) });
    }
    return chosen;
  }
}

const earlier = (a: KnownVersion, b: KnownVersion) => a.receivedAtMs < b.receivedAtMs;
const later = (a: KnownVersion, b: KnownVersion) => a.receivedAtMs > b.receivedAtMs;

/** What was fetched with the history was public since its publication; everything else is known since it came. */
function knownFrom(stream: Stream, { backfilled, receivedAtMs }: KnownVersion, day: Day): number {
  return backfilled ? finalFrom(stream, day) : receivedAtMs;
}

/** Leaves out what became known after something dated later. `chosen` ascends by day. */
function inOrder(chosen: Chosen[]): Chosen[] {
  const kept: Chosen[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const entry of chosen.toReversed()) {
    if (entry.availableAtMs > earliest) continue;
    earliest = entry.availableAtMs;
    kept.push(entry);
  }
  return kept.reverse();
}

function columns(chosen: readonly Chosen[]): Observations {
  return {
    source: sourcesOf(chosen),
    days: Int32Array.from(chosen, ({ day }) => day),
    values: Float64Array.from(chosen, ({ value }) => value),
    availableAt: Float64Array.from(chosen, ({ availableAtMs }) => availableAtMs),
  };
}

/** The provider of the newest observation: the one that a reader of the series has to name. */
function sourcesOf(chosen: readonly Chosen[]): string {
  return chosen.at(-1)?.source ?? 'none yet';
}
