import { z } from 'zod';
import { type Infrastructure, openInfrastructure, type StartupContext } from '../app/infrastructure.ts';
import { ERROR_CODES, isOracleError, type OracleError } from '../errors.ts';
import { createOperatorFetch } from '../platform/outbound/operator.ts';
import type { ServiceProbe } from './local-service.ts';

export function parseOrFail<Command>(parse: () => Command | null, exitCode: number): Command | null {
  try {
    return parse();
  } catch (error) {
    failWith(error, exitCode);
    return null;
  }
}

export function failWith(error: unknown, exitCode: number): void {
  if (!isOracleError(error)) throw error;
  process.stderr.write(`${[error.message, error.suggestedAction].filter(Boolean).join('\n')}\n`);
  process.exitCode = exitCode;
}

/** Opens database and chain, or attaches to those of a service that runs on the same data folder. */
export async function openOrAttach<Opened>(context: StartupContext, open: (context: StartupContext) => Promise<Opened>): Promise<Opened> {
  try {
    return await open(context);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE')) throw error;
    return open({ ...context, config: { ...context.config, chainMode: 'attached' } });
  }
}

/** Database and chain without the service. */
export function openStorage({ config, log, shutdown, progress }: StartupContext): Promise<Infrastructure> {
  const onFailure = (error: OracleError) => log.error({ err: error }, 'a part ended by itself');
  return openInfrastructure({ config, shutdown, progress, onFailure });
}

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
