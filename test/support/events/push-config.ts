import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { Address } from 'viem';
import { callContext } from '../a2a/call-context.ts';

export const [ALICE, BOB]: readonly [Address, Address] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];

/** An A2A call by a wallet, or an anonymous one. */
export function contextOf(wallet: Address | null, requestedVersion = '1.0', tenant?: string): ServerCallContext {
  const caller = wallet === null ? { tier: 'public' as const } : { tier: 'basic' as const, wallet };
  return callContext({ caller, address: '192.0.2.7' }, requestedVersion, tenant);
}

export const alice = contextOf(ALICE);
export const bob = contextOf(BOB);

let tasks = 0;
export const newTaskId = () => `task-${++tasks}`;

export function pushConfig(more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig {
  return { tenant: '', id: 'one', taskId: '', url: 'https://hooks.example.com/x', token: '', authentication: undefined, ...more };
}
