import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type KnownVersion, type Told, VersionRows } from '../../../../src/market/live/store/version-rows.ts';

const version: fc.Arbitrary<KnownVersion> = fc.record({
  value: fc.double({ noNaN: true }),
  final: fc.boolean(),
  backfilled: fc.boolean(),
  receivedAtMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
});
const said = fc.record({ day: fc.integer({ min: 14_000, max: 14_004 }), source: fc.constantFrom('kraken', 'coinbase', 'okx'), version });
/** More than the columns begin with. */
const all = fc.array(said, { maxLength: 700, size: 'max' });

type Said = typeof said extends fc.Arbitrary<infer One> ? One : never;

/** The same with an object a version. */
function plainly(rows: readonly Said[]): Map<number, Told[]> {
  const days = new Map<number, Told[]>();
  for (const { day, source, version } of rows) {
    const told = days.get(day) ?? [];
    const known = told.find((one) => one.source === source);
    if (known === undefined) told.push({ source, versions: [version] });
    else known.versions.push(version);
    days.set(day, told);
  }
  return days;
}

function rowsOf(told: readonly Said[]): VersionRows {
  const rows = new VersionRows();
  for (const { day, source, version } of told) rows.add(day, source, version);
  return rows;
}

it('gives back what it was told, of each day and source, in the order in which it came', () => {
  fc.assert(
    fc.property(all, (told) => {
      const [rows, expected] = [rowsOf(told), plainly(told)];
      expect([...rows.days()]).toEqual([...expected.keys()].toSorted((a, b) => a - b));
      for (const [day, entries] of expected) expect(rows.of(day)).toEqual(entries);
      expect(rows.of(13_999)).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

it('counts versions, and knows which days are final', () => {
  fc.assert(
    fc.property(all, (told) => {
      const rows = rowsOf(told);
      for (const source of ['kraken', 'coinbase', 'okx', 'bybit']) {
        const own = told.filter((one) => one.source === source);
        const finals = own.filter((one) => one.version.final).map(({ day }) => day);
        expect(rows.lastFinalDay(source)).toBe(finals.length === 0 ? null : Math.max(...finals));
        for (let day = 14_000; day <= 14_005; day++) expect(rows.countOf(day, source)).toBe(own.filter((one) => one.day === day).length);
      }
      for (let day = 14_000; day <= 14_005; day++) {
        expect(rows.hasFinal(day)).toBe(told.some((one) => one.day === day && one.version.final));
      }
    }),
    { numRuns: 50 },
  );
});
