import { ERROR_CODES, type ErrorCode } from '../../../platform/errors.ts';
import { listErrorCodes } from '../openapi/problem-replies.ts';
import { PROBLEMS } from '../server/problems/problem.ts';
import type { Route } from '../server/route.ts';

/** Errors of any path, declared or not. */
const EVERYWHERE: readonly ErrorCode[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'];

/** Markdown table of all errors that clients can receive, by status. */
export function renderProblemsTable(routes: readonly Route[]): string {
  const codes = [...new Set([...EVERYWHERE, ...routes.flatMap(listErrorCodes)])];
  const rows = codes.toSorted((a, b) => PROBLEMS[a].status - PROBLEMS[b].status || a.localeCompare(b, 'en')).map(renderProblemRow);
  return ['| Status | `code` | Retry | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function renderProblemRow(code: ErrorCode): string {
  const { status, title } = PROBLEMS[code];
  return `| ${status} | \`${code}\` | ${ERROR_CODES[code].retryable ? 'yes' : 'no'} | ${title} |`;
}
