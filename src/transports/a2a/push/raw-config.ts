import { OracleError } from '../../../platform/errors.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';

type Fields = Record<string, unknown>;

/** The SDK would convert a secret of another type to an unknown string. @throws OracleError INPUT_INVALID naming the field */
export function requireStringFields(body: unknown): void {
  for (const request of [body, toFields(body).params]) {
    const { configuration, pushNotificationConfig } = toFields(request);
    const { taskPushNotificationConfig, task_push_notification_config, pushNotificationConfig: older } = toFields(configuration);
    const places = [request, pushNotificationConfig, taskPushNotificationConfig, task_push_notification_config, older];
    for (const config of places) requireConfigStrings(toFields(config));
  }
}

function requireConfigStrings({ url, token, authentication }: Fields): void {
  requireString('url', url);
  requireString('token', token);
  if (!isAbsent(authentication) && !isPlainObject(authentication))
    throw invalidFieldType('authentication', 'an object { "scheme", "credentials" }');
  const { scheme, credentials, schemes } = toFields(authentication);
  requireString('authentication.scheme', scheme);
  requireString('authentication.credentials', credentials);
  if (isAbsent(schemes) || (Array.isArray(schemes) && schemes.every((one) => typeof one === 'string'))) return;
  throw invalidFieldType('authentication.schemes', 'a list of texts');
}

function requireString(field: string, value: unknown): void {
  if (!isAbsent(value) && typeof value !== 'string') throw invalidFieldType(field, 'a text');
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function toFields(value: unknown): Fields {
  return isPlainObject(value) ? value : {};
}

function invalidFieldType(field: string, form: string): OracleError {
  return new OracleError('INPUT_INVALID', `"${field}" of the push notification configuration must be ${form}`, { field });
}
