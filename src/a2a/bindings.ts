import type { IncomingHttpHeaders } from 'node:http';
import { Extensions, formatSSEErrorEvent, formatSSEEvent, HTTP_EXTENSION_HEADER, SSE_HEADERS } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import * as sdk from '@a2a-js/sdk/errors';
import { A2A_ERROR_CODE, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext, type User } from '@a2a-js/sdk/server';
import { restHandler } from '@a2a-js/sdk/server/express';
import type { Request, RequestHandler, Response } from 'express';
import { EXTENSION_URIS } from '../../agent-card/card.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION, ENDPOINTS } from '../../agent-card/endpoints.ts';
import type { AdapterError, ProtocolAdapter } from '../adapter.ts';
import type { RequestContext } from '../auth/auth.ts';
import { unauthenticated } from '../auth/tokens.ts';
import { isPaymentPayload } from '../commerce/x402/terms.ts';
import { type ClientError, type ErrorCode, isOracleError, OracleError, toClientError } from '../errors.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import { isNestedDeeper, isPlainObject } from '../platform/validation.ts';
import { AgentUser, getUser, PAYMENT_METADATA } from './protocol.ts';
import { requireStringFields } from './push.ts';

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
      if (request.method !== 'POST') {
        response.set('Allow', 'POST');
        const suggestedAction = `POST a JSON-RPC request here; GET ${ENDPOINTS.agentCard} describes the service.`;
        throw new OracleError('METHOD_NOT_ALLOWED', 'JSON-RPC requires POST', { suggestedAction });
      }
      requireReadableBody(request);
      completeRpcParams(request);
      const broken = findRequestFault(request.body, getRequestVersion(request));
      if (broken !== null) return sendJsonRpcError(response, broken.rpcCode, { ...toClientError(broken.error), status: 200 });
      await binding(request, response, new AgentUser(requestContext, 'jsonrpc', createDisconnectSignal(response)));
    },
    serializeError: sendJsonRpcAdapterError,
  };
}

/** Whether a message, of any form, has a payment of a known form; nothing of it is verified. */
function hasPaymentPayload(message: unknown): boolean {
  const metadata = isPlainObject(message) ? message.metadata : undefined;
  return isPlainObject(metadata) && isPaymentPayload(metadata[PAYMENT_METADATA.payload]);
}

/** Of the header, or of the query parameter (A2A 1.0, section 3.6.1). Without either, or with an empty one, the version is 0.3 (section 3.6). */
function getRequestVersion(request: Request): string {
  const { 'A2A-Version': inQuery } = request.query;
  return request.get('A2A-Version') || (typeof inQuery === 'string' && inQuery) || A2A_LEGACY_VERSION;
}

function createRestAdapter(requestHandler: A2ARequestHandler): ProtocolAdapter {
  const binding = createRestBinding(requestHandler);
  return {
    mounts: [{ path: ENDPOINTS.a2aRest, below: true }],
    ...BODY_OPTIONS,
    carriesPayment: (body) => isPlainObject(body) && hasPaymentPayload(body.message),
    async handle(request, response, requestContext) {
      if (!isSupportedVersion(getRequestVersion(request))) {
        // Rejected before the SDK, whose error has no suggested action.
        const context = new ServerCallContext({ user: new AgentUser(requestContext, 'rest'), requestedVersion: A2A_VERSION });
        const error = toProtocolError(unknownVersion(), context);
        return void response.status(restStatusFor(error)).json(toRestErrorBody(error, restStatusFor(error)));
      }
      // The SDK reads the header alone.
      request.headers['a2a-version'] = getRequestVersion(request);
      if (isLegacyRestRequest(request)) completeLegacyConfig(request);
      requireReadableBody(request);
      request.body = completeParams(request.body, request);
      await binding(request, response, requestContext);
    },
    serializeError: sendRestAdapterError,
  };
}

function isSupportedVersion(version: string): boolean {
  return version === A2A_VERSION || version === A2A_LEGACY_VERSION;
}

