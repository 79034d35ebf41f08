import { loadConfig } from '../platform/config/config.ts';
import { listSecretValues } from '../platform/config/settings.ts';
import { getErrorMessage, OracleError } from '../platform/errors.ts';
import { createLog, createLogCounts } from '../platform/log.ts';
import { createShutdown, stopOnSignals } from '../platform/shutdown.ts';
import { createStartupProgress } from '../platform/startup/startup-progress.ts';
import { connectTracer, flushSpans } from '../platform/tracing/otel.ts';
import { WATCHED_MESSAGES } from './metrics/watched-messages.ts';
import type { StartupContext } from './process-context.ts';

/** Runs work in a process context. An error is written to standard error by `formatError` and ends the process with `failureCode`. */
export async function runProcess(
  work: (context: StartupContext) => Promise<void>,
  failureCode = 1,
  formatError: (error: unknown) => string = formatStartupError,
): Promise<void> {
  let context: StartupContext | undefined;
  try {
    await connectTracer();
    context = openStartupContext();
    await work(context);
  } catch (error) {
    // A signal ends the process itself: errors of the work that its stop interrupts are not reported.
    if (context?.shutdown.signal.aborted) return;
    process.stderr.write(formatError(error));
    await context?.shutdown.stop('the start failed');
    process.exit(failureCode);
  }
}

function openStartupContext(): StartupContext {
  const config = loadConfig();
  const logCounts = createLogCounts(WATCHED_MESSAGES);
  const log = createLog({ level: config.LOG_LEVEL, secrets: listSecretValues(config), counts: logCounts });
  const shutdown = createShutdown({ log });
  // The first that is registered is the last that stops.
  shutdown.onStop('traces', flushSpans);
  stopOnSignals(shutdown, log);
  return { config, log, logCounts, shutdown, progress: createStartupProgress() };
}

export function formatStartupError(error: unknown): string {
  if (!(error instanceof OracleError)) return `${error instanceof Error ? error.stack : String(error)}\n`;
  const action = error.suggestedAction === undefined ? '' : `\n  -> ${error.suggestedAction}`;
  const hasLibraryMessage = ['INTERNAL', 'CHAIN_REVERTED', 'CHAIN_UNREACHABLE'].includes(error.code);
  const cause = hasLibraryMessage && error.cause !== undefined ? `\n  ${getErrorMessage(error.cause)}` : '';
  return `\n${error.code}: ${error.message}${cause}${action}\n`;
}
