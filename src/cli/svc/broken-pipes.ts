const stdoutClosed = new AbortController();

/** Aborted when the reader of standard output closes its end. */
export const stdoutClosedSignal: AbortSignal = stdoutClosed.signal;

/** EPIPE (`| head`) must not end the process: the exit code still carries the result, and a payment must not be cut off. */
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