/** Base of the HTTP+JSON paths of 0.3 (section 3.5.3). */
const LEGACY_REST_PATH = `${ENDPOINTS.a2aRest}/v1`;

/** The routers take any case. */
const LEGACY_PATHS = new RegExp(`^${LEGACY_REST_PATH}/`, 'i');

function isLegacyRestRequest(request: Request): boolean {
  return getRequestVersion(request) === A2A_LEGACY_VERSION && LEGACY_PATHS.test(request.originalUrl);
}

/** Express handler of the SDK with the caller that the guard has identified. */
function createRestBinding(requestHandler: A2ARequestHandler) {
  const users = new WeakMap<Request, AgentUser>();
  const handler: RequestHandler = restHandler({
    requestHandler,
    userBuilder: async (request) => {
      const user = users.get(request);
      if (user === undefined) throw new OracleError('INTERNAL', 'A request came in without its user');
      return user;
    },
    // The tenant of the path is dropped: tasks are scoped by owner alone.
    contextBuilder: ({ headers = {}, user, requestedVersion }) => buildCallContext(headers, user, requestedVersion),
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

/** `params` may be left out, and null says the same. */
function completeRpcParams(request: Request): void {
  if (!isPlainObject(request.body)) return;
  const { params, ...envelope } = request.body;
  request.body = params === undefined || params === null ? envelope : { ...envelope, params: completeParams(params, request) };
}

/** With null members as absent ones. A configuration of 0.3 that does not say whether it blocks waits, as a request without a configuration does. */
function completeParams(params: unknown, request: Request): unknown {
  const completed = dropNullMembers(params);
  if (!isPlainObject(completed) || !isPlainObject(completed.configuration) || getRequestVersion(request) !== A2A_LEGACY_VERSION)
    return completed;
  return { ...completed, configuration: { blocking: true, ...completed.configuration } };
}

/** Members whose value is the client's own: null in them means something. */
const CLIENT_CONTENT: ReadonlySet<string> = new Set(['data', 'metadata']);

function dropNullMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNullMembers);
  if (!isPlainObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, CLIENT_CONTENT.has(name) ? member : dropNullMembers(member)]));
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

/** Header of protocol 0.3. Clients of that time send it with any version. */
const LEGACY_EXTENSION_HEADER = 'X-A2A-Extensions';

function buildCallContext(headers: IncomingHttpHeaders, user: User | undefined, requestedVersion: string | undefined) {
  const header = headers[HTTP_EXTENSION_HEADER.toLowerCase()] ?? headers[LEGACY_EXTENSION_HEADER.toLowerCase()];
  const requestedExtensions = Extensions.parseServiceParameter(Array.isArray(header) ? header.join(',') : header);
  const context = new ServerCallContext({ requestedExtensions, user, requestedVersion });
  if (requestedExtensions.includes(EXTENSION_URIS.x402)) context.addActivatedExtension(EXTENSION_URIS.x402);
  return context;
}

/** JSON-RPC in both versions. The SDK's Express handler would log each rejected stream with its stack trace to standard error. */
function createJsonRpcBinding(handler: A2ARequestHandler): (request: Request, response: Response, user: AgentUser) => Promise<void> {
  const [current, legacy] = [new JsonRpcTransportHandler(handler), new LegacyJsonRpcTransportHandler(handler)];
  return async (request, response, user) => {
    const requestedVersion = getRequestVersion(request);
    const context = buildCallContext(request.headers, user, requestedVersion);
    const isLegacy = requestedVersion === A2A_LEGACY_VERSION;
    const toError = isLegacy ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError : JsonRpcTransportHandler.mapToJSONRPCError;
    const activated = context.activatedExtensions ?? [];
    if (activated.length > 0) response.set(isLegacy ? LEGACY_EXTENSION_HEADER : HTTP_EXTENSION_HEADER, activated.join(', '));
    const id = request.body.id ?? null;
    const toErrorEnvelope = (error: unknown) => ({ jsonrpc: '2.0', id, error: correctRpcError(toError(error)) });
    if (!isSupportedVersion(requestedVersion)) return sendRpcError(response, toErrorEnvelope(toProtocolError(unknownVersion(), context)));
    const answer: unknown = await (isLegacy ? legacy : current).handle(request.body as never, context);
    if (isStream(answer)) return sendStream(answer, response, toErrorEnvelope);
    const { error, ...envelope } = answer as { error?: RpcError };
    if (error === undefined) response.json(envelope);
    else sendRpcError(response, { ...envelope, error: correctRpcError(error) });
  };
}

