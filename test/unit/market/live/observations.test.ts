import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import {
  type KnownVersion,
  type ObservationDoc,
  type ObservationVersion,
  StreamHistory,
  VersionRows,
} from '../../../../src/market/live/observations.ts';

describe('stream history', () => {
  const DAY = parseDay('2026-03-10');
  /** Values of sentiment are final from 00:00 of their day, of the S&P 500 from the midnight after it. */
  const hour = (day: number, hours: number) => toInstantMs(day, hours);

  function version(value: number, receivedAtMs: number, more: Partial<ObservationVersion> = {}): ObservationVersion {
    return { value, final: true, backfilled: false, providerAtMs: null, receivedAtMs, ...more };
  }

  function doc(day: number, versions: ObservationVersion[], source = 'yahoo'): ObservationDoc {
    return { _id: `sp500/${source}/${day}`, stream: 'sp500', source, day, versions, lastKey: '', updatedAt: new Date(0) };
  }

  function history(...docs: ObservationDoc[]): StreamHistory {
    const result = new StreamHistory('sp500');
    for (const each of docs) result.merge(each);
    return result;
  }

  const valuesOf = ({ days, values }: { days: Int32Array; values: Float64Array }) =>
    [...days].map((day, index) => [day - DAY, values[index]]);

  describe('StreamHistory', () => {
    const revised = history(
      doc(DAY, [version(100, hour(DAY, 15), { final: false }), version(101, hour(DAY + 1, 1)), version(105, hour(DAY + 2, 9))]),
    );

    it('keeps the first final value in first versions despite later revisions', () => {
      expect(valuesOf(revised.getFirstVersions(hour(DAY, 20)))).toEqual([]);
      expect(valuesOf(revised.getFirstVersions(hour(DAY + 1, 1)))).toEqual([[0, 101]]);
      expect(valuesOf(revised.getFirstVersions(hour(DAY + 30, 0)))).toEqual([[0, 101]]);
    });

    it('keeps latest versions while no other version is known, and equals a new history at any instant in any order', () => {
      const docs = [
        doc(DAY, [version(100, hour(DAY, 15), { final: false }), version(101, hour(DAY + 1, 1)), version(105, hour(DAY + 2, 9))]),
        doc(DAY + 1, [version(110, hour(DAY + 3, 0), { backfilled: true })]),
        doc(DAY + 2, [version(120, hour(DAY + 2, 15), { final: false })]),
      ];
      const kept = history(...docs);
      const instants = [-1, 15, 14, 25, 26, 47, 48, 57, 56, 62, 63, 64, 500, 0].map((hours) => hour(DAY, hours));
      for (const atMs of [...instants, ...instants.toReversed()])
        expect(kept.getLatestVersions(atMs), new Date(atMs).toISOString()).toEqual(history(...docs).getLatestVersions(atMs));
      const latest = kept.getLatestVersions(hour(DAY + 3, 0));
      expect(kept.getLatestVersions(hour(DAY + 30, 0))).toBe(latest);
      kept.merge(doc(DAY + 2, [version(120, hour(DAY + 2, 15), { final: false }), version(121, hour(DAY + 3, 1))]));
      expect(valuesOf(kept.getLatestVersions(hour(DAY + 30, 0))).at(-1)).toEqual([2, 121]);
    });

    it('returns the newest version known at the instant as latest version', () => {
      expect(valuesOf(revised.getLatestVersions(hour(DAY, 14)))).toEqual([]);
      expect(valuesOf(revised.getLatestVersions(hour(DAY, 20)))).toEqual([[0, 100]]);
      expect(valuesOf(revised.getLatestVersions(hour(DAY + 2, 8)))).toEqual([[0, 101]]);
      expect(valuesOf(revised.getLatestVersions(hour(DAY + 2, 9)))).toEqual([[0, 105]]);
    });

    it('treats backfilled values as known since their publication', () => {
      const known = history(doc(DAY, [version(100, hour(DAY + 500, 0), { backfilled: true })]));
      expect(valuesOf(known.getFirstVersions(hour(DAY + 1, 0) - 1))).toEqual([]);
      expect(valuesOf(known.getFirstVersions(hour(DAY + 1, 0)))).toEqual([[0, 100]]);
      expect(valuesOf(known.getLatestVersions(hour(DAY + 1, 0)))).toEqual([[0, 100]]);
    });

    it('prefers the earliest provider in first versions and the latest in latest versions', () => {
      const two = history(doc(DAY, [version(100, hour(DAY + 1, 2))], 'yahoo'), doc(DAY, [version(102, hour(DAY + 1, 1))], 'fred'));
      expect(valuesOf(two.getFirstVersions(hour(DAY + 2, 0)))).toEqual([[0, 102]]);
      expect(two.getFirstVersions(hour(DAY + 2, 0)).source).toBe('fred');
      expect(valuesOf(two.getLatestVersions(hour(DAY + 2, 0)))).toEqual([[0, 100]]);
    });

    it('excludes a day that becomes known after a later one', () => {
      const before = history(doc(DAY + 1, [version(111, hour(DAY + 2, 1))]));
      const after = history(doc(DAY + 1, [version(111, hour(DAY + 2, 1))]), doc(DAY, [version(100, hour(DAY + 5, 0))]));
      const at = hour(DAY + 6, 0);
      expect(valuesOf(after.getFirstVersions(at))).toEqual(valuesOf(before.getFirstVersions(at)));
      expect(valuesOf(after.getLatestVersions(at))).toEqual([
        [0, 100],
        [1, 111],
      ]);
      expect([...after.getLatestVersions(at).availableAt]).toEqual([hour(DAY + 5, 0), hour(DAY + 5, 0)]);
    });

    it('increments the revision only when a day becomes final after a later one', () => {
      const growing = history(doc(DAY, [version(100, hour(DAY + 1, 1))]));
      growing.merge(doc(DAY + 2, [version(102, hour(DAY + 3, 1))]));
      growing.merge(doc(DAY + 2, [version(102.5, hour(DAY + 3, 2))], 'fred'));
      growing.merge(doc(DAY + 1, [version(101, hour(DAY + 1, 9), { final: false })]));
      const before = growing.revision;
      growing.merge(doc(DAY + 1, [version(101, hour(DAY + 1, 9), { final: false }), version(101, hour(DAY + 4, 1))]));
      expect([before, growing.revision]).toEqual([0, 1]);
    });

    it('increments the revision when a backfill adds a day, also in order', () => {
      const growing = history(doc(DAY, [version(100, hour(DAY + 1, 1))]));
      growing.merge(doc(DAY + 1, [version(101, hour(DAY + 9, 1), { backfilled: true })]));
      growing.merge(doc(DAY + 1, [version(102, hour(DAY + 9, 1), { backfilled: true })], 'fred'));
      expect([growing.revision, growing.getLastFinalDay()]).toEqual([1, DAY + 1]);
    });

    it('never mixes the levels of two exchanges', () => {
      const interest = new StreamHistory('openInterest');
      const of = (day: number, source: string, value: number): ObservationDoc => ({
        ...doc(day, [version(value, hour(day + 1, 1))], source),
        stream: 'openInterest',
      });
      for (const each of [of(DAY, 'okx', 19), of(DAY, 'bybit', 5), of(DAY + 1, 'okx', 20), of(DAY + 2, 'bybit', 6)]) interest.merge(each);
      expect(valuesOf(interest.getLatestVersions(hour(DAY + 2, 2)))).toEqual([
        [0, 19],
        [1, 20],
      ]);
      expect(interest.getLatestVersions(hour(DAY + 9, 0)).source).toBe('bybit');
      expect(valuesOf(interest.getLatestVersions(hour(DAY + 9, 0)))).toEqual([[2, 6]]);
    });

    it('merges the new versions of a document', () => {
      const growing = history(doc(DAY, [version(100, hour(DAY, 15), { final: false })]));
      expect(valuesOf(growing.getFirstVersions(hour(DAY + 9, 0)))).toEqual([]);
      growing.merge(doc(DAY, [version(100, hour(DAY, 15), { final: false }), version(101, hour(DAY + 1, 1))]));
      expect(valuesOf(growing.getFirstVersions(hour(DAY + 9, 0)))).toEqual([[0, 101]]);
    });

    it('returns the first final value of each provider', () => {
      const venues = history(doc(DAY, [version(100, hour(DAY + 1, 2))], 'kraken'), doc(DAY, [version(102, hour(DAY + 1, 1))], 'coinbase'));
      expect([...venues.getFinalValues(DAY, hour(DAY + 1, 1))]).toEqual([['coinbase', 102]]);
      expect(venues.getFinalValues(DAY, hour(DAY + 1, 2)).size).toBe(2);
      expect(venues.getFinalValues(DAY + 1, hour(DAY + 9, 2)).size).toBe(0);
    });
  });
});

