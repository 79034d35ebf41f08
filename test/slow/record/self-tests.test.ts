import { expect, it } from 'vitest';
import { ownService } from '../../support/service/own-service.ts';
import { selfTestAnswers } from '../../support/service/self-tests.ts';

const { start, stop, get } = ownService(9);

it('a fresh start computes all self-tests on its own, and the next start finds them', async () => {
  await start({ FEEDS: 'simulated' });
  const [status, walk, contamination, stability] = await selfTestAnswers(get);
  expect(status.overdue).toEqual([]);
  expect(walk).toMatchObject({ simulated: true, report: { healthy: true, note: null } });
  expect(walk.report.folds).toBeGreaterThanOrEqual(19);
  for (const { folds } of walk.report.horizons) expect(folds).toHaveLength(walk.report.folds);
  expect(contamination).toMatchObject({ report: { healthy: true } });
  expect(['STABLE', 'MODERATE', 'OVERFIT']).toContain(stability.result);
  expect(await stop('SIGTERM')).toBeLessThan(10_000);

  await start({ FEEDS: 'simulated' });
  const [, again] = await selfTestAnswers(get);
  // Midnight, or three in the morning, may have passed.
  if (again.dueAt === walk.dueAt) expect(again).toEqual(walk);
});

it('without a replay the service is ready first, and can be stopped while they are computed', async () => {
  const { url } = await start({ FEEDS: 'simulated', REPLAY_DAYS: '0' });
  const answer = await fetch(`${url}/api/self-test/walk-forward`);
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '60']);
  expect(await answer.json()).toMatchObject({ success: false, code: 'STEP_WAITING' });
  expect(await stop('SIGINT')).toBeLessThan(10_000);
});