/** 0.3 clients read the response of a streaming method as SSE only (0.3, section 3.3.1): the error is one event under status 200. */
function sendRpcError(response: Response, envelope: object): void {
  if (response.statusCode !== 200 || !expectsLegacyEvents(response.req)) return void response.json(envelope);
  response.set(SSE_HEADERS);
  response.end(formatSSEEvent(envelope));
}

/** In 1.0, an error before the first event is a JSON response. */
async function sendStream(events: AsyncGenerator<unknown>, response: Response, toErrorEnvelope: (error: unknown) => object): Promise<void> {
  try {
    for await (const event of events) {
      if (!response.headersSent) response.set(SSE_HEADERS).flushHeaders();
      response.write(formatSSEEvent(event));
    }
  } catch (error) {
    if (!response.headersSent) return sendRpcError(response, toErrorEnvelope(error));
    // Clients of 0.3 ignore the event name and read the envelope.
    const format = expectsLegacyEvents(response.req) ? formatSSEEvent : formatSSEErrorEvent;
    response.write(format(toErrorEnvelope(error)));
  }
  response.end();
}

/** Whether a 0.3 client expects SSE: by the method, or by `Accept` if the body has no method. */
function expectsLegacyEvents(request: Request): boolean {
  if (getRequestVersion(request) !== A2A_LEGACY_VERSION) return false;
  const method: unknown = request.body?.method;
  return typeof method === 'string' ? LEGACY_STREAMS.includes(method) : (request.get('Accept') ?? '').includes('text/event-stream');
}

/** Methods of 0.3 that return an SSE stream (section 3.3). */
const LEGACY_STREAMS: readonly string[] = ['message/stream', 'tasks/resubscribe'];

function isStream(answer: unknown): answer is AsyncGenerator<unknown> {
  return typeof (answer as AsyncGenerator<unknown>)?.[Symbol.asyncIterator] === 'function';
}

/** Why a JSON-RPC request is rejected before its params are read. */
interface RequestFault {
  rpcCode: number;
  error: OracleError;
}

/** Null for a valid request. @param version of the `A2A-Version` header */
function findRequestFault(body: unknown, version: string): RequestFault | null {
  if (Array.isArray(body)) return buildFault('body', 'Batches are not supported', 'Send one request at a time.');
  if (typeof body !== 'object' || body === null) return buildFault('body', 'The body is not a JSON-RPC request', 'Send a JSON object.');
  const { jsonrpc, method, id, params } = body as Record<string, unknown>;
  if (jsonrpc !== '2.0') return buildFault('jsonrpc', 'jsonrpc must be "2.0"', 'Send "jsonrpc": "2.0".');
  const isId = id === undefined || id === null || typeof id === 'string' || Number.isInteger(id);
  if (!isId) return buildFault('id', 'id must be a string, an integer or null', 'Send a string or an integer.');
  if (typeof method !== 'string') return buildFault('method', 'method is missing', `Name one, e.g. ${listMethods(version)[0]}.`);
  if (!isKnownMethod(method)) {
    const others = version === A2A_LEGACY_VERSION ? `; those of ${A2A_VERSION} need A2A-Version: ${A2A_VERSION}` : '';
    const suggestedAction = `Call one of ${listMethods(version).join(', ')}${others}.`;
    return buildFault('method', 'Unknown method', suggestedAction, A2A_ERROR_CODE.METHOD_NOT_FOUND);
  }
  const action = getVersionAdvice(method, version);
  if (action !== null)
    return buildFault('A2A-Version', 'The method belongs to another protocol version', action, A2A_ERROR_CODE.METHOD_NOT_FOUND);
  if (params !== undefined && !isPlainObject(params)) {
    return buildFault('params', 'params must be an object', 'Send the parameters by name.', A2A_ERROR_CODE.INVALID_PARAMS);
  }
  return null;
}

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

