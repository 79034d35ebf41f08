import { isOracleError, type OracleError } from '../../platform/errors.ts';
import { UsageError } from '../../platform/usage-error.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { printNoticeLines } from './print.ts';
import { wrapText } from './text/facts.ts';

const MAX_CHARS = 600;
const MAX_STACK_LINES = 8;

/** Says in words what went wrong and what to do. @returns the exit code */
export function printError(error: unknown, context: CliContext): number {
  const [what, todo] = isOracleError(error) ? formatKnownError(error) : formatUnexpectedError(error);
  printNoticeLines(context, (writer) => [
    ...wrapText(what.slice(0, MAX_CHARS), writer.width).map((line) => writer.paint('red', line)),
    ...todo.flatMap((hint) => wrapText(hint.slice(0, MAX_CHARS), writer.width)),
  ]);
  return error instanceof UsageError ? EXIT.misused : EXIT.failed;
}

function formatKnownError(error: OracleError): [string, string[]] {
  const what = error instanceof UsageError || error.code === 'INTERNAL' ? error.message : `${error.code}: ${error.message}`;
  return [what, [getHint(error)].filter((hint) => hint !== undefined)];
}

/** What to do with this program, where the service can only say what to do in general. */
function getHint({ code, suggestedAction, retryAfterSeconds }: OracleError): string | undefined {
  if (code === 'UNAUTHENTICATED') return `Log in with svc login.${suggestedAction === undefined ? '' : ` (${suggestedAction})`}`;
  if (code === 'RATE_LIMITED' && retryAfterSeconds !== undefined) return `Try again in ${retryAfterSeconds} s.`;
  if (code === 'SERVICE_UNREACHABLE') return 'Start it with npm start, or name its address with --url or SERVICE_URL.';
  return suggestedAction;
}

/** A fault of this program; an endpoint's URL may hold an access key. */
function formatUnexpectedError(error: unknown): [string, string[]] {
  const text = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const [what, ...where] = text.replaceAll(/\b(https?|wss?):\/\/\S+/g, '<endpoint>').split('\n');
  return [`This was not expected: ${what}`, where.slice(0, MAX_STACK_LINES)];
}
