import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { composeMarket } from '../../../src/app/core.ts';
import type { ProcessContext } from '../../../src/app/infrastructure.ts';
import { loadConfig } from '../../../src/config.ts';
import { openSimulatedFeed } from '../../../src/market/simulated.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createShutdown } from '../../../src/platform/shutdown.ts';
import type { Config } from '../../../src/settings.ts';
import { timeAt } from '../../support/clock/trusted-time.ts';

const log = createLog({ level: 'silent', secrets: [] });

/** A simulated market does not use the database. */
const compose = (WAGERS: Config['WAGERS']) => {
  const context: ProcessContext = { config: { ...loadConfig({}), WAGERS }, log, shutdown: createShutdown({ log }) };
  return composeMarket(context, {} as Db, openSimulatedFeed({ seed: 3 }), timeAt(0));
};

it('returns no collector for a simulated feed', async () => {
  const { market, live } = await compose('paper');
  expect([market.source, live]).toEqual(['simulated (seed 3)', null]);
});

it('throws CONFIG_INVALID for Polymarket wagers on a market that is not live', async () => {
  await expect(compose('polymarket')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    field: 'WAGERS',
    message: expect.stringContaining('not simulated (seed 3)'),
  });
});
