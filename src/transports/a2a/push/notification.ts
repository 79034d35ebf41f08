import type { StreamResponse, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { type PushNotificationSerializer, type SerializedPushNotification, V1PushNotificationSerializer } from '@a2a-js/sdk/server';

/** 0.3 sends the whole task, 1.0 the event. */
const SERIALIZERS: Readonly<Record<'0.3' | '1.0', PushNotificationSerializer>> = {
  '0.3': new V03PushNotificationSerializer(),
  '1.0': new V1PushNotificationSerializer(),
};

export type TaskNotification = Readonly<Record<keyof typeof SERIALIZERS, SerializedPushNotification>>;

/** Drops the history, which the receiver can read: otherwise a small request would cause many large notifications. */
export function serializeNotification(event: StreamResponse, task: Task | undefined): TaskNotification {
  const { payload } = event;
  const sent: StreamResponse = payload?.$case === 'task' ? { payload: { $case: 'task', value: removeHistory(payload.value) } } : event;
  const now = task && removeHistory(task);
  return { '0.3': SERIALIZERS['0.3'].serialize(sent, now), '1.0': SERIALIZERS['1.0'].serialize(sent, now) };
}

function removeHistory(task: Task): Task {
  return { ...task, history: [] };
}

/** Matches patch versions such as 0.3.0 too. */
export function isLegacyVersion(version: string): boolean {
  return /^0\.3(\.|$)/.test(version);
}

export function selectVersion(notification: TaskNotification, wireVersion: string): SerializedPushNotification {
  return notification[isLegacyVersion(wireVersion) ? '0.3' : '1.0'];
}

/** Empty for a message without a task. */
export function getTaskId({ payload }: StreamResponse): string {
  if (payload === undefined) return '';
  return payload.$case === 'task' ? payload.value.id : payload.value.taskId;
}

/** Authenticates this service to the receiver with the registered token and credentials. */
export function buildHeaders({ token, authentication }: TaskPushNotificationConfig, contentType: string): Record<string, string> {
  const { scheme = '', credentials = '' } = authentication ?? {};
  return {
    'Content-Type': contentType,
    'User-Agent': 'bitcoin-signal-oracle',
    ...(scheme === '' || credentials === '' ? {} : { Authorization: `${scheme} ${credentials}` }),
    ...(token === '' ? {} : { 'X-A2A-Notification-Token': token }),
  };
}
