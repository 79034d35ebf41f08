import { randomUUID } from 'node:crypto';
import { type Part, Role, type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { A2AError, isJsonRpcError } from '@a2a-js/sdk/errors';
import { type ClientOptions, fetchAs, type OpenAgentClient, type Outcome, toErrorOutcome } from './client.ts';

/** The official client, over one binding, from nothing but the URL of the service. */
export async function a2aClient({ url, token }: ClientOptions, binding: 'JSONRPC' | 'HTTP+JSON') {
  const asCaller = fetchAs(token);
  // The card names the port that a service listens on for good; a test's is free to be another one.
  const fetchImpl: typeof fetch = (input, init) =>
    asCaller(new URL(new URL(String(input)).pathname + new URL(String(input)).search, url), init);
  const transports = [binding === 'JSONRPC' ? new JsonRpcTransportFactory({ fetchImpl }) : new RestTransportFactory({ fetchImpl })];
  return new ClientFactory({ ...ClientFactoryOptions.default, transports, preferredTransports: [binding] }).createFromUrl(url);
}

export const dataPart = (value: unknown): Part => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: 'application/json',
});

export const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

/** A message of its own each time. */
export function messageOf(parts: Part[], more: Partial<NonNullable<SendMessageRequest['message']>> = {}): SendMessageRequest {
  const message = {
    ...{ messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, parts },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [], ...more },
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

const openA2a =
  (binding: 'JSONRPC' | 'HTTP+JSON'): OpenAgentClient =>
  async (address) => {
    const client = await a2aClient(address, binding);
    return {
      async run(skill, input) {
        try {
          return toTaskOutcome((await client.sendMessage(messageOf([dataPart({ skill, input })]))) as Task);
        } catch (error) {
          if (!(error instanceof A2AError)) throw error;
          return toErrorOutcome(getErrorMetadata(error));
        }
      },
      close: async () => undefined,
    };
  };

/** Over JSON-RPC the client hands the details on as they came. */
function getErrorMetadata(error: A2AError): Record<string, string> {
  const details = isJsonRpcError(error) && Array.isArray(error.data) ? error.data : [];
  return error.metadata ?? (details.find(({ metadata }) => metadata !== undefined)?.metadata as Record<string, string>) ?? {};
}

export const openA2aJsonRpc = openA2a('JSONRPC');
export const openA2aRest = openA2a('HTTP+JSON');

/** What a task that has ended says. */
export function toTaskOutcome({ status, artifacts }: Task): Outcome {
  if (status?.state === TaskState.TASK_STATE_COMPLETED) {
    const [{ parts }] = artifacts;
    return { ok: true, output: findContent(parts, 'data') as Record<string, unknown>, text: findContent(parts, 'text') as string };
  }
  return toErrorOutcome((findContent(status?.message?.parts ?? [], 'data') ?? {}) as object);
}

export function findContent(parts: readonly Part[], kind: 'data' | 'text'): unknown {
  return parts.find(({ content }) => content?.$case === kind)?.content?.value;
}