function isKnownMethod(method: string): boolean {
  return METHODS.includes(method) || LEGACY_METHODS.has(method);
}

function listMethods(version: string): readonly string[] {
  return version === A2A_LEGACY_VERSION ? [...LEGACY_METHODS.keys()] : METHODS;
}

/** Null unless the method belongs to the other protocol version. */
function getVersionAdvice(method: string, version: string): string | null {
  const successor = findSuccessor(method);
  if (version === A2A_LEGACY_VERSION && successor === undefined) {
    const predecessor = findPredecessor(method);
    return `Send A2A-Version: ${A2A_VERSION}${predecessor === undefined ? '' : `, or call ${predecessor}`}.`;
  }
  if (version === A2A_VERSION && successor !== undefined) return `Leave A2A-Version out, or call ${successor}.`;
  return null;
}

function findSuccessor(method: string): string | undefined {
  return LEGACY_METHODS.get(method);
}

/** 0.3 name of a 1.0 method; undefined if 0.3 has no such method. */
function findPredecessor(method: string): string | undefined {
  return [...LEGACY_METHODS].find(([, successor]) => successor === method)?.[0];
}

function buildFault(field: string, message: string, suggestedAction: string, rpcCode: number = INVALID_REQUEST): RequestFault {
  return { rpcCode, error: new OracleError('INPUT_INVALID', message, { field, suggestedAction }) };
}

/** An invalid body is a JSON-RPC error under HTTP 200; other errors keep their HTTP status. */
const CODE_SENT_WITH_200 = 'INPUT_INVALID';

/** JSON-RPC error of the HTTP server (limits, body parser). */
function sendJsonRpcAdapterError(error: AdapterError, response: Response): void {
  const unread = error.code === CODE_SENT_WITH_200 && error.field === 'body';
  const code = unread ? A2A_ERROR_CODE.PARSE_ERROR : ERROR_MAPPINGS[error.code].rpc;
  if (error.code === CODE_SENT_WITH_200) response.status(200);
  sendJsonRpcError(response, code, error);
}

function sendJsonRpcError(response: Response, code: number, error: AdapterError): void {
  const { message } = appendRequestId(error);
  sendRpcError(response, { jsonrpc: '2.0', id: getRpcId(response.req), error: { code, message, data: [buildAdapterErrorInfo(error)] } });
}

/** `google.rpc.Status` in 1.0, and the error object of 0.3 below its paths. */
function sendRestAdapterError(error: AdapterError, response: Response): void {
  const { status, message } = appendRequestId(error);
  if (isLegacyRestRequest(response.req)) {
    // NOT_FOUND of the HTTP server is an unknown path, which 0.3 reports as an unknown method.
    const code = error.code === 'NOT_FOUND' ? A2A_ERROR_CODE.METHOD_NOT_FOUND : ERROR_MAPPINGS[error.code].rpc;
    return void response.json({ code, message, data: [buildAdapterErrorInfo(error)] });
  }
  const body = { error: { code: status, status: ERROR_MAPPINGS[error.code].status, message, details: [buildAdapterErrorInfo(error)] } };
  response.type(getRequestVersion(response.req) === A2A_VERSION ? 'application/a2a+json' : 'application/json').send(JSON.stringify(body));
}