describe('version rows', () => {
  const version: fc.Arbitrary<KnownVersion> = fc.record({
    value: fc.double({ noNaN: true }),
    final: fc.boolean(),
    backfilled: fc.boolean(),
    receivedAtMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  });
  const entry = fc.record({ day: fc.integer({ min: 14_000, max: 14_004 }), source: fc.constantFrom('kraken', 'coinbase', 'okx'), version });
  /** More than the columns begin with. */
  const all = fc.array(entry, { maxLength: 700, size: 'max' });

  type Entry = typeof entry extends fc.Arbitrary<infer One> ? One : never;

  function rowsOf(versions: readonly Entry[]): VersionRows {
    const rows = new VersionRows();
    for (const { day, source, version } of versions) rows.add(day, source, version);
    return rows;
  }

  it('returns the versions of each day in insertion order', () => {
    fc.assert(
      fc.property(all, (versions) => {
        const rows = rowsOf(versions);
        const days = [...new Set(versions.map(({ day }) => day))].toSorted((a, b) => a - b);
        expect([...rows.listDays()]).toEqual(days);
        for (const day of [...days, 13_999]) {
          const own = versions.filter((one) => one.day === day).map(({ source, version: own }) => ({ day, source, ...own }));
          expect(rows.listRows(day).map((row) => rows.read(row))).toEqual(own);
        }
      }),
      { numRuns: 50 },
    );
  });

  /** The same over objects. */
  function selectEntry(versions: readonly Entry[], which: 'first' | 'last', qualifies: (one: Entry) => boolean): Entry | undefined {
    const bySource = [...Map.groupBy(versions, ({ source }) => source).values()];
    const candidates = bySource.flatMap((own) => (which === 'first' ? own.find(qualifies) : own.findLast(qualifies)) ?? []);
    const receivedAt = ({ version: { receivedAtMs } }: Entry) => receivedAtMs * (which === 'first' ? -1 : 1);
    return candidates.reduce<Entry | undefined>((best, one) => (best && receivedAt(best) >= receivedAt(one) ? best : one), undefined);
  }

  it('selects a row of each day among the sources', () => {
    const together = entry.map((one) => ({ ...one, version: { ...one.version, receivedAtMs: one.version.receivedAtMs % 3 } }));
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, together), { maxLength: 60 }), fc.constantFrom('first', 'last'), (versions, which) => {
        const rows = rowsOf(versions);
        const expected = [...rows.listDays()].flatMap((day) => {
          const own = versions.filter((one) => one.day === day);
          return selectEntry(own, which, ({ version: { final } }) => final) ?? [];
        });
        const selected = rows.selectRows(which, (row) => rows.isFinal(row)).map((row) => rows.read(row));
        expect(selected).toEqual(expected.map(({ day, source, version: own }) => ({ day, source, ...own })));
      }),
    );
  });

  it('counts versions and detects final days', () => {
    fc.assert(
      fc.property(all, (versions) => {
        const rows = rowsOf(versions);
        for (const source of ['kraken', 'coinbase', 'okx', 'bybit']) {
          const own = versions.filter((one) => one.source === source);
          const finals = own.filter((one) => one.version.final).map(({ day }) => day);
          expect(rows.findLastFinalDay(source)).toBe(finals.length === 0 ? null : Math.max(...finals));
          for (let day = 14_000; day <= 14_005; day++)
            expect(rows.countVersions(day, source)).toBe(own.filter((one) => one.day === day).length);
        }
        for (let day = 14_000; day <= 14_005; day++) {
          expect(rows.hasFinal(day)).toBe(versions.some((one) => one.day === day && one.version.final));
        }
      }),
      { numRuns: 50 },
    );
  });
});
