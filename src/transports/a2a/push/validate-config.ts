import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { OracleError } from '../../../platform/errors.ts';
import { checkId } from '../messages/parse-message.ts';

/** Maximum lengths in characters; a JWT fits into `token`. */
const MAX_CHARACTERS = { token: 4_096, 'authentication.scheme': 64, 'authentication.credentials': 4_096 } as const;

/** Printable ASCII without leading and trailing spaces. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 9110, section 5.6.2. */
const HTTP_TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Checks that token and credentials fit into headers. @throws OracleError INPUT_INVALID naming the field, without its value */
export function requireDeliverableConfig({ id, token, authentication }: TaskPushNotificationConfig): void {
  const { scheme = '', credentials = '' } = authentication ?? {};
  if (id !== '') checkId(id, 'id');
  checkHeaderField('token', token, HEADER_VALUE, 'ASCII characters that can stand in a header');
  checkHeaderField('authentication.scheme', scheme, HTTP_TOKEN, 'the characters of an authentication scheme, for example Bearer');
  checkHeaderField('authentication.credentials', credentials, HEADER_VALUE, 'ASCII characters that can stand in a header');
  // Credentials without a scheme could not be sent, so the receiver would get unauthenticated requests.
  if (scheme === '' && credentials !== '') {
    throw invalidConfigField('authentication.scheme', 'must be there when there are credentials, for example Bearer');
  }
}

function checkHeaderField(field: keyof typeof MAX_CHARACTERS, value: string, allowed: RegExp, rule: string): void {
  if (value === '') return;
  if (value.length > MAX_CHARACTERS[field]) throw invalidConfigField(field, `must have at most ${MAX_CHARACTERS[field]} characters`);
  if (!allowed.test(value)) throw invalidConfigField(field, `must consist of ${rule}`);
}

function invalidConfigField(field: string, rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `"${field}" of the push notification configuration ${rule}`, { field });
}
