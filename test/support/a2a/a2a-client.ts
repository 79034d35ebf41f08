import type { AgentCard, SendMessageRequest, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { Client, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { expect } from 'vitest';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { fetchAs } from '../agent-clients/client.ts';

/** The official client of a service, without the card that it serves. */
export async function a2aClientAt(url: string, binding: 'JSONRPC' | 'HTTP+JSON', token?: string): Promise<Client> {
  const fetchImpl = fetchAs(token);
  const rest = binding === 'HTTP+JSON';
  const at = `${url}${rest ? ENDPOINTS.a2aRest : ENDPOINTS.a2a}`;
  const offered = [{ url: at, protocolBinding: binding, protocolVersion: '1.0', tenant: '' }];
  const card = { supportedInterfaces: offered, capabilities: { streaming: true, pushNotifications: true } } as AgentCard;
  const factory = rest ? new RestTransportFactory({ fetchImpl }) : new JsonRpcTransportFactory({ fetchImpl });
  return new Client(await factory.create(at, card), card);
}

/** A message that waits for its end, with a callback for its task. */
export function withPush(request: SendMessageRequest, config: Partial<TaskPushNotificationConfig>): SendMessageRequest {
  const taskPushNotificationConfig = { tenant: '', id: '', taskId: '', url: '', token: '', authentication: undefined, ...config };
  return {
    ...request,
    configuration: { acceptedOutputModes: [], returnImmediately: false, historyLength: undefined, taskPushNotificationConfig },
  };
}

export const asTask = (answer: unknown) => answer as Task;

/** What an error says beside its message, wherever its binding puts that. */
export async function getRejectionMetadata(asked: Promise<unknown>): Promise<Record<string, string>> {
  const error = await asked.then(
    () => expect.fail('was not refused'),
    (caught: { metadata?: Record<string, string>; data?: { metadata: Record<string, string> }[] }) => caught,
  );
  return error.metadata ?? error.data?.[0]?.metadata ?? {};
}
