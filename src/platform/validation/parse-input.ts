import type { z } from 'zod';
import { OracleError } from '../errors.ts';

export interface InputLabels {
  /** What one field is called, e.g. `query parameter`. */
  kind: string;
  /** What is at fault when no field is. */
  root: string;
}

/** What came from outside, as its schema declares it. @throws OracleError INPUT_INVALID naming the first field at fault */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { kind: what, root: whole }: InputLabels,
): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: formatIssue });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = truncateField(issue?.path.length ? issue.path.join('.') : (getUnknownKey(issue) ?? whole));
  throw new OracleError('INPUT_INVALID', `${what} "${field}": ${issue?.message ?? 'not valid'}`, { field });
}

/** What is said where a schema has no words of its own. */
const formatIssue: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is missing' : `must be of the type ${issue.expected}`;
  return issue.code === 'unrecognized_keys' ? 'is not known here' : undefined;
};

function getUnknownKey(issue: z.core.$ZodIssue | undefined): string | undefined {
  return issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
}

/** A name may be the caller's own, of any length. */
function truncateField(field: string): string {
  return field.length > 100 ? `${field.slice(0, 100)}...` : field;
}
