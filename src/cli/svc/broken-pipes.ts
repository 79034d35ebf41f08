const stdoutClosed = new AbortController();

/** Aborted when nobody reads standard output any more. */
export const stdoutClosedSignal: AbortSignal = stdoutClosed.signal;

/**
 * Whoever read has gone (`| head`): what is under way comes to its end all the same, since how it ends says something, and a payment is not
 * cut off; what goes on for ever is interrupted.
 */
export function handleBrokenPipes(): void {
  const unlessClosed = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  };
  process.stderr.on('error', unlessClosed);
  process.stdout.on('error', (error) => {
    unlessClosed(error);
    stdoutClosed.abort();
  });
}
