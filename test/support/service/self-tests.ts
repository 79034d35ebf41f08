import { expect, vi } from 'vitest';
import { parseDay } from '../../../src/forecast/day.ts';
import { type InputFrame, sliceFrame } from '../../../src/forecast/inputs.ts';
import { createLiveContext } from '../../../src/pipeline/forecaster.ts';
import { catchUpSelfTests, type StepReport } from '../../../src/pipeline/pipeline.ts';
import { computeReports, type SelfTestDeps } from '../../../src/pipeline/self-test-process.ts';
import type { TestService } from './service.ts';

/** A history of a year: reports of it take a moment, and say that it is too short for any fold. */
const SHORT_THROUGH = parseDay('2011-08-01');

export const shortly = (frame: InputFrame): InputFrame => sliceFrame(frame, SHORT_THROUGH);

/** Computes reports at once, of the beginning of a history only: for suites that want results to be there, whatever they say. */
export const computeShortly: SelfTestDeps['compute'] = async ({ frame }, names) => [
  ...computeReports({ frame: shortly(frame), pointInTime: [], vintages: 'made' }, names),
];

/** Runs the self-tests of a service that are due, each of a short history. */
export async function runSelfTestsShortly({ pipeline }: TestService, now: Date): Promise<StepReport[]> {
  pipeline.selfTests.compute = computeShortly;
  const reports = await catchUpSelfTests(pipeline, createLiveContext(pipeline, now));
  const undone = reports.filter(({ outcome }) => !('done' in outcome));
  if (undone.length > 0) throw new Error(`self-tests are not done: ${JSON.stringify(undone)}`);
  return reports;
}

const SELF_TEST_PATHS = ['walk-forward', 'contamination', 'stability', 'polymarket-comparison'].map((name) => `/api/self-test/${name}`);

/** What a running service answers on its self-test paths, once it has computed them: the status first. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
export async function selfTestAnswers(get: (path: string) => Promise<any>): Promise<any[]> {
  const status = await vi.waitFor(
    async () => {
      const body = await get('/api/self-test/status');
      expect(body.tests.filter(({ state }: { state: string }) => state !== 'done')).toEqual([]);
      return body;
    },
    { timeout: 120_000, interval: 200 },
  );
  return [status, ...(await Promise.all(SELF_TEST_PATHS.map(get)))];
}
