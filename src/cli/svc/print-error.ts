import { isOracleError, type OracleError } from '../../platform/errors.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { EXIT } from './command.ts';
import type { CliContext } from './context.ts';
import { printNoticeLines } from './print.ts';
import { wrapText } from './text/facts.ts';

const MAX_CHARS = 600;
const MAX_STACK_LINES = 8;

/** Prints the message and the suggested action. @returns the exit code */
export function printError(error: unknown, context: Pick<CliContext, 'err' | 'environment'>, findHint = getHint): number {
  const [message, details] = isOracleError(error) ? formatKnownError(error, findHint(error)) : formatUnexpectedError(error);
  printNoticeLines(context, (writer) => [
    ...wrapText(message.slice(0, MAX_CHARS), writer.width).map((line) => writer.paint('red', line)),
    ...details.flatMap((line) => wrapText(line.slice(0, MAX_CHARS), writer.width)),
  ]);
  return error instanceof UsageError ? EXIT.misused : EXIT.failed;
}

function formatKnownError(error: OracleError, hint: string | undefined): [string, string[]] {
  const message = error instanceof UsageError || error.code === 'INTERNAL' ? error.message : `${error.code}: ${error.message}`;
  return [message, hint === undefined ? [] : [hint]];
}

/** Replaces the general action of the service by the command of this program where there is one. */
function getHint({ code, suggestedAction, retryAfterSeconds }: OracleError): string | undefined {
  if (code === 'UNAUTHENTICATED') return `Log in with svc login.${suggestedAction === undefined ? '' : ` (${suggestedAction})`}`;
  if (code === 'RATE_LIMITED' && retryAfterSeconds !== undefined) return `Try again in ${retryAfterSeconds} s.`;
  if (code === 'SERVICE_UNREACHABLE') return 'Start it with npm start, or set --url or SERVICE_URL.';
  return suggestedAction;
}

/** Endpoint URLs are masked, since they may contain an access key. */
function formatUnexpectedError(error: unknown): [string, string[]] {
  const text = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const [message, ...stack] = text.replaceAll(/\b(https?|wss?):\/\/\S+/g, '<endpoint>').split('\n');
  return [`Unexpected error: ${message}`, stack.slice(0, MAX_STACK_LINES)];
}
