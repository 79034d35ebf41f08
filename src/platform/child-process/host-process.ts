import { type ErrorCode, getErrorMessage, isOracleError } from '../errors.ts';

/** The one message of a host to its parent over the IPC channel. */
export type HostMessage = { ready: unknown } | { error: HostFailure };

/** A serialized error; `code` is absent if it was no `OracleError`. */
export interface HostFailure {
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
