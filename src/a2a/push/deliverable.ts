import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { OracleError } from '../../errors.ts';
import { checkId } from '../check-message.ts';

/** Longest values of a push configuration, in characters; a token that is a JWT fits. */
const LONGEST = { token: 4_096, 'authentication.scheme': 64, 'authentication.credentials': 4_096 } as const;

/** What can be sent in a header as it is: printable ASCII, no space at the ends. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Checks all of a push configuration but its URL: what is sent in headers must fit there.
 * @throws OracleError INPUT_INVALID naming the field; it never repeats a token.
 */
export function requireDeliverable({ id, token, authentication }: TaskPushNotificationConfig): void {
  const { scheme = '', credentials = '' } = authentication ?? {};
  if (id !== '') checkId(id, 'id');
  check('token', token, HEADER_VALUE, 'ASCII characters that can stand in a header');
  check('authentication.scheme', scheme, TOKEN, 'the characters of an authentication scheme, for example Bearer');
  check('authentication.credentials', credentials, HEADER_VALUE, 'ASCII characters that can stand in a header');
  // Without its scheme it could not be sent, and the receiver would wonder.
  if (scheme === '' && credentials !== '') {
    throw invalid('authentication.scheme', 'must be there when there are credentials, for example Bearer');
  }
}

function check(field: keyof typeof LONGEST, value: string, allowed: RegExp, words: string): void {
  if (value === '') return;
  if (value.length > LONGEST[field]) throw invalid(field, `must have at most ${LONGEST[field]} characters`);
  if (!allowed.test(value)) throw invalid(field, `must consist of ${words}`);
}

function invalid(field: string, rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `"${field}" of the push notification configuration ${rule}`, { field });
}
