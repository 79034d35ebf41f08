import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChallengeFigures, ChampionLog } from '../../../../src/record/challenge.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const AT = new Date('2026-11-23T00:00:00Z');
let database: TestDatabase;
let log: ChampionLog;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  log = new ChampionLog(database.db);
});

type Verdict = ChallengeFigures['comparisons'][number]['verdict'];

const figuresOf =
  (...verdicts: Verdict[]) =>
  async () =>
    verdicts.map((verdict, index): ChallengeFigures => {
      const values = { eBetter: 2, eWorse: 0.5, maxBetter: 3.25, maxWorse: 1.5 };
      const comparison = { challenger: 'm1', against: 'm0-d1', days: 90, throughDate: '2026-11-20', threshold: 20, ...values } as const;
      const horizonDays = index === 0 ? 1 : 2;
      return { horizon: `${horizonDays}d`, horizonDays, comparisons: [{ ...comparison, verdict, since: null }], distributions: [] };
    });
const promote = (readFigures: () => Promise<ChallengeFigures[]>, force = false) => log.apply({ champion: 'm1', force }, readFigures, AT);

describe('a change of champion', () => {
  it('is recorded with its evidence once a horizon proves the challenger better', async () => {
    await promote(figuresOf('proven better at 5 %', 'not proven'));
    await promote(figuresOf('not proven'));
    expect(await log.list()).toMatchObject([
      { from: 'm0-d1', to: 'm1', at: AT, forced: false, evidence: [{ horizon: '1d', maxBetter: 3.25 }, { horizon: '2d' }] },
    ]);
  });

  it.each([
    ['is not proven', figuresOf('not proven', 'not proven')],
    ['is proven at one horizon and disproven at another', figuresOf('proven better at 5 %', 'proven worse')],
    ['has no compared day', async () => []],
  ])('is refused, naming the setting, where it %s', async (_, readFigures) => {
    const refused = promote(readFigures);
    await expect(refused).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'MODEL_CHAMPION' });
    expect(await log.list()).toEqual([]);
  });

  it('is marked for ever where it is forced', async () => {
    await promote(figuresOf('not proven'), true);
    await log.apply({ champion: 'm0-d1', force: false }, figuresOf('proven worse'), AT);
    expect(await log.list()).toMatchObject([
      { to: 'm1', forced: true },
      { from: 'm1', to: 'm0-d1', forced: false },
    ]);
  });

  it('happens once for workers that start together', async () => {
    const proven = figuresOf('proven better at 5 %');
    await Promise.all([promote(proven), promote(proven), promote(proven)]);
    expect(await log.list()).toHaveLength(1);
  });

  it('is none as long as the settings name the champion', async () => {
    await log.apply({ champion: 'm0-d1', force: true }, figuresOf('not proven'), AT);
    expect(await log.list()).toEqual([]);
  });
});
