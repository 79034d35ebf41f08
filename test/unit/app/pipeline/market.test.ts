import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { composeMarket } from '../../../../src/app/pipeline/market.ts';
import type { ProcessContext } from '../../../../src/app/process-context.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated/feed.ts';
import { loadConfig } from '../../../../src/platform/config/config.ts';
import type { Config } from '../../../../src/platform/config/settings.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { createShutdown } from '../../../../src/platform/shutdown.ts';

const log = createLog({ level: 'silent', secrets: [] });

/** A simulated market needs nothing of the database. */
const compose = (WAGERS: Config['WAGERS']) => {
  const frame: ProcessContext = { config: { ...loadConfig({}), WAGERS }, log, shutdown: createShutdown({ log }) };
  return composeMarket(frame, {} as Db, openSimulatedFeed({ seed: 3 }));
};

it('a market of a feed collects nothing', async () => {
  const { market, live } = await compose('paper');
  expect([market.source, live]).toEqual(['simulated (seed 3)', null]);
});

it('wagers at Polymarket are refused on any market that is not live', async () => {
  await expect(compose('polymarket')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    field: 'WAGERS',
    message: expect.stringContaining('not simulated (seed 3)'),
  });
});