/** NOT_FOUND of the HTTP server is a path, so the reason is not TASK_NOT_FOUND. */
function buildAdapterErrorInfo(error: AdapterError) {
  return buildErrorInfo(error, error.code === 'NOT_FOUND' ? error.code : getProtocolReason(error.code));
}

/** The request id identifies the log line. */
function appendRequestId(error: AdapterError): AdapterError {
  return error.requestId === undefined ? error : { ...error, message: `${error.message} (request ${error.requestId})` };
}

/** Null before the body is read, and for an invalid id. */
function getRpcId({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  if (typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= 128 ? id : null;
}

interface ErrorMapping {
  /** Error name of the protocol; null for a code without one. */
  as: RejectionName | 'TaskNotFoundError' | 'RequestMalformedError' | 'ContentTypeNotSupportedError' | null;
  rpc: number;
  /** `google.rpc.Code` (A2A 1.0, section 11.6). */
  status: string;
  http: number;
}

/** SDK classes by name: `current` for 1.0, `legacy` with data for 0.3. */
const ERROR_CLASSES = {
  TaskNotFoundError: { current: sdk.TaskNotFoundError, legacy: sdk.JsonRpcTaskNotFoundError },
  TaskNotCancelableError: { current: sdk.TaskNotCancelableError, legacy: sdk.JsonRpcTaskNotCancelableError },
  UnsupportedOperationError: { current: sdk.UnsupportedOperationError, legacy: sdk.JsonRpcUnsupportedOperationError },
  VersionNotSupportedError: { current: sdk.VersionNotSupportedError, legacy: sdk.JsonRpcVersionNotSupportedError },
  RequestMalformedError: { current: sdk.RequestMalformedError, legacy: sdk.JsonRpcRequestMalformedError },
  ContentTypeNotSupportedError: { current: sdk.ContentTypeNotSupportedError, legacy: sdk.JsonRpcContentTypeNotSupportedError },
};

const { INVALID_REQUEST, INTERNAL_ERROR, INVALID_PARAMS, TASK_NOT_FOUND, CONTENT_TYPE_NOT_SUPPORTED } = A2A_ERROR_CODE;

const malformed: ErrorMapping = { as: 'RequestMalformedError', rpc: INVALID_PARAMS, status: 'INVALID_ARGUMENT', http: 400 };
const internalMapping: ErrorMapping = { as: null, rpc: INTERNAL_ERROR, status: 'INTERNAL', http: 500 };
const unavailable: ErrorMapping = { as: null, rpc: INTERNAL_ERROR, status: 'UNAVAILABLE', http: 503 };
const rejectedMapping = (http: number, status: string): ErrorMapping => ({ as: null, rpc: INVALID_REQUEST, status, http });

const mapAll = <Code extends ErrorCode>(mapping: ErrorMapping, ...codes: Code[]) =>
  Object.fromEntries(codes.map((code) => [code, mapping])) as Record<Code, ErrorMapping>;

/** Closed: a new error code without a mapping fails the type check. */
const ERROR_MAPPINGS: Record<ErrorCode, ErrorMapping> = {
  ...mapAll(malformed, 'INPUT_INVALID', 'CONFLICT'),
  ...mapAll(internalMapping, 'CONFIG_INVALID', 'CHAIN_REVERTED', 'ATTESTATION_MISMATCH', 'DATA_DIR_DAMAGED', 'ILLEGAL_TRANSITION'),
  ...mapAll(internalMapping, 'VENUE_REJECTED', 'INTERNAL'),
  ...mapAll(unavailable, 'FEED_INVALID', 'FEED_UNAVAILABLE', 'PRICE_UNAVAILABLE', 'HISTORY_TOO_SHORT', 'CHAIN_UNREACHABLE'),
  ...mapAll(unavailable, 'TRANSACTION_UNCONFIRMED', 'DATABASE_UNAVAILABLE', 'DATA_DIR_IN_USE', 'STEP_WAITING', 'TARGET_UNREACHABLE'),
  ...mapAll(unavailable, 'SERVICE_UNREACHABLE', 'SHUTTING_DOWN', 'OVERLOADED', 'SIGNER_UNAVAILABLE'),
  UNAUTHENTICATED: rejectedMapping(401, 'UNAUTHENTICATED'),
  ...mapAll(rejectedMapping(403, 'PERMISSION_DENIED'), 'TIER_REQUIRED', 'ORIGIN_REFUSED'),
  ...mapAll(rejectedMapping(402, 'FAILED_PRECONDITION'), 'PAYMENT_REQUIRED', 'TRANSFER_UNCONFIRMED'),
  RATE_LIMITED: rejectedMapping(429, 'RESOURCE_EXHAUSTED'),
  NOT_FOUND: { as: 'TaskNotFoundError', rpc: TASK_NOT_FOUND, status: 'NOT_FOUND', http: 404 },
  METHOD_NOT_ALLOWED: rejectedMapping(405, 'UNIMPLEMENTED'),
  NOT_IMPLEMENTED: rejectedMapping(501, 'UNIMPLEMENTED'),
  NOT_ACCEPTABLE: rejectedMapping(406, 'INVALID_ARGUMENT'),
  UPGRADE_REQUIRED: rejectedMapping(426, 'UNIMPLEMENTED'),
  PAYLOAD_TOO_LARGE: rejectedMapping(413, 'INVALID_ARGUMENT'),
  URL_TOO_LONG: rejectedMapping(414, 'INVALID_ARGUMENT'),
  UNSUPPORTED_MEDIA_TYPE: { as: 'ContentTypeNotSupportedError', rpc: CONTENT_TYPE_NOT_SUPPORTED, status: 'INVALID_ARGUMENT', http: 400 },
};

/** `google.rpc.ErrorInfo`, whose metadata values are strings. */
function buildErrorInfo(clientError: ClientError, reason: string = clientError.code): sdk.A2AErrorInfo {
  return { '@type': sdk.ERROR_INFO_TYPE, reason, domain: sdk.A2A_ERROR_DOMAIN, metadata: buildErrorMetadata(clientError) };
}

/** `ErrorInfo.reason` of the protocol, or our code if the protocol has no name for it. */
function getProtocolReason(code: ErrorCode): string {
  const { as } = ERROR_MAPPINGS[code];
  return as === null ? code : new ERROR_CLASSES[as].current().reason;
}

function buildErrorMetadata({ code, retryable, suggestedAction, field, retryAfterSeconds }: ClientError): Record<string, string> {
  return {
    code,
    retryable: String(retryable),
    suggestedAction,
    ...(field === undefined ? {} : { field }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds: String(retryAfterSeconds) }),
  };
}

/** Converts an error of a call to the protocol version and binding of the request. Errors of the SDK pass unchanged. */
export function toProtocolError(error: unknown, context: ServerCallContext): sdk.A2AError {
  if (error instanceof sdk.A2AError) return error;
  const { rejectedToken } = getUser(context).requestContext.caller;
  const serviceError = toDatabaseError(error);
  // A missing task may belong to the wallet whose token was rejected, so an anonymous caller learns about the token first.
  const isHidden = rejectedToken !== undefined && isOracleError(serviceError, 'NOT_FOUND');
  const known = isHidden ? unauthenticated(rejectedToken, serviceError) : serviceError;
  const isLegacy = context.requestedVersion === A2A_LEGACY_VERSION;
  const clientError = toClientError(known);
  if (isLegacy) clientError.suggestedAction = toLegacyMethodNames(clientError.suggestedAction);
  const name = known instanceof ProtocolRejection ? known.protocolName : ERROR_MAPPINGS[clientError.code].as;
  // The SDK serializes our reason over JSON-RPC 1.0 only without a transport, and over the others only with one.
  const transport = isLegacy ? 'jsonrpc' : getUser(context).binding === 'rest' ? 'rest' : undefined;
  if (name === null) return new ServiceError(clientError, transport);
  const options = { message: clientError.message, metadata: buildErrorMetadata(clientError) };
  const current = new ERROR_CLASSES[name].current(options);
  // Over 0.3 the SDK serializes only the data of the JSON-RPC classes.
  return isLegacy ? new ERROR_CLASSES[name].legacy({ ...options, data: [current.toErrorInfo()] as never }) : current;
}

function toLegacyMethodNames(text: string): string {
  return text.replace(/\b[A-Z]\w+\b/g, (word) => findPredecessor(word) ?? word);
}

/** An error that has no name in the protocol, under our own code. */
class ServiceError extends sdk.A2AError {
  override readonly reason: string;
  readonly transport: 'rest' | 'jsonrpc' | undefined;
  readonly statusCode: number;
  readonly envelopeCode: number;
  readonly data: unknown;

  constructor(clientError: ClientError, transport: 'rest' | 'jsonrpc' | undefined) {
    super({ message: clientError.message, metadata: buildErrorMetadata(clientError) });
    const { http, rpc } = ERROR_MAPPINGS[clientError.code];
    this.reason = clientError.code;
    this.transport = transport;
    this.statusCode = http;
    this.envelopeCode = rpc;
    this.data = [buildErrorInfo(clientError)];
  }
}

type RejectionName = 'TaskNotCancelableError' | 'UnsupportedOperationError' | 'VersionNotSupportedError';

/** An error that the protocol sends under another name than its code would get. */
export class ProtocolRejection extends OracleError {
  readonly protocolName: RejectionName;

  constructor(protocolName: RejectionName, message: string, options: { field?: string; suggestedAction: string }) {
    super(protocolName === 'VersionNotSupportedError' ? 'INPUT_INVALID' : 'CONFLICT', message, options);
    this.protocolName = protocolName;
  }
}

/** The same for a missing task and for a task of another owner, so that ids cannot be probed. */
export function taskNotFound(): OracleError {
  const suggestedAction = 'Use the token or address that sent the task; ListTasks of A2A 1.0 lists your tasks.';
  return new OracleError('NOT_FOUND', 'Task not found', { field: 'id', suggestedAction });
}

function unknownVersion(): OracleError {
  const suggestedAction = `Send A2A-Version: ${A2A_VERSION} or ${A2A_LEGACY_VERSION}.`;
  const message = 'Unsupported protocol version';
  return new ProtocolRejection('VersionNotSupportedError', message, { field: 'A2A-Version', suggestedAction });
}

/** Error member of a JSON-RPC response, and the whole error body over HTTP+JSON 0.3. */
interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** The SDK sends -32603 for errors of ours that have no name in the protocol. */
function correctRpcError(error: RpcError): RpcError {
  const mapping = error.code === A2A_ERROR_CODE.INTERNAL_ERROR ? findErrorMapping(error.data) : undefined;
  return mapping === undefined ? error : { ...error, code: mapping.rpc };
}

/** The same over HTTP+JSON, where the SDK writes UNKNOWN in place of the `google.rpc.Code` (A2A 1.0, section 11.6). */
function correctRestBody(body: unknown): unknown {
  // `error` over HTTP+JSON 1.0, a `google.rpc.Status`.
  const { code, message, error } = (body ?? {}) as Partial<RpcError> & { error?: { status: string; details: unknown } };
  if (typeof code === 'number' && typeof message === 'string') return correctRpcError(body as RpcError);
  const mapping = findErrorMapping(error?.details);
  return mapping === undefined ? body : { error: { ...error, status: mapping.status } };
}

/** `ErrorInfo.reason` is our own code where the protocol has no name for it. */
function findErrorMapping(details: unknown): { rpc: number; status: string } | undefined {
  const reason: unknown = Array.isArray(details) ? details[0]?.reason : undefined;
  return typeof reason === 'string' && Object.hasOwn(ERROR_MAPPINGS, reason) ? ERROR_MAPPINGS[reason as ErrorCode] : undefined;
}
