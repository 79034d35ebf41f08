import { OracleError } from '../../platform/errors.ts';

/** Case-insensitive, stored in lower case. Without regex flags, which JSON Schema cannot express. */
export const REF_CODE_PATTERN = /^[a-zA-Z0-9][a-zA-Z0-9_-]{2,31}$/;
export const REF_CODE_RULE = '3 to 32 letters, digits, _ or -, of which the first is a letter or digit';

/** Converts a code to lower case. @throws OracleError INPUT_INVALID, without quoting the input */
export function parseRefCode(text: string): string {
  if (REF_CODE_PATTERN.test(text)) return text.toLowerCase();
  throw new OracleError('INPUT_INVALID', `A ref code has ${REF_CODE_RULE}`, { field: 'ref' });
}
