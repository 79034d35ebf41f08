import { A2A_LEGACY_VERSION } from '../../../../agent-card/protocols.ts';

/** JSON-RPC methods of A2A 1.0 (section 9.4). */
const METHODS: readonly string[] = [
  ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'GetExtendedAgentCard'],
  ...['CreateTaskPushNotificationConfig', 'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'],
  'DeleteTaskPushNotificationConfig',
];

/** JSON-RPC methods of A2A 0.3 (section 7) and their 1.0 names. */
const LEGACY_METHODS: ReadonlyMap<string, string> = new Map([
  ['message/send', 'SendMessage'],
  ['message/stream', 'SendStreamingMessage'],
  ['tasks/get', 'GetTask'],
  ['tasks/cancel', 'CancelTask'],
  ['tasks/resubscribe', 'SubscribeToTask'],
  ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'],
  ['tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/list', 'ListTaskPushNotificationConfigs'],
  ['tasks/pushNotificationConfig/delete', 'DeleteTaskPushNotificationConfig'],
]);

/** Methods of 0.3 that return an SSE stream (section 3.3). */
const LEGACY_STREAMS: readonly unknown[] = ['message/stream', 'tasks/resubscribe'];

export function isKnownMethod(method: string): boolean {
  return METHODS.includes(method) || LEGACY_METHODS.has(method);
}

export function listMethods(version: string): readonly string[] {
  return version === A2A_LEGACY_VERSION ? [...LEGACY_METHODS.keys()] : METHODS;
}

export function findSuccessor(method: string): string | undefined {
  return LEGACY_METHODS.get(method);
}

/** 0.3 name of a 1.0 method; undefined if 0.3 has no such method. */
export function findPredecessor(method: string): string | undefined {
  return [...LEGACY_METHODS].find(([, successor]) => successor === method)?.[0];
}

/** @param method as sent, of any type */
export function isLegacyStream(method: unknown): boolean {
  return LEGACY_STREAMS.includes(method);
}

export function toLegacyMethodNames(text: string): string {
  return text.replace(/\b[A-Z]\w+\b/g, (word) => findPredecessor(word) ?? word);
}
