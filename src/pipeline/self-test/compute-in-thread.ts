import { Worker } from 'node:worker_threads';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type InputFrame } from '../../forecast/input-frame.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ComputationName, ComputeInput, TimedReport } from './computations.ts';

/** `workerData` of the thread. */
export interface ComputeThreadInput {
  input: ComputeInput;
  names: readonly ComputationName[];
}

export interface ComputeThreadOptions {
  /** Terminates the thread. */
  signal: AbortSignal;
  onReport?(computed: TimedReport): void;
  /** Default: five minutes. */
  timeoutMs?: number;
  /** Worker module. Default: `compute-worker.ts`. */
  entry?: URL;
}

/** Several times the expected duration on a loaded machine. */
const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** `threadId` of a worker that has exited. */
const ENDED_THREAD_ID = -1;
/** Ten times the memory of a full history with all variants. */
const MAX_MEMORY_MB = 1_024;

/**
 * Computes reports in a worker thread, so that the process keeps serving requests.
 * @throws OracleError SHUTTING_DOWN when the process stops; INTERNAL when the thread fails, exits early or times out
 */
export function computeInThread({ input, names }: ComputeThreadInput, options: ComputeThreadOptions): Promise<TimedReport[]> {
  const { signal, onReport, timeoutMs = DEFAULT_TIMEOUT_MS, entry = new URL('./compute-worker.ts', import.meta.url) } = options;
  if (signal.aborted) return Promise.reject(shuttingDownError());
  const { promise, resolve, reject } = Promise.withResolvers<TimedReport[]>();
  const { copy, buffers } = copyInput(input);
  // No environment variables: they may hold secrets that a computation does not need.
  const worker = new Worker(entry, {
    workerData: { input: copy, names } satisfies ComputeThreadInput,
    transferList: buffers,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    env: {},
  });
  const reports: TimedReport[] = [];
  const timer = setTimeout(() => reject(computationError(`not done within ${timeoutMs / 1_000} s`)), timeoutMs);
  const onAbort = () => reject(shuttingDownError());
  signal.addEventListener('abort', onAbort, { once: true });
  worker.on('message', (computed: TimedReport) => {
    reports.push(computed);
    onReport?.(computed);
  });
  worker.once('error', (error: unknown) => reject(computationError(formatThreadError(error), error)));
  // The worker exits by itself; terminating it during its exit crashes some Node versions.
  worker.once('exit', (code) => {
    if (reports.length === names.length) resolve(reports);
    else reject(computationError(`the thread ended with code ${code}`));
  });
  return promise.finally(async () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (worker.threadId !== ENDED_THREAD_ID) await worker.terminate();
  });
}

function shuttingDownError(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'The service is stopping: self-tests will be run at its next start');
}

function computationError(reason: string, cause?: unknown): OracleError {
  return new OracleError('INTERNAL', `Self-tests could not be computed: ${reason}`, { cause });
}

/** The reason of a failed self-test is public, so that the thrown message stays in the log. */
function formatThreadError(error: unknown): string {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? `the thread needs more than ${MAX_MEMORY_MB} MB` : 'the thread failed; the log says why';
}

/** Other readers share the memory of the frames: the thread gets copies, transferred without another copy. */
function copyInput({ frame, pointInTime, vintages }: ComputeInput): { copy: ComputeInput; buffers: ArrayBuffer[] } {
  const buffers: ArrayBuffer[] = [];
  const own = <T extends Float64Array | Int32Array>(values: T): T => {
    const copy = values.slice() as T & { buffer: ArrayBuffer };
    buffers.push(copy.buffer);
    return copy;
  };
  const ownFrame = (from: InputFrame): InputFrame => {
    const copy = { ...from };
    for (const column of DAILY_COLUMNS) copy[column] = own(from[column]);
    for (const column of BUSINESS_DAY_COLUMNS) copy[column] = { days: own(from[column].days), values: own(from[column].values) };
    return copy;
  };
  const known = pointInTime.map(({ day, frame: then }) => ({ day, frame: ownFrame(then) }));
  return { copy: { frame: ownFrame(frame), pointInTime: known, vintages }, buffers };
}
