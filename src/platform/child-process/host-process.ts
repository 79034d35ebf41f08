import { type ErrorCode, getErrorMessage, isOracleError } from '../errors.ts';

/** What a host tells its parent over the IPC channel: once, either of the two. */
export type HostMessage = { ready: unknown } | { error: HostFailure };

/** An error on its way through the channel; `code` is absent when it was not an `OracleError`. */
export interface HostFailure {
  message: string;
  code?: ErrorCode;
  field?: string;
  suggestedAction?: string;
}

/** What the host's `open` hands back: the value for the parent, and how to end cleanly. */
export interface OpenedHost<Ready> {
  /** Must survive JSON. */
  ready: Ready;
  close(): Promise<void>;
}

/** An orphaned host has nobody to kill it when its close hangs. */
const CLOSE_TIMEOUT_MS = 30_000;

/**
 * The child's half of `startHost`: the whole body of a host module.
 *
 * Waits for the parent's payload, opens, reports, and closes on SIGTERM or when the channel breaks, which is how the
 * death of the parent by SIGKILL shows. SIGINT is ignored: the parent drains first, then says SIGTERM.
 */
export function runHostProcess<Payload, Ready>(open: (payload: Payload) => Promise<OpenedHost<Ready>>): void {
  let opening: Promise<OpenedHost<Ready>> | undefined;
  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS);
    process.exit(await closeHost(opening));
  };
  // Once the parent is gone its ends of the pipes are too; a log line must not interrupt the close.
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

/** Exit code 0 when nothing was open or all of it closed. */
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
