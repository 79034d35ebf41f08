import { A2A_LEGACY_VERSION } from '../../../../agent-card/protocols.ts';

/** JSON-RPC methods of A2A 1.0 (section 9.4). */
const METHODS: readonly string[] = [
  ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'GetExtendedAgentCard'],
  ...['CreateTaskPushNotificationConfig', 'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'],
  'DeleteTaskPushNotificationConfig',
];

/** JSON-RPC methods of A2A 0.3 (section 7), each with its name in 1.0. */
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

/** Methods of 0.3 whose answer is a stream of events (section 3.3). */
const LEGACY_STREAMS: readonly unknown[] = ['message/stream', 'tasks/resubscribe'];

/** Whether either version has a method of this name. */
export function isKnownMethod(method: string): boolean {
  return METHODS.includes(method) || LEGACY_METHODS.has(method);
}

/** Names of the methods that a request of a version may call. */
export function listMethods(version: string): readonly string[] {
  return version === A2A_LEGACY_VERSION ? [...LEGACY_METHODS.keys()] : METHODS;
}

/** Name in 1.0 of a method of 0.3; undefined for any other. */
export function findSuccessor(method: string): string | undefined {
  return LEGACY_METHODS.get(method);
}

/** Name in 0.3 of a method of 1.0; undefined where 0.3 has no such method. */
export function findPredecessor(method: string): string | undefined {
  return [...LEGACY_METHODS].find(([, successor]) => successor === method)?.[0];
}

/** Whether a method of 0.3 answers with a stream. @param method as sent, of any type */
export function isLegacyStream(method: unknown): boolean {
  return LEGACY_STREAMS.includes(method);
}

/** A text with each method of 1.0 under its name in 0.3. */
export function toLegacyMethodNames(text: string): string {
  return text.replace(/\b[A-Z]\w+\b/g, (word) => findPredecessor(word) ?? word);
}
