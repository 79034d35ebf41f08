import { afterAll, beforeAll, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { parseDay } from '../../../src/forecast/day.ts';
import { StepRunStore } from '../../../src/pipeline/step-runs.ts';
import { createLog } from '../../../src/platform/log.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

const DAY = parseDay('2026-03-15');
const CONTEXT = contextAt(Date.parse('2026-03-15T03:00:00Z'));
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

it('serves the reason of a failed step only for own errors; others are logged once per new message', async () => {
  const lines: string[] = [];
  const runs = new StepRunStore(database.db, createLog({ level: 'info', secrets: [], write: (line) => lines.push(line) }));
  const failing = (error: Error) =>
    runs.runAndRecord('brief', DAY, CONTEXT, async () => {
      throw error;
    });
  const outcome = 'it failed; the log says why';
  expect(await failing(new Error("open '/home/operator/prices'"))).toEqual({ failed: outcome });
  expect(await runs.findLastReason('brief', DAY)).toBe(outcome);
  expect(await runs.listLatest()).toMatchObject([{ state: 'failed', reason: outcome }]);
  await failing(new Error("open '/home/operator/prices'"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('/home/operator/prices');
  await failing(new Error('not a function'));
  expect(lines[1]).toContain('not a function');

  expect(await failing(new OracleError('PRICE_UNAVAILABLE', 'no fresh price'))).toEqual({ waiting: 'no fresh price' });
  expect(await runs.listLatest()).toMatchObject([{ state: 'waiting', reason: 'no fresh price', unexpected: null }]);
});
