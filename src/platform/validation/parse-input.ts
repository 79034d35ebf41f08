import type { z } from 'zod';
import { OracleError } from '../errors.ts';

export interface InputLabels {
  /** Name of a field's kind, e.g. `query parameter`. */
  kind: string;
  /** Name of the field for errors of the whole value. */
  root: string;
}

/** Parses external input. @throws OracleError INPUT_INVALID naming the first invalid field */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown, { kind, root }: InputLabels): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: formatIssue });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = truncateField(issue?.path.length ? issue.path.join('.') : (getUnknownKey(issue) ?? root));
  throw new OracleError('INPUT_INVALID', `${kind} "${field}": ${issue?.message ?? 'not valid'}`, { field });
}

/** Messages for schemas without their own. */
const formatIssue: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is missing' : `must be of the type ${issue.expected}`;
  return issue.code === 'unrecognized_keys' ? 'is not known here' : undefined;
};

function getUnknownKey(issue: z.core.$ZodIssue | undefined): string | undefined {
  return issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
}

/** Field names may come from the client, at any length. */
function truncateField(field: string): string {
  return field.length > 100 ? `${field.slice(0, 100)}...` : field;
}
