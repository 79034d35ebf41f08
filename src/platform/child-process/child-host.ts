import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ErrorCode, OracleError } from '../errors.ts';
import { filterChildEnvironment } from './child-environment.ts';
import type { HostFailure, HostMessage } from './host-process.ts';
import { stopChild } from './stop-child.ts';

export interface ChildHostOptions {
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
