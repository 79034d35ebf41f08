import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import { errorsOf } from './openapi/problem-replies.ts';
import { PROBLEMS } from './problem.ts';
import type { Route } from './route.ts';

/** Answered by every path, whichever operation it has. */
const EVERYWHERE: readonly ErrorCode[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'];

/** Every error that callers can get as a Markdown table, by rising status. */
export function problemsMarkdown(routes: readonly Route[]): string {
  const codes = [...new Set([...EVERYWHERE, ...routes.flatMap(errorsOf)])];
  const rows = codes.toSorted((a, b) => PROBLEMS[a].status - PROBLEMS[b].status || a.localeCompare(b, 'en')).map(rowOf);
  return ['| Status | `code` | Retry | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function rowOf(code: ErrorCode): string {
  const { status, title } = PROBLEMS[code];
  return `| ${status} | \`${code}\` | ${ERROR_CODES[code].retryable ? 'yes' : 'no'} | ${title} |`;
}
