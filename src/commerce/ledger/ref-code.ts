import { OracleError } from '../../platform/errors.ts';

/** As callers may write it; kept in lower case. Without a flag, since the reference cannot tell one. */
export const REF_CODE_PATTERN = /^[a-zA-Z0-9][a-zA-Z0-9_-]{2,31}$/;

/** What a ref code looks like, in words. */
export const REF_CODE_RULE = '3 to 32 letters, digits, _ or -, of which the first is a letter or digit';

/** The code as it is kept: in lower case. @throws OracleError INPUT_INVALID, which does not repeat the text. */
export function parseRefCode(text: string): string {
  if (REF_CODE_PATTERN.test(text)) return text.toLowerCase();
  throw new OracleError('INPUT_INVALID', `A ref code has ${REF_CODE_RULE}`, { field: 'ref' });
}
