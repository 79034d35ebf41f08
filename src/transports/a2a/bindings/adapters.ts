import { restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, ServerCallContext, type ServerCallContextBuilder } from '@a2a-js/sdk/server';
import { restHandler } from '@a2a-js/sdk/server/express';
import type { Request, RequestHandler, Response } from 'express';
import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../../agent-card/protocols.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import { OracleError, toClientError } from '../../../platform/errors.ts';
import { isNestedDeeper } from '../../../platform/validation/nesting.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import type { ProtocolAdapter } from '../../adapter.ts';
import { AgentUser } from '../agent-user.ts';
import { sendJsonRpcAdapterError, sendJsonRpcError, sendRestAdapterError } from '../errors/adapter-errors.ts';
import { toProtocolError } from '../errors/protocol-error.ts';
import { unknownVersion } from '../errors/rejections.ts';
import { correctRestBody } from '../errors/sdk-errors.ts';
import { hasPaymentPayload } from '../payments/metadata.ts';
import { requireStringFields } from '../push/raw-config.ts';
import { buildCallContext } from './call-context.ts';
import { createJsonRpcBinding } from './json-rpc.ts';
import { findRequestFault } from './json-rpc-request.ts';
import { getRequestVersion, isLegacyRestRequest, isSupportedVersion, LEGACY_REST_PATH } from './versions.ts';

/** Registers a callback over HTTP+JSON 0.3, by POST. */
const CONFIGS_PATH = /\/tasks\/([^/?]+)\/pushNotificationConfigs\/?(?:\?|$)/i;

const JSON_TYPE = 'application/json';
const A2A_TYPE = 'application/a2a+json';
const BODY_OPTIONS = { bodyTypes: [JSON_TYPE, A2A_TYPE], bodyLimitBytes: 64 * 1024 } as const;

/** Parsers behind this check are recursive: deeper input would overflow the stack. */
const MAX_BODY_DEPTH = 40;

/** Both bindings, each for protocol versions 1.0 and 0.3. */
export function createA2aAdapters(handler: A2ARequestHandler): ProtocolAdapter[] {
  return [createJsonRpcAdapter(handler), createRestAdapter(handler)];
}

/** Also mounted at `/`, where older clients post. */
function createJsonRpcAdapter(requestHandler: A2ARequestHandler): ProtocolAdapter {
  const binding = createJsonRpcBinding(requestHandler);
  return {
    mounts: [{ path: ENDPOINTS.a2a }, { path: '/', methods: ['post'] }],
    ...BODY_OPTIONS,
    carriesPayment: (body) => isPlainObject(body) && isPlainObject(body.params) && hasPaymentPayload(body.params.message),
    async handle(request, response, requestContext) {
      requirePost(request, response);
      requireReadableBody(request);
      const broken = findRequestFault(request.body, getRequestVersion(request));
      if (broken !== null) return sendJsonRpcError(response, broken.rpcCode, { ...toClientError(broken.error), status: 200 });
      await binding(request, response, new AgentUser(requestContext, 'jsonrpc', createDisconnectSignal(response)));
    },
    serializeError: sendJsonRpcAdapterError,
  };
}

function createRestAdapter(requestHandler: A2ARequestHandler): ProtocolAdapter {
  const binding = createRestBinding(requestHandler);
  return {
    mounts: [{ path: ENDPOINTS.a2aRest, below: true }],
    ...BODY_OPTIONS,
    carriesPayment: (body) => isPlainObject(body) && hasPaymentPayload(body.message),
    async handle(request, response, requestContext) {
      if (!isSupportedVersion(getRequestVersion(request))) return rejectVersion(response, requestContext);
      if (isLegacyRestRequest(request)) completeLegacyConfig(request);
      requireReadableBody(request);
      await binding(request, response, requestContext);
    },
    serializeError: sendRestAdapterError,
  };
}

/** Rejected before the SDK, whose error has no suggested action. */
function rejectVersion(response: Response, requestContext: RequestContext): void {
  const context = new ServerCallContext({ user: new AgentUser(requestContext, 'rest'), requestedVersion: A2A_VERSION });
  const error = toProtocolError(unknownVersion(), context);
  response.status(restStatusFor(error)).json(toRestErrorBody(error, restStatusFor(error)));
}

