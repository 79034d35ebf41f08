import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import { OracleError } from '../errors.ts';

const METHODS: readonly string[] = [
  ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'GetExtendedAgentCard'],
  ...['CreateTaskPushNotificationConfig', 'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'],
  'DeleteTaskPushNotificationConfig',
];

/** Of protocol 0.3. */
const LEGACY_METHODS: readonly string[] = [
  ...['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe', 'agent/getAuthenticatedExtendedCard'],
  ...['tasks/pushNotificationConfig/set', 'tasks/pushNotificationConfig/get', 'tasks/pushNotificationConfig/list'],
  'tasks/pushNotificationConfig/delete',
];

/** What is wrong with a JSON-RPC request before anybody looks at its parameters. */
export interface BrokenCall {
  /** Of JSON-RPC. */
  rpc: number;
  error: OracleError;
}

/** Null for a request that can be carried out. */
export function brokenCall(body: unknown): BrokenCall | null {
  if (Array.isArray(body)) return broken('body', 'Batches are not served', 'Send one request at a time.');
  if (typeof body !== 'object' || body === null) return broken('body', 'The body is no JSON-RPC request', 'Send a JSON object.');
  const { jsonrpc, method, id, params } = body as Record<string, unknown>;
  if (jsonrpc !== '2.0') return broken('jsonrpc', 'jsonrpc must be "2.0"', 'Send "jsonrpc": "2.0".');
  const isId = id === undefined || id === null || typeof id === 'string' || Number.isInteger(id);
  if (!isId) return broken('id', 'id must be a text, a whole number or null', 'Send a text or a whole number.');
  if (typeof method !== 'string') return broken('method', 'method is missing', 'Name one, e.g. SendMessage.');
  if (!METHODS.includes(method) && !LEGACY_METHODS.includes(method)) return unknownMethod();
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params))) {
    return broken('params', 'params must be an object', 'Send the parameters by name.', A2A_ERROR_CODE.INVALID_PARAMS);
  }
  return null;
}

function unknownMethod(): BrokenCall {
  const suggestedAction = `Call one of ${METHODS.join(', ')}.`;
  return broken('method', 'There is no such method', suggestedAction, A2A_ERROR_CODE.METHOD_NOT_FOUND);
}

function broken(field: string, message: string, suggestedAction: string, rpc: number = A2A_ERROR_CODE.INVALID_REQUEST): BrokenCall {
  return { rpc, error: new OracleError('INPUT_INVALID', message, { field, suggestedAction }) };
}
