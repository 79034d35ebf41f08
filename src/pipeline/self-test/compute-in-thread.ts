import { Worker } from 'node:worker_threads';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type InputFrame } from '../../forecast/input-frame.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ComputationName, ComputeInput, TimedReport } from './computations.ts';

/** What a thread is given. */
export interface ComputeThreadInput {
  input: ComputeInput;
  names: readonly ComputationName[];
}

export interface ComputeThreadOptions {
  /** Ends the thread. */
  signal: AbortSignal;
  /** For each report when it is there. */
  onReport?(computed: TimedReport): void;
  /** Default: five minutes. */
  timeoutMs?: number;
  /** The module that the thread runs. Default: `compute.ts`. */
  entry?: URL;
}

/** Many times what they take, also on a machine that has other things to do. */
const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** The id of a thread that is no more. */
const ENDED_THREAD_ID = -1;
/** Of which a full history with all its variants takes a tenth. */
const MAX_MEMORY_MB = 1_024;

/**
 * Computes reports in a thread of its own, so that whoever has requests to answer goes on answering them.
 * @throws OracleError SHUTTING_DOWN when the process stops; INTERNAL, in words, when the thread fails, ends early or takes too long
 */
export function computeInThread({ input, names }: ComputeThreadInput, options: ComputeThreadOptions): Promise<TimedReport[]> {
  const { signal, onReport, timeoutMs = DEFAULT_TIMEOUT_MS, entry = new URL('./compute-worker.ts', import.meta.url) } = options;
  if (signal.aborted) return Promise.reject(shuttingDownError());
  const { promise, resolve, reject } = Promise.withResolvers<TimedReport[]>();
  const { copy, buffers } = copyInput(input);
  // Nothing of the environment: what it may hold is no business of a computation.
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
  // It ends by itself when it has nothing left to do: to be ended in that moment is more than every version of Node survives.
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

/** Of what was thrown in there nothing is told: whoever reads why a self-test failed may be anybody. */
function formatThreadError(error: unknown): string {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? `the thread needs more than ${MAX_MEMORY_MB} MB` : 'the thread failed; the log says why';
}

/** The memory of frames is shared with others, who go on reading it: the thread gets copies, handed over. */
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
