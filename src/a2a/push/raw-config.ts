import { OracleError } from '../../errors.ts';
import { isObject } from '../../plain-object.ts';

type Fields = Record<string, unknown>;

/**
 * Looks at push configurations in a request as it came: the protocol's library turns whatever it finds into texts, and a secret that
 * is no text into one that nobody knows.
 * @throws OracleError INPUT_INVALID naming the field
 */
export function requireTexts(body: unknown): void {
  for (const request of [body, fieldsOf(body).params]) {
    const { configuration, pushNotificationConfig } = fieldsOf(request);
    const { taskPushNotificationConfig, task_push_notification_config, pushNotificationConfig: older } = fieldsOf(configuration);
    const places = [request, pushNotificationConfig, taskPushNotificationConfig, task_push_notification_config, older];
    for (const config of places) requireTextsOf(fieldsOf(config));
  }
}

function requireTextsOf({ url, token, authentication }: Fields): void {
  requireText('url', url);
  requireText('token', token);
  if (!isAbsent(authentication) && !isObject(authentication)) throw wrong('authentication', 'an object { "scheme", "credentials" }');
  const { scheme, credentials, schemes } = fieldsOf(authentication);
  requireText('authentication.scheme', scheme);
  requireText('authentication.credentials', credentials);
  if (isAbsent(schemes) || (Array.isArray(schemes) && schemes.every((one) => typeof one === 'string'))) return;
  throw wrong('authentication.schemes', 'a list of texts');
}

function requireText(field: string, value: unknown): void {
  if (!isAbsent(value) && typeof value !== 'string') throw wrong(field, 'a text');
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function wrong(field: string, form: string): OracleError {
  return new OracleError('INPUT_INVALID', `"${field}" of the push notification configuration must be ${form}`, { field });
}
