import { describe, expect, test } from 'vitest';
import { cleanMembers } from '../../../src/a2a/bindings.ts';

/** Places of a push configuration in both protocol versions. */
const PLACES: [string, (config: unknown) => unknown][] = [
  ['CreateTaskPushNotificationConfig', (config) => ({ params: { taskId: 't', ...(config as object) } })],
  ['SendMessage', (config) => ({ params: { configuration: { taskPushNotificationConfig: config } } })],
  ['SendMessage as it may be spelled too', (config) => ({ params: { configuration: { task_push_notification_config: config } } })],
  ['message/send', (config) => ({ params: { configuration: { pushNotificationConfig: config } } })],
  ['tasks/pushNotificationConfig/set', (config) => ({ params: { taskId: 't', pushNotificationConfig: config } })],
  ['HTTP+JSON, for a task', (config) => config],
  ['HTTP+JSON, for a task, 0.3', (config) => ({ pushNotificationConfig: config })],
  ['HTTP+JSON, with a message', (config) => ({ configuration: { taskPushNotificationConfig: config } })],
];

describe.each(PLACES)('%s', (_name, bodyOf) => {
  test.each<[string, unknown]>([
    ['url', { url: { a: 1 } }],
    ['token', { token: { a: 1 } }],
    ['token', { token: 7 }],
    ['token', { token: 'half \ud83d' }],
    ['authentication.schemes', { authentication: { schemes: ['half \ud83d'] } }],
    ['authentication', { authentication: 'x' }],
    ['authentication', { authentication: ['x'] }],
    ['authentication.scheme', { authentication: { scheme: ['Bearer'] } }],
    ['authentication.credentials', { authentication: { scheme: 'Bearer', credentials: {} } }],
    ['authentication.schemes', { authentication: { schemes: 'Bearer' } }],
    ['authentication.schemes', { authentication: { schemes: [{}] } }],
  ])('a wrong %s is refused: %j', (field, config) => {
    expect(() => cleanMembers(bodyOf(config))).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field }));
  });

  test.each([
    {},
    { url: 'https://x.example/', token: null, authentication: null },
    { url: 'https://x.example/', token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } },
    { url: 'https://x.example/', authentication: { schemes: ['Bearer'], credentials: 'c' } },
  ])('accepts strings: %j', (config) => {
    expect(() => cleanMembers(bodyOf(config))).not.toThrow();
  });
});

test.each([undefined, null, 7, 'x', [], { params: null }, { params: [] }, { configuration: 'x' }, { params: { configuration: [1] } }])(
  'ignores requests without a configuration: %j',
  (body) => {
    expect(() => cleanMembers(body)).not.toThrow();
  },
);
