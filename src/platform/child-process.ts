import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config.ts';
import { type ErrorCode, getErrorMessage, isOracleError, OracleError } from '../errors.ts';

interface ChildHostOptions {
  /** The host module, whose body is one call of `runHostProcess`. */
  module: URL;
  name: string;
  failureCode: ErrorCode;
  /** JSON value passed to the host's `open`, over the IPC channel: a process list does not show it. */
  payload?: unknown;
  readyTimeoutMs?: number;
  stopTimeoutMs?: number;
}

export interface ChildHost<Ready> {
  ready: Ready;
  pid: number;
  stop(): Promise<void>;
  /** Called once if the host exits without `stop`, even if it already has. */
  onExit(callback: (error: OracleError) => void): void;
}

interface WatchedChild {
  child: ChildProcess;
  name: string;
  exited: Promise<string>;
  outputTail(): string;
}

const TAIL_CHARS = 2_000;
const OUTPUT_GRACE_MS = 500;
/** MiB of a half; Node's default takes 130 MB for garbage. */
const YOUNG_HEAP = '--max-semi-space-size=2';

/** The child leads its own process group: Ctrl-C reaches only the parent, which drains before it stops its hosts. */
export async function startChildHost<Ready>(options: ChildHostOptions): Promise<ChildHost<Ready>> {
  const watched = forkChild(options);
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= stopChild(watched.child, watched.exited, options.stopTimeoutMs ?? 15_000));
  try {
    return {
      ready: await waitForReady<Ready>(watched, options),
      pid: watched.child.pid!,
      stop,
      onExit: (callback) => {
        watched.exited.then((how) => {
          if (stopping === undefined) callback(childFailedError(watched, options.failureCode, `ended unexpectedly (${how})`));
        });
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function forkChild({ module, name, payload }: ChildHostOptions): WatchedChild {
  const child = fork(fileURLToPath(module), [], {
    detached: true,
    execArgv: [YOUNG_HEAP],
    env: filterChildEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let tail = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL_CHARS);
    });
  }
  const exited = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    // `close` follows the last output, but not while a grandchild holds the pipes.
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('exit', (code, signal) => setTimeout(resolve, OUTPUT_GRACE_MS, signal ?? `exit code ${code}`).unref());
  });
  // A host that exited at once breaks the channel; `exited` reports it.
  child.send({ payload: payload ?? null }, () => {});
  return { child, name, exited, outputTail: () => tail.trim() };
}

async function waitForReady<Ready>(watched: WatchedChild, options: ChildHostOptions): Promise<Ready> {
  const timeoutMs = options.readyTimeoutMs ?? 30_000;
  const timer = new AbortController();
  const message = new Promise<HostMessage>((resolve) => {
    watched.child.once('message', resolve as (message: unknown) => void);
  });
  const timedOut = delay(timeoutMs, undefined, { signal: timer.signal }).then(
    () => `was not ready within ${timeoutMs / 1000} s`,
    () => '',
  );
  const outcome = await Promise.race([message, timedOut, watched.exited.then((how) => `ended before it was ready (${how})`)]);
  timer.abort();
  if (typeof outcome === 'string') throw childFailedError(watched, options.failureCode, outcome);
  if ('error' in outcome) throw toHostError(watched, options.failureCode, outcome.error);
  return outcome.ready as Ready;
}

function toHostError(watched: WatchedChild, failureCode: ErrorCode, error: HostFailure): OracleError {
  const { code, field, message, suggestedAction } = error;
  return code ? new OracleError(code, message, { field, suggestedAction }) : childFailedError(watched, failureCode, `failed: ${message}`);
}

function childFailedError({ name, outputTail }: WatchedChild, code: ErrorCode, what: string): OracleError {
  const output = outputTail();
  return new OracleError(code, `${name} ${what}${output && `; its last output: ${output}`}`);
}

const SYSTEM_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'NODE_ENV'];
/** Options of Node and glibc; `MALLOC_*` limits the memory that freed blocks retain. */
const RUNTIME_VARIABLES = ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'LD_LIBRARY_PATH'];
const CLOCK_SHIFT_VARIABLES = ['LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'FAKETIME', 'FAKETIME_SHARED', 'FAKETIME_DONT_FAKE_MONOTONIC'];
const ALLOWED_VARIABLES: ReadonlySet<string> = new Set([...SYSTEM_VARIABLES, ...RUNTIME_VARIABLES, ...CLOCK_SHIFT_VARIABLES]);

/** The environment of a child process, without the settings, which contain keys and secrets: these are passed explicitly. */
// biome-ignore lint/style/noProcessEnv: reads no setting and passes none on
export function filterChildEnvironment(environment: Environment = process.env): Record<string, string> {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] => ALLOWED_VARIABLES.has(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(kept);
}

/** The one message of a host to its parent over the IPC channel. */
type HostMessage = { ready: unknown } | { error: HostFailure };

/** A serialized error; `code` is absent if it was no `OracleError`. */
interface HostFailure {
  message: string;
  code?: ErrorCode;
  field?: string;
  suggestedAction?: string;
}

export interface OpenedHost<Ready> {
  ready: Ready;
  close(): Promise<void>;
}

/** An orphaned host has no parent to kill it when its close hangs. */
const CLOSE_TIMEOUT_MS = 30_000;

/** The body of a host module. Closes on SIGTERM, or when the channel breaks with a killed parent; ignores SIGINT, since the parent drains. */
export function runHostProcess<Payload, Ready>(open: (payload: Payload) => Promise<OpenedHost<Ready>>): void {
  let opening: Promise<OpenedHost<Ready>> | undefined;
  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS);
    process.exit(await closeHost(opening));
  };
  // The pipes break with the parent: a log line must not interrupt the close.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('SIGINT', () => {});
  process.on('SIGTERM', end);
  process.on('disconnect', end);
  process.once('message', (message: { payload: Payload }) => {
    if (ending) return;
    opening = open(message.payload);
    opening.then(
      ({ ready }) => sendToParent({ ready }),
      (error) => sendToParent({ error: toHostFailure(error) }, () => process.exit(1)),
    );
  });
}

async function closeHost(opening: Promise<OpenedHost<unknown>> | undefined): Promise<0 | 1> {
  try {
    await (await opening)?.close();
    return 0;
  } catch (error) {
    console.error(`close failed: ${getErrorMessage(error)}`);
    return 1;
  }
}

function sendToParent(message: HostMessage, sent: () => void = () => {}): void {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
  else sent();
}

function toHostFailure(error: unknown): HostFailure {
  const message = getErrorMessage(error);
  if (!isOracleError(error)) return { message };
  return { message, code: error.code, field: error.field, suggestedAction: error.suggestedAction };
}

export async function stopChild(child: ChildProcess, exited: Promise<unknown>, timeoutMs: number): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await exited;
  clearTimeout(timer);
}
