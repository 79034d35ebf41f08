import { z } from 'zod';
import { type Infrastructure, openInfrastructure, type StartupContext } from '../app/infrastructure.ts';
import { readDemoFile } from '../dev/demo.ts';
import { ERROR_CODES, isOracleError, type OracleError } from '../errors.ts';
import { connectMongo } from '../platform/mongo.ts';
import { createOperatorFetch } from '../platform/outbound/operator.ts';

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

/** The storage of the settings, of a running service too, with its database. @throws OracleError CONFIG_INVALID for a data folder that was never set up */
export async function openExistingStorage(context: StartupContext) {
  const { config, shutdown } = context;
  // Fails for such a folder, instead of setting it up.
  if (config.chainMode !== 'real') await readDemoFile(config.DATA_DIR);
  const infrastructure = await openOrAttach(context, openStorage);
  const { db, close } = await connectMongo(infrastructure.mongodbUri);
  shutdown.onStop('database connection', close);
  return { ...infrastructure, db };
}

/** As `runProcess`, for a command that is done with its work. @param work resolves to the exit code */
export async function runToEnd(
  work: (context: StartupContext) => Promise<number>,
  failureCode?: number,
  formatError?: (error: unknown) => string,
): Promise<void> {
  // Imported on demand: commands without a process of the service load less.
  const app = await import('../app/app.ts');
  const run = async (context: StartupContext) => {
    const exitCode = await work(context);
    await context.shutdown.stop('done');
    process.exit(exitCode);
  };
  return app.runProcess(run, failureCode, formatError);
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

/** `foreign`: another program listens at the URL. */
export type ServiceProbe = { state: 'nothing' | 'up' | 'foreign' } | { state: 'starting'; detail: string };
