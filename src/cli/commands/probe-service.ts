import { z } from 'zod';
import { ERROR_CODES } from '../../platform/errors.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import type { ServiceProbe } from './local-service.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_000_000;
const READINESS = z.object({ checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().nullish() })) });
const PROBLEM = z.object({ success: z.literal(false), code: z.enum(Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[]) });

/** Probes `GET /ready`. A service without a price or chain counts as up, as it answers what it can. */
export async function probeService(url: string): Promise<ServiceProbe> {
  let response: Response;
  try {
    response = await createOperatorFetch({ base: url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })(new URL('/ready', url));
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? { state: 'starting', detail: 'it does not answer yet' } : { state: 'nothing' };
  }
  return classifyAnswer(await response.json().catch(() => null));
}

function classifyAnswer(body: unknown): ServiceProbe {
  const readiness = READINESS.safeParse(body);
  if (readiness.success) {
    const setup = readiness.data.checks.find(({ name }) => name === 'setup');
    return setup === undefined || setup.ok ? { state: 'up' } : { state: 'starting', detail: setup.detail ?? 'it is being set up' };
  }
  const problem = PROBLEM.safeParse(body);
  if (!problem.success) return { state: 'foreign' };
  return { state: 'starting', detail: problem.data.code === 'SHUTTING_DOWN' ? 'another one is still stopping' : 'it opens its parts' };
}