/** Express handler of the SDK with the caller that the guard has identified. */
function createRestBinding(requestHandler: A2ARequestHandler) {
  const users = new WeakMap<Request, AgentUser>();
  const handler: RequestHandler = restHandler({
    requestHandler,
    userBuilder: async (request) => getRequestUser(users, request),
    contextBuilder,
    legacyCompat: { enabled: true },
  });
  return (request: Request, response: Response, requestContext: RequestContext): Promise<void> => {
    users.set(request, new AgentUser(requestContext, 'rest', createDisconnectSignal(response)));
    return new Promise((resolve, reject) => {
      response.once('close', resolve);
      const send = response.json.bind(response);
      response.json = (body) => send(correctRestBody(body));
      handler(request, response, (error?: unknown) => reject(error ?? pathNotServed(isLegacyRestRequest(request))));
    });
  };
}

function createDisconnectSignal(response: Response): AbortSignal {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  return disconnected.signal;
}

function getRequestUser(users: WeakMap<Request, AgentUser>, request: Request): AgentUser {
  const user = users.get(request);
  if (user === undefined) throw new OracleError('INTERNAL', 'A request came in without its asker');
  return user;
}

/** The tenant of the path is dropped: tasks are scoped by owner alone. */
const contextBuilder: ServerCallContextBuilder = ({ headers = {}, user, requestedVersion }) =>
  buildCallContext({ headers, user, requestedVersion });

function requirePost(request: Request, response: Response): void {
  if (request.method === 'POST') return;
  response.set('Allow', 'POST');
  const suggestedAction = `POST a JSON-RPC request here; GET ${ENDPOINTS.agentCard} describes the service.`;
  throw new OracleError('METHOD_NOT_ALLOWED', 'JSON-RPC requires POST', { suggestedAction });
}

/** @throws OracleError UNSUPPORTED_MEDIA_TYPE, INPUT_INVALID */
function requireReadableBody(request: Request): void {
  if (request.body === undefined && request.get('content-type') !== undefined && request.is([...BODY_OPTIONS.bodyTypes]) === false) {
    const suggestedAction = `Send ${JSON_TYPE} or ${A2A_TYPE}.`;
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'Unsupported Content-Type', { field: 'Content-Type', suggestedAction });
  }
  if (isNestedDeeper(request.body, MAX_BODY_DEPTH)) {
    const suggestedAction = 'Send a flatter message.';
    throw new OracleError('INPUT_INVALID', 'The message is nested too deeply', { field: 'params', suggestedAction });
  }
  requireStringFields(request.body);
  requirePartObjects(request.body);
}

/** The SDK decodes parts without a type check, and would answer null with a TypeError. @throws OracleError INPUT_INVALID */
function requirePartObjects(body: unknown): void {
  const { message, params } = (body ?? {}) as { message?: RawMessage; params?: { message?: RawMessage } | null };
  for (const parts of [message?.parts, message?.content, params?.message?.parts]) {
    const index = Array.isArray(parts) ? parts.findIndex((part) => !isPlainObject(part)) : -1;
    if (index >= 0) throw new OracleError('INPUT_INVALID', `message.parts.${index} must be an object`, { field: `message.parts.${index}` });
  }
}

type RawMessage = { parts?: unknown; content?: unknown } | null;

function pathNotServed(isLegacy: boolean): OracleError {
  const [version, base] = isLegacy ? [A2A_LEGACY_VERSION, LEGACY_REST_PATH] : [A2A_VERSION, ENDPOINTS.a2aRest];
  const suggestedAction = `Use the paths of A2A ${version} below ${base}, e.g. POST ${base}/message:send.`;
  return new OracleError('NOT_FOUND', 'Unknown path', { suggestedAction });
}

/** The task comes from the path, `name` is optional, and `{ parent, configId, config }` of the Python client (gRPC form) is accepted. */
function completeLegacyConfig(request: Request): void {
  const taskId = CONFIGS_PATH.exec(request.originalUrl)?.[1];
  if (request.method !== 'POST' || taskId === undefined || !isPlainObject(request.body)) return;
  const { config, configId } = request.body;
  const sent: Record<string, unknown> = isPlainObject(config) ? config : request.body;
  const pushNotificationConfig = isPlainObject(sent.pushNotificationConfig)
    ? { ...(typeof configId === 'string' && { id: configId }), ...sent.pushNotificationConfig }
    : sent.pushNotificationConfig;
  request.body = { ...sent, name: `tasks/${taskId}/pushNotificationConfigs/`, pushNotificationConfig };
}
