import { isOracleError, type OracleError } from '../../../platform/errors.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import { EXIT } from '../command.ts';
import type { CliContext } from '../context.ts';
import { formatJson, printNoticeLines } from '../print.ts';
import { wrapText } from '../text/facts.ts';
import { maskEndpoints, toErrorDocument } from './error-document.ts';

const MAX_CHARS = 600;
const MAX_STACK_LINES = 8;

type ErrorContext = Pick<CliContext, 'err' | 'environment' | 'json'>;

/** Prints message and suggested action, or with `--json` a JSON document in one line. @returns the exit code */
export function printError(error: unknown, context: ErrorContext, findHint = getHint): number {
  if (context.json === true) {
    const document = toErrorDocument(error, isOracleError(error) ? findHint(error) : undefined);
    context.err.write(`${formatJson(context.err, document)}\n`);
  } else printErrorText(error, context, findHint);
  return error instanceof UsageError ? EXIT.misused : EXIT.failed;
}

function printErrorText(error: unknown, context: ErrorContext, findHint: typeof getHint): void {
  const [message, details] = isOracleError(error) ? formatKnownError(error, findHint(error)) : formatUnexpectedError(error);
  printNoticeLines(context, (writer) => [
    ...wrapText(message.slice(0, MAX_CHARS), writer.width).map((line) => writer.paint('red', line)),
    ...details.flatMap((line) => wrapText(line.slice(0, MAX_CHARS), writer.width)),
  ]);
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

function formatUnexpectedError(error: unknown): [string, string[]] {
  const text = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const [message, ...stack] = maskEndpoints(text).split('\n');
  return [`Unexpected error: ${message}`, stack.slice(0, MAX_STACK_LINES)];
}
