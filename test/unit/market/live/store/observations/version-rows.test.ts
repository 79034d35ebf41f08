import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type KnownVersion, VersionRows } from '../../../../../../src/market/live/observations.ts';

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
