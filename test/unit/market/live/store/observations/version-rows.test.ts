import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type KnownVersion, VersionRows } from '../../../../../../src/market/live/store/observations/version-rows.ts';

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

/** The same with an object a version. */
function groupVersions(rows: readonly Entry[]): Map<number, ReturnType<VersionRows['getVersions']>> {
  const days = new Map<number, ReturnType<VersionRows['getVersions']>>();
  for (const { day, source, version } of rows) {
    const versions = days.get(day) ?? [];
    const known = versions.find((one) => one.source === source);
    if (known === undefined) versions.push({ source, versions: [version] });
    else known.versions.push(version);
    days.set(day, versions);
  }
  return days;
}

function rowsOf(versions: readonly Entry[]): VersionRows {
  const rows = new VersionRows();
  for (const { day, source, version } of versions) rows.add(day, source, version);
  return rows;
}

it('returns the versions of each day and source in insertion order', () => {
  fc.assert(
    fc.property(all, (versions) => {
      const [rows, expected] = [rowsOf(versions), groupVersions(versions)];
      expect([...rows.listDays()]).toEqual([...expected.keys()].toSorted((a, b) => a - b));
      for (const [day, entries] of expected) expect(rows.getVersions(day)).toEqual(entries);
      expect(rows.getVersions(13_999)).toEqual([]);
    }),
    { numRuns: 50 },
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
