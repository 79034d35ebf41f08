import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import type { ReadGasCosts } from '../chain/contracts.ts';
import { OracleError } from '../errors.ts';
import { buildContaminationReport, type PointInTimeFrame, type Vintages } from '../forecast/backtest/contamination.ts';
import { buildOverfittingReport } from '../forecast/backtest/overfitting.ts';
import { buildStabilityReport } from '../forecast/backtest/stability.ts';
import { buildWalkForwardReport } from '../forecast/backtest/walk-forward.ts';
import { computeFeatures } from '../forecast/features.ts';
import type { FeatureTable, InputFrame } from '../forecast/inputs.ts';
import { filterChildEnvironment } from '../platform/child-process.ts';
import type { SelfTestStore } from '../record/self-tests.ts';

export interface ComputeRequest {
  input: ComputeInput;
  names: readonly ComputationName[];
}

/** Messages from the child process: one for each report, or the error that ends it. */
export type ComputeMessage = { computed: TimedReport } | { error: Error };

export interface ComputeProcessOptions {
  signal: AbortSignal;
  onReport?(computed: TimedReport): void;
  timeoutMs?: number;
  entry?: URL;
}

/** Several times the expected duration on a loaded machine. */
const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** Ten times the memory of a full history with all variants. */
const MAX_MEMORY_MB = 1_024;

/** Not a worker thread: V8 may abort the whole process (nodejs/node#64500). @throws OracleError SHUTTING_DOWN, or INTERNAL if it fails */
export async function computeInProcess(request: ComputeRequest, options: ComputeProcessOptions): Promise<TimedReport[]> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  if (signal.aborted) throw shuttingDownError();
  const { promise, resolve, reject } = Promise.withResolvers<TimedReport[]>();
  const child = forkChild(options.entry ?? new URL('./compute-child.ts', import.meta.url));
  const closed = new Promise<void>((done) => {
    child.once('close', () => done());
    child.once('error', (error) => {
      reject(computationError('the child process could not be started; the log says why', error));
      if (child.pid === undefined) done();
    });
  });
  collectReports(child, request, { resolve, reject, onReport: options.onReport });
  const timer = setTimeout(() => reject(computationError(`not done within ${timeoutMs / 1_000} s`)), timeoutMs);
  const onAbort = () => reject(shuttingDownError());
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    child.kill('SIGKILL');
    await closed;
  }
}

/** Of its own process group: Ctrl-C reaches only the parent, which stops its children. */
function forkChild(entry: URL): ChildProcess {
  return fork(fileURLToPath(entry), [], {
    detached: true,
    // V8's helper threads would take a sixth more of the processor, which requests need.
    execArgv: [`--max-old-space-size=${MAX_MEMORY_MB}`, '--max-semi-space-size=8', '--no-maglev', '--single-threaded'],
    env: filterChildEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
}

interface Collector extends Pick<ComputeProcessOptions, 'onReport'> {
  resolve(reports: TimedReport[]): void;
  reject(error: OracleError): void;
}

function collectReports(child: ChildProcess, request: ComputeRequest, { resolve, reject, onReport }: Collector): void {
  const reports: TimedReport[] = [];
  child.on('message', (message: ComputeMessage) => {
    // The reason of a failed self-test is public, so that the thrown message stays in the log.
    if ('error' in message) return reject(computationError('the child process failed; the log says why', message.error));
    reports.push(message.computed);
    onReport?.(message.computed);
  });
  child.once('close', (code, signal) => {
    if (reports.length === request.names.length) resolve(reports);
    else reject(computationError(`the child process ended ${signal === null ? `with code ${code}` : `by ${signal}`}`));
  });
  // A child that exited at once breaks the channel; `close` reports it.
  child.send(request, () => {});
}

function shuttingDownError(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'The service is stopping: self-tests will be run at its next start');
}

function computationError(reason: string, cause?: unknown): OracleError {
  return new OracleError('INTERNAL', `Self-tests could not be computed: ${reason}`, { cause });
}

interface ComputeInput {
  /** Ends with the last complete day before the due time. */
  frame: InputFrame;
  pointInTime: readonly PointInTimeFrame[];
  vintages: Vintages;
}

type Computation<Report> = (input: ComputeInput & { features: FeatureTable }) => Report;

/** Computations on history alone, by name: pure, and too slow for a process that serves requests. */
export const COMPUTATIONS = {
  'walk-forward': ({ frame, features }) => buildWalkForwardReport({ closes: frame.close, features, frame }),
  overfitting: ({ frame, features }) => buildOverfittingReport({ closes: frame.close, features }),
  contamination: (input) => buildContaminationReport(input),
  stability: ({ frame, features }) => buildStabilityReport({ closes: frame.close, features }),
} satisfies Record<string, Computation<object>>;

export type ComputationName = keyof typeof COMPUTATIONS;

export type ComputedReport<Name extends ComputationName> = ReturnType<(typeof COMPUTATIONS)[Name]>;

export type TimedReport = { [Name in ComputationName]: { name: Name; report: ComputedReport<Name>; durationMs: number } }[ComputationName];

export function* computeReports(input: ComputeInput, names: readonly ComputationName[]): Generator<TimedReport> {
  const features = computeFeatures(input.frame);
  for (const name of names) {
    const started = performance.now();
    const report = COMPUTATIONS[name]({ ...input, features });
    yield { name, report, durationMs: Math.round(performance.now() - started) } as TimedReport;
  }
}

export interface SelfTestDeps {
  store: SelfTestStore;
  /** Computes reports off the main thread. Errors as `computeInProcess`. */
  compute(input: ComputeInput, names: readonly ComputationName[]): Promise<TimedReport[]>;
  queue: SingleFlightQueue;
  codeVersion: string;
  /** Start of this process: results of other code from before it are recomputed. */
  startedAt: Date;
  /** Of the wallets that write the record on chain. */
  gasCosts: ReadGasCosts;
}

/** Runs long computations of this process one at a time; callers with the same key share one run. */
export class SingleFlightQueue {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #inFlight = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#inFlight.get(key);
    if (known !== undefined) return known as Promise<Result>;
    const run = this.#queue.add(work).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, run);
    return run;
  }
}
