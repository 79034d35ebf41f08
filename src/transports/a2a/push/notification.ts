import type { StreamResponse, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { type PushNotificationSerializer, type SerializedPushNotification, V1PushNotificationSerializer } from '@a2a-js/sdk/server';

/** Protocol 0.3 sends the whole task each time, 1.0 the event. */
const SERIALIZERS: Readonly<Record<'0.3' | '1.0', PushNotificationSerializer>> = {
  '0.3': new V03PushNotificationSerializer(),
  '1.0': new V1PushNotificationSerializer(),
};

/** One event of a task, written down as it was, for receivers of each version of the protocol. */
export type TaskNotification = Readonly<Record<keyof typeof SERIALIZERS, SerializedPushNotification>>;

/** Without the messages of before, which the receiver can ask for: a small request would otherwise become many large ones. */
export function serializeNotification(event: StreamResponse, task: Task | undefined): TaskNotification {
  const { payload } = event;
  const sent: StreamResponse = payload?.$case === 'task' ? { payload: { $case: 'task', value: removeHistory(payload.value) } } : event;
  const now = task && removeHistory(task);
  return { '0.3': SERIALIZERS['0.3'].serialize(sent, now), '1.0': SERIALIZERS['1.0'].serialize(sent, now) };
}

function removeHistory(task: Task): Task {
  return { ...task, history: [] };
}

/** Whether a version that is spoken is 0.3, be it written with a third number. */
export function isLegacyVersion(version: string): boolean {
  return /^0\.3(\.|$)/.test(version);
}

/** For the version that a receiver was registered in. */
export function selectVersion(notification: TaskNotification, wireVersion: string): SerializedPushNotification {
  return notification[isLegacyVersion(wireVersion) ? '0.3' : '1.0'];
}

/** The task that an event belongs to; empty for a message that belongs to none. */
export function getTaskId({ payload }: StreamResponse): string {
  if (payload === undefined) return '';
  return payload.$case === 'task' ? payload.value.id : payload.value.taskId;
}

/** How the receiver tells that it is us: with everything that was registered for that. */
export function buildHeaders({ token, authentication }: TaskPushNotificationConfig, contentType: string): Record<string, string> {
  const { scheme = '', credentials = '' } = authentication ?? {};
  return {
    'Content-Type': contentType,
    'User-Agent': 'bitcoin-signal-oracle',
    ...(scheme === '' || credentials === '' ? {} : { Authorization: `${scheme} ${credentials}` }),
    ...(token === '' ? {} : { 'X-A2A-Notification-Token': token }),
  };
}
