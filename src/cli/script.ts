import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Infrastructure, openInfrastructure, type StartupContext } from '../app/infrastructure.ts';
import { readDemoFile } from '../dev/demo.ts';
import { ERROR_CODES, isOracleError, OracleError } from '../errors.ts';
import { stopChild } from '../platform/child-process.ts';
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
type ServiceProbe = { state: 'nothing' | 'up' | 'foreign' } | { state: 'starting'; detail: string };

interface LocalServiceOptions {
  url: string;
  probe(url: string): Promise<ServiceProbe>;
  /** Starts the service as a child; undefined when it must not be started from here. */
  start?: () => ChildProcess;
  maxWaitMs: number;
  writeNotice(line: string): void;
}

/** The service of this machine: a running one, or a child that ends with this process. */
export interface LocalService {
  /** Resolves once the service accepts requests. @throws OracleError STEP_WAITING, SERVICE_UNREACHABLE, CONFIG_INVALID */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const PROBE_INTERVAL_MS = 200;
const KILL_AFTER_MS = 20_000;

export function createLocalService({ url, probe, start, maxWaitMs, writeNotice }: LocalServiceOptions): LocalService {
  const stopping = new AbortController();
  let child: ReturnType<typeof watchExit> | undefined;
  let pendingStart: Promise<void> | undefined;
  let detail = 'it has just been started';

  function startService(): ChildProcess {
    if (start === undefined) throw serviceMissingError(url);
    writeNotice(`No service answers at ${url}: starting one.`);
    return start();
  }

  /** Probes until the service is up, whichever process runs it: of two programs that start at once, one finds the other's. */
  async function waitUntilUp(): Promise<void> {
    let started = child !== undefined && child.ended === undefined;
    for (;;) {
      // Read before the probe: a child that lost the race for the port has exited while another process answers there.
      const exitReason = child?.ended;
      const probed = await probe(url);
      if (probed.state === 'up') return;
      if (probed.state === 'foreign') throw foreignServiceError(url);
      if (probed.state === 'starting') detail = probed.detail;
      if (probed.state === 'nothing' && started && exitReason !== undefined) throw startFailedError(url, exitReason);
      if (probed.state === 'nothing' && !started) {
        child = watchExit(startService());
        started = true;
      }
      await delay(PROBE_INTERVAL_MS, undefined, { signal: stopping.signal });
    }
  }

  return {
    async ready() {
      if (stopping.signal.aborted) throw stoppingError();
      pendingStart ??= waitUntilUp().finally(() => {
        pendingStart = undefined;
      });
      const waited = await Promise.race([pendingStart, delay(maxWaitMs, 'waited' as const, { ref: false })]);
      if (waited === 'waited') throw stillStartingError(url, detail);
    },
    async stop() {
      stopping.abort(stoppingError());
      await pendingStart?.catch(() => {});
      if (child !== undefined) await stopChild(child.process, child.exited, KILL_AFTER_MS);
    },
  };
}

/** Its output goes to standard error, since standard output carries the protocol; in a process group of its own, Ctrl-C does not reach it. */
export function forkService(module: URL, environment: Readonly<Record<string, string | undefined>>): ChildProcess {
  return fork(module, [], { detached: true, execArgv: [], env: environment, stdio: ['ignore', 2, 2, 'ipc'] });
}

function watchExit(process: ChildProcess) {
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  const child = { process, ended: undefined as string | undefined, exited };
  const end = (exitReason: string) => {
    child.ended ??= exitReason;
    resolve();
  };
  process.once('error', (error) => end(error.message));
  process.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
  return child;
}

function foreignServiceError(url: string): OracleError {
  return new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service`, {
    field: 'PORT',
    suggestedAction: 'Set PORT to where the service runs or may run, or name its address by --url or ORACLE_URL.',
  });
}

function serviceMissingError(url: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `No service answers at ${url}`, {
    suggestedAction: 'Start it with npm start, or name its address by --url or ORACLE_URL.',
  });
}

function startFailedError(url: string, exitReason: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `No service answers at ${url}, and the one that was started has ended (${exitReason})`, {
    suggestedAction: 'Its error is on the standard error of this program. The next call starts it again.',
  });
}

function stillStartingError(url: string, detail: string): OracleError {
  return new OracleError('STEP_WAITING', `The service at ${url} is starting: ${detail}`, {
    retryAfterSeconds: 10,
    suggestedAction: 'Repeat the call in a moment: the first start replays history, later ones take seconds.',
  });
}

function stoppingError(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'This program is stopping');
}
