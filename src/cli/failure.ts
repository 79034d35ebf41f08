import { Misuse } from '../audit/misuse.ts';
import { isOracleError, type OracleError } from '../errors.ts';
import { EXIT } from './exit-codes.ts';
import type { Host } from './host.ts';
import { tellLines } from './print.ts';
import { wrapped } from './text/facts.ts';

const LONGEST = 600;
const LINES_OF_UNEXPECTED = 8;

/** Says in words what went wrong and what to do. @returns the exit code */
export function explain(error: unknown, host: Host): number {
  const [what, todo] = isOracleError(error) ? wordsOf(error) : unexpected(error);
  tellLines(host, (pen) => [
    ...wrapped(what.slice(0, LONGEST), pen.width).map((line) => pen.paint('red', line)),
    ...todo.flatMap((hint) => wrapped(hint.slice(0, LONGEST), pen.width)),
  ]);
  return error instanceof Misuse ? EXIT.misused : EXIT.failed;
}

function wordsOf(error: OracleError): [string, string[]] {
  const what = error instanceof Misuse || error.code === 'INTERNAL' ? error.message : `${error.code}: ${error.message}`;
  return [what, [hintFor(error)].filter((hint) => hint !== undefined)];
}

/** What to do with this program, where the service can only say what to do in general. */
function hintFor({ code, suggestedAction, retryAfterSeconds }: OracleError): string | undefined {
  if (code === 'UNAUTHENTICATED') return `Log in with svc login.${suggestedAction === undefined ? '' : ` (${suggestedAction})`}`;
  if (code === 'RATE_LIMITED' && retryAfterSeconds !== undefined) return `Try again in ${retryAfterSeconds} s.`;
  if (code === 'SERVICE_UNREACHABLE') return 'Start it with npm start, or name its address with --url or SERVICE_URL.';
  return suggestedAction;
}

/** A fault of this program; an endpoint's URL may hold an access key. */
function unexpected(error: unknown): [string, string[]] {
  const text = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const [what, ...where] = text.replaceAll(/\b(https?|wss?):\/\/\S+/g, '<endpoint>').split('\n');
  return [`This was not expected: ${what}`, where.slice(0, LINES_OF_UNEXPECTED)];
}
