import fc from 'fast-check';
import { type Hex, sha256, stringToBytes } from 'viem';
import { describe, expect, it } from 'vitest';
import { fromQuantilesMicro } from '../../../../src/chain/eas/schemas.ts';
import { classifyMoveSize, computeBigMoveProbability, computeWidth80, computeWidth90, getBigMove } from '../../../../src/forecast/move.ts';
import { checkMove } from '../../../../src/verify/checks/move.ts';
import type { Prediction } from '../../../../src/verify/evidence.ts';
import { createFindings } from '../../../../src/verify/findings.ts';

const VERSION = 'm1.2024-08-01';

const buildOpening = (step: number, shift: number, modelVersion = VERSION) => ({
  ...{ name: 'm1', role: 'challenger', modelVersion, salt: `0x${'5a'.repeat(32)}` },
  quantilesMicro: Array.from({ length: 199 }, (_, index) => (index - 99) * step + shift),
});

/** What an honest service states of quantiles that are `step` millionths apart. */
function buildMove(step: number, horizonDays: number) {
  const grid = fromQuantilesMicro(buildOpening(step, 0).quantilesMicro);
  const limits = { width80: computeWidth80(grid), width90: computeWidth90(grid), calmUpTo: 0.05, wildFrom: 0.09 };
  const pBig = Number(computeBigMoveProbability(grid, getBigMove(horizonDays)).toFixed(6));
  return {
    modelVersion: VERSION,
    moveSize: classifyMoveSize(limits),
    pBig,
    bigMove: Number(getBigMove(horizonDays).toFixed(8)),
    ...limits,
  };
}

interface Case {
  moves?: object | undefined;
  shown?: { moveSize?: string | null; pBig?: number | null } | undefined;
  openings?: ReturnType<typeof buildOpening>[] | null;
  attested?: string;
  horizonDays?: number;
}

const HONEST = buildMove(400, 1);

function check({ moves, shown, openings = [buildOpening(400, 0)], attested, horizonDays = 1 }: Case) {
  const metadata = JSON.stringify({ date: '2024-10-04', moves });
  const data = { day: 20_000, horizonDays, sequence: 7, metadata: attested ?? sha256(stringToBytes(metadata)) };
  const findings = createFindings();
  checkMove({ uid: `0x${'11'.repeat(32)}` as Hex, data } as unknown as Prediction, { metadata, shown, openings }, findings);
  return findings.list.map(({ outcome, field, isDue }) => `${outcome} ${field}${isDue ? '' : ', not due'}`);
}

const shownAs = ({ moveSize, pBig }: { moveSize: string; pBig: number }) => ({ moveSize, pBig });

it('an honest size of the move passes with and without its row, and before its quantiles are opened', () => {
  expect(check({ moves: { '1d': HONEST }, shown: shownAs(HONEST) })).toEqual(['pass row', 'pass metadata']);
  expect(check({ moves: { '1d': HONEST } })).toEqual(['pass metadata']);
  expect(check({ moves: { '1d': HONEST }, shown: shownAs(HONEST), openings: null })).toEqual(['pass row', 'unknown move, not due']);
});

it('a day whose metadata states none passes where the row shows none', () => {
  for (const moves of [undefined, {}, { '1d': null }, { '2d': HONEST }]) {
    expect(check({ moves, shown: { moveSize: null, pBig: null } })).toEqual(['pass row']);
    expect(check({ moves, shown: {} })).toEqual(['pass row']);
    expect(check({ moves, shown: shownAs(HONEST) })).toEqual(['fail row.moveSize', 'fail row.pBig']);
    expect(check({ moves })).toEqual(['unknown move, not due']);
  }
});

describe('fails where the attested metadata states', () => {
  it.each([
    ['another probability', { pBig: HONEST.pBig + 3e-5 }, 'pBig'],
    ['another width', { width80: HONEST.width80 + 4e-6 }, 'width80'],
    ['another width of 90 %', { width90: HONEST.width90 - 4e-6 }, 'width90'],
    ['the limit of another horizon', { bigMove: getBigMove(7) }, 'bigMove'],
    ['a size that its limits contradict', { moveSize: 'WILD' }, 'moveSize'],
    ['limits that its size contradicts', { calmUpTo: HONEST.width80 }, 'moveSize'],
  ])('%s', (_, change, field) => {
    expect(check({ moves: { '1d': { ...HONEST, ...change } } })).toEqual([`fail metadata.${field}`]);
  });

  it('a version whose distribution is not opened', () => {
    expect(check({ moves: { '1d': HONEST }, openings: [buildOpening(400, 0, 'm0-d1.2024-08-01')] })).toEqual(['fail modelVersion']);
  });

  it('no readable figures', () => {
    for (const move of [{}, { ...HONEST, pBig: null }, { ...HONEST, wildFrom: undefined }, { ...HONEST, modelVersion: 1 }, 'none']) {
      expect(check({ moves: { '1d': move } })).toEqual(['fail moves']);
    }
  });
});

it('fails where the row shows another size or probability, or omits them', () => {
  const moves = { '1d': HONEST };
  expect(check({ moves, shown: { ...shownAs(HONEST), pBig: HONEST.pBig + 1e-6 } })).toEqual(['fail row.pBig', 'pass metadata']);
  expect(check({ moves, shown: { ...shownAs(HONEST), moveSize: 'CALM' } })).toEqual(['fail row.moveSize', 'pass metadata']);
  expect(check({ moves, shown: {} })).toEqual(['fail row.moveSize', 'fail row.pBig', 'pass metadata']);
});

it('metadata that is not the attested one proves nothing', () => {
  expect(check({ moves: { '1d': HONEST }, shown: shownAs(HONEST), attested: `0x${'22'.repeat(32)}` })).toEqual(['unknown move, not due']);
});

it('follows from the quantiles whatever P(up) has shifted them by', () => {
  const horizon = fc.constantFrom(1, 2, 3, 7);
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 3_000 }), fc.integer({ min: -30_000, max: 30_000 }), horizon, (step, shift, horizonDays) => {
      const moves = { [`${horizonDays}d`]: buildMove(step, horizonDays) };
      expect(check({ moves, openings: [buildOpening(step, shift)], horizonDays })).toEqual(['pass metadata']);
    }),
  );
});
