import type { IncomingHttpHeaders } from 'node:http';
import { Extensions, formatSSEErrorEvent, formatSSEEvent, HTTP_EXTENSION_HEADER, SSE_HEADERS } from '@a2a-js/sdk';
import * as older from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { A2A_ERROR_CODE, A2AError, restStatusFor, toJsonRpcError, toRestErrorBody } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { restHandler } from '@a2a-js/sdk/server/express';
import type { Request, Response } from 'express';
import { EXTENSION_URIS } from '../../agent-card/card.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION, ENDPOINTS } from '../../agent-card/endpoints.ts';
import type { AdapterError, ProtocolAdapter } from '../adapter.ts';
import type { RequestContext } from '../auth/auth.ts';
import { unauthenticated } from '../auth/tokens.ts';
import { isPaymentPayload } from '../commerce/x402/terms.ts';
import { type ClientError, type ErrorCode, isOracleError, OracleError, toClientError } from '../errors.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import { isNestedDeeper, isPlainObject } from '../platform/validation.ts';
import { AgentUser, getUser, PAYMENT_METADATA, taskNotFound } from './plan.ts';

const BODY_OPTIONS = { bodyTypes: ['application/json', 'application/a2a+json'], bodyLimitBytes: 64 * 1024 };

/** Parsers behind this check are recursive: deeper input would overflow the stack. */
const MAX_BODY_DEPTH = 40;

/** Both bindings, each for protocol versions 1.0 and 0.3. */
export function createA2aAdapters(handler: A2ARequestHandler): ProtocolAdapter[] {
  return [createJsonRpcAdapter(handler), createRestAdapter(handler)];
}

/** Also mounted at `/`, where older clients post. The SDK's Express handler would log each rejected stream to standard error. */
function createJsonRpcAdapter(handler: A2ARequestHandler): ProtocolAdapter {
  const [current, legacy] = [new JsonRpcTransportHandler(handler), new LegacyJsonRpcTransportHandler(handler)];
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
      readBody(request);
      const context = buildCallContext(request.headers, buildUser(requestContext, 'jsonrpc', response), getVersion(request));
      const fault = findVersionFault(request) ?? findEnvelopeFault(request);
      if (fault !== null) return sendRpc(response, { error: toJsonRpcError(toProtocolError(fault, context)) });
      const activated = context.activatedExtensions ?? [];
      const header = isLegacy(request) ? older.LEGACY_HTTP_EXTENSION_HEADER : HTTP_EXTENSION_HEADER;
      if (activated.length > 0) response.set(header, activated.join(', '));
      const answer = await (isLegacy(request) ? legacy : current).handle(request.body, context);
      if (Symbol.asyncIterator in answer) await sendStream(response, answer);
      else sendRpc(response, answer as RpcAnswer);
    },
    serializeError(error, response) {
      const isUnread = error.code === 'INPUT_INVALID' && error.field === 'body';
      // An invalid request is a JSON-RPC error under HTTP 200; other errors keep their status.
      if (error.code === 'INPUT_INVALID') response.status(200);
      const { data, code, message } = toJsonRpcError(toServerError(error));
      sendRpc(response, { error: { code: isUnread ? A2A_ERROR_CODE.PARSE_ERROR : code, message, data } });
    },
  };
}

/** HTTP+JSON by the Express handler of the SDK. */
function createRestAdapter(requestHandler: A2ARequestHandler): ProtocolAdapter {
  const handler = restHandler({
    requestHandler,
    userBuilder: async (request) => request.res?.locals.a2aUser,
    // The tenant of the path is dropped: tasks are scoped by owner alone.
    contextBuilder: ({ headers = {}, user, requestedVersion = '' }) => buildCallContext(headers, user as AgentUser, requestedVersion),
    legacyCompat: { enabled: true },
  });
  return {
    mounts: [{ path: ENDPOINTS.a2aRest, below: true }],
    ...BODY_OPTIONS,
    carriesPayment: (body) => isPlainObject(body) && hasPaymentPayload(body.message),
    async handle(request, response, requestContext) {
      readBody(request);
      const user = buildUser(requestContext, 'rest', response);
      const fault = findVersionFault(request);
      // The SDK's own error has no suggested action.
      if (fault !== null) return sendRestError(response, toProtocolError(fault, buildCallContext({}, user, A2A_VERSION)));
      if (isLegacyPath(request)) completeLegacyConfig(request);
      response.locals.a2aUser = user;
      const send = response.json.bind(response);
      response.json = (body) => send(correctStatus(body));
      const [version, base] = isLegacyPath(request) ? [A2A_LEGACY_VERSION, LEGACY_REST_PATH] : [A2A_VERSION, ENDPOINTS.a2aRest];
      const suggestedAction = `Use the paths of A2A ${version} below ${base}, e.g. POST ${base}/message:send.`;
      await new Promise<void>((resolve, reject) => {
        response.once('close', resolve);
        handler(request, response, (error?: unknown) => reject(error ?? new OracleError('NOT_FOUND', 'Unknown path', { suggestedAction })));
      });
    },
    serializeError(error, response) {
      sendRestError(response, toServerError(error));
    },
  };
}

function buildUser(requestContext: RequestContext, binding: AgentUser['binding'], response: Response): AgentUser {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  return new AgentUser(requestContext, binding, disconnected.signal);
}

/** Clients of 0.3 send their extension header with any version. */
function buildCallContext(headers: IncomingHttpHeaders, user: AgentUser, requestedVersion: string): ServerCallContext {
  const header = headers[HTTP_EXTENSION_HEADER.toLowerCase()] ?? headers[older.LEGACY_HTTP_EXTENSION_HEADER.toLowerCase()];
  const requestedExtensions = Extensions.parseServiceParameter(Array.isArray(header) ? header.join(',') : header);
  const context = new ServerCallContext({ requestedExtensions, user, requestedVersion });
  if (requestedExtensions.includes(EXTENSION_URIS.x402)) context.addActivatedExtension(EXTENSION_URIS.x402);
  return context;
}

/** Whether a message, of any form, has a payment of a known form; nothing of it is verified. */
function hasPaymentPayload(message: unknown): boolean {
  const metadata = isPlainObject(message) ? message.metadata : undefined;
  return isPlainObject(metadata) && isPaymentPayload(metadata[PAYMENT_METADATA.payload]);
}

/** Of the header, or of the query parameter (A2A 1.0, section 3.6.1). Without either, or with an empty one, the version is 0.3 (section 3.6). */
function getVersion(request: Request): string {
  const { 'A2A-Version': inQuery } = request.query;
  return request.get('A2A-Version') || (typeof inQuery === 'string' && inQuery) || A2A_LEGACY_VERSION;
}

function isLegacy(request: Request): boolean {
  return getVersion(request) === A2A_LEGACY_VERSION;
}

/** Base of the HTTP+JSON paths of 0.3 (section 3.5.3). */
const LEGACY_REST_PATH = `${ENDPOINTS.a2aRest}/v1`;

/** The routers take any case. */
function isLegacyPath(request: Request): boolean {
  return isLegacy(request) && request.originalUrl.toLowerCase().startsWith(`${LEGACY_REST_PATH}/`);
}

/** Prepares what the SDK reads. @throws OracleError UNSUPPORTED_MEDIA_TYPE, INPUT_INVALID */
function readBody(request: Request): void {
  if (request.body === undefined && request.get('content-type') !== undefined && request.is(BODY_OPTIONS.bodyTypes) === false) {
    const suggestedAction = `Send ${BODY_OPTIONS.bodyTypes.join(' or ')}.`;
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'Unsupported Content-Type', { field: 'Content-Type', suggestedAction });
  }
  if (isNestedDeeper(request.body, MAX_BODY_DEPTH)) {
    const suggestedAction = 'Send a flatter message.';
    throw new OracleError('INPUT_INVALID', 'The message is nested too deeply', { field: 'params', suggestedAction });
  }
  // The SDK reads the version from the header alone.
  request.headers['a2a-version'] = getVersion(request);
  request.body = cleanMembers(request.body);
  if (!isPlainObject(request.body)) return;
  const { configuration } = isPlainObject(request.body.params) ? request.body.params : request.body;
  // A configuration of 0.3 that does not say whether it blocks waits, as a request without a configuration does.
  if (isLegacy(request) && isPlainObject(configuration)) configuration.blocking ??= true;
}

/** Members whose value is the client's own: null in them means something. */
const CLIENT_CONTENT: ReadonlySet<string> = new Set(['data', 'metadata']);

const isText = (value: unknown) => typeof value === 'string' && value.isWellFormed();

/** Members of callbacks. The SDK would convert a secret of another type to an unknown string. */
const CALLBACK_MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  url: isText,
  token: isText,
  authentication: isPlainObject,
  scheme: isText,
  credentials: isText,
  schemes: (value) => Array.isArray(value) && value.every(isText),
};

/** Of a message, in both versions. */
const PART_LISTS = ['parts', 'content'];

/** Drops null members, which count as absent. @throws OracleError INPUT_INVALID naming a part, or a member of a callback, of a wrong type */
export function cleanMembers(value: unknown, parent = '', checked = CALLBACK_MEMBERS): unknown {
  if (Array.isArray(value)) {
    // The SDK decodes parts without a type check, and would answer null with a TypeError.
    const index = PART_LISTS.includes(parent) ? value.findIndex((one) => !isPlainObject(one)) : -1;
    if (index >= 0) throw new OracleError('INPUT_INVALID', `message.parts.${index} must be an object`, { field: `message.parts.${index}` });
    return value.map((one) => cleanMembers(one, parent, checked));
  }
  if (!isPlainObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  for (const [name, member] of members) {
    if (!Object.hasOwn(checked, name) || checked[name](member)) continue;
    const field = parent === 'authentication' ? `authentication.${name}` : name;
    throw new OracleError('INPUT_INVALID', `"${field}" of the push notification configuration has a wrong type`, { field });
  }
  const clean = ([name, member]: [string, unknown]) => {
    if (CLIENT_CONTENT.has(name)) return [name, member];
    // The parts of a message have a `url` of their own.
    return [name, cleanMembers(member, name, name === 'message' ? {} : checked)];
  };
  return Object.fromEntries(members.map(clean));
}

/** Of an HTTP+JSON path of 0.3 that registers a callback, by POST. */
const CONFIGS_PATH = /\/tasks\/([^/?]+)\/pushNotificationConfigs\/?(?:\?|$)/i;

/** The task comes from the path, `name` is optional, and `{ parent, configId, config }` of the Python client (gRPC form) is accepted. */
function completeLegacyConfig(request: Request): void {
  const taskId = CONFIGS_PATH.exec(request.originalUrl)?.[1];
  if (request.method !== 'POST' || taskId === undefined || !isPlainObject(request.body)) return;
  const { config, configId: id } = request.body;
  const sent = isPlainObject(config) ? config : request.body;
  const { pushNotificationConfig: callback } = sent;
  const pushNotificationConfig = isPlainObject(callback) && typeof id === 'string' ? { id, ...callback } : callback;
  request.body = { ...sent, name: `tasks/${taskId}/pushNotificationConfigs/`, pushNotificationConfig };
}

function findVersionFault(request: Request): ProtocolRejection | null {
  if ([A2A_VERSION, A2A_LEGACY_VERSION].includes(getVersion(request))) return null;
  const suggestedAction = `Send A2A-Version: ${A2A_VERSION} or ${A2A_LEGACY_VERSION}.`;
  return new ProtocolRejection('VersionNotSupportedError', 'Unsupported protocol version', { field: 'A2A-Version', suggestedAction });
}

/** The SDK answers a broken envelope with -32602. @returns null for a JSON-RPC request with a method of its version */
function findEnvelopeFault(request: Request): ProtocolRejection | null {
  const { jsonrpc, method, id = null, params = {} } = isPlainObject(request.body) ? request.body : ({} as Record<string, unknown>);
  const isId = id === null || typeof id === 'string' || Number.isInteger(id);
  if (jsonrpc !== '2.0' || !isId || typeof method !== 'string') {
    const suggestedAction = 'Send one object { "jsonrpc": "2.0", "id", "method", "params" }; id is a string, an integer or null.';
    return new ProtocolRejection('InvalidRequest', 'The body is not a JSON-RPC 2.0 request', { field: 'body', suggestedAction });
  }
  const [isOld, isOlder, isNewer] = [
    isLegacy(request),
    method.includes('/') && older.isLegacyJsonRpcMethod(method),
    isCurrentMethod(method),
  ];
  if (isOld ? isNewer : isOlder) {
    const twin = isOld ? toLegacyMethods(method) : older.legacyJsonRpcToV1Method(method);
    const action = isOld ? `Send A2A-Version: ${A2A_VERSION}` : 'Leave A2A-Version out';
    const suggestedAction = `${action}${twin === method ? '' : `, or call ${twin}`}.`;
    const problem = 'The method belongs to another protocol version';
    return new ProtocolRejection('MethodNotFound', problem, { field: 'A2A-Version', suggestedAction });
  }
  if (!isOlder && !isNewer) {
    const suggestedAction = `Call a method of A2A ${getVersion(request)}, e.g. ${isOld ? 'message/send' : 'SendMessage'}.`;
    return new ProtocolRejection('MethodNotFound', 'Unknown method', { field: 'method', suggestedAction });
  }
  if (isPlainObject(params)) return null;
  const suggestedAction = 'Send the parameters by name.';
  return new ProtocolRejection('RequestMalformedError', 'params must be an object', { field: 'params', suggestedAction });
}

function isCurrentMethod(word: string): boolean {
  return /^[A-Z]/.test(word) && older.isV1JsonRpcMethod(word);
}

/** A text with the names that its methods have in 0.3, which has no ListTasks. */
function toLegacyMethods(text: string): string {
  return text.replace(/\b[A-Z]\w+\b/g, (word) =>
    isCurrentMethod(word) && word !== 'ListTasks' ? older.v1MethodToLegacyJsonRpc(word) : word,
  );
}

interface RpcAnswer {
  id?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** 0.3 clients read the response of a streaming method as SSE only (0.3, section 3.3.1): an error is one event under status 200. */
function sendRpc(response: Response, answer: RpcAnswer): void {
  const envelope = { jsonrpc: '2.0', id: getRpcId(response.req), ...answer };
  if (answer.error === undefined || response.statusCode !== 200 || !expectsLegacyEvents(response.req)) return void response.json(envelope);
  response.set(SSE_HEADERS).end(formatSSEEvent(envelope));
}

/** Whether a 0.3 client expects SSE: by the method, or by `Accept` if the body has no method. */
function expectsLegacyEvents(request: Request): boolean {
  const method: unknown = request.body?.method;
  const methods: unknown[] = [older.LEGACY_METHOD_MESSAGE_STREAM, older.LEGACY_METHOD_TASKS_RESUBSCRIBE];
  const accepts = request.get('Accept') ?? '';
  return isLegacy(request) && (typeof method === 'string' ? methods.includes(method) : accepts.includes('text/event-stream'));
}

/** In 1.0, an error before the first event is a JSON response. */
async function sendStream(response: Response, events: AsyncIterable<object>): Promise<void> {
  try {
    for await (const event of events) {
      if (!response.headersSent) response.set(SSE_HEADERS).flushHeaders();
      response.write(formatSSEEvent(event));
    }
  } catch (thrown) {
    const error = toJsonRpcError(thrown);
    if (!response.headersSent) return sendRpc(response, { error });
    // Clients of 0.3 ignore the event name and read the envelope.
    const format = isLegacy(response.req) ? formatSSEEvent : formatSSEErrorEvent;
    response.write(format({ jsonrpc: '2.0', id: getRpcId(response.req), error }));
  }
  response.end();
}

/** Null before the body is read, and for an invalid id. */
function getRpcId({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 128) ? id : null;
}

/** `google.rpc.Status` in 1.0, and the error object of 0.3 below its paths. */
function sendRestError(response: Response, error: A2AError): void {
  if (isLegacyPath(response.req)) return void response.json(toJsonRpcError(error));
  if (response.statusCode === 200) response.status(restStatusFor(error));
  response.type(getVersion(response.req) === A2A_VERSION ? 'application/a2a+json' : 'application/json');
  response.send(JSON.stringify(correctStatus(toRestErrorBody(error, response.statusCode))));
}

/** The SDK knows no `google.rpc.Code` (A2A 1.0, section 11.6) of errors that have no name in the protocol; their reason is our code. */
function correctStatus(body: unknown): unknown {
  const { error } = (body ?? {}) as { error?: { details?: { reason: string }[] } };
  const reason = error?.details?.[0]?.reason ?? '';
  return Object.hasOwn(ERRORS, reason) ? { error: { ...error, status: ERRORS[reason as ErrorCode].status } } : body;
}

interface ErrorMapping {
  /** Error name of the protocol, which gives data and HTTP+JSON status in the SDK. */
  name: string;
  /** Unset: our own code, as the protocol has no name for it. */
  reason?: string;
  rpc: number;
  http: number;
  /** `google.rpc.Code`, where the name does not give it. */
  status?: string;
}

const { INVALID_REQUEST, INTERNAL_ERROR, METHOD_NOT_FOUND } = A2A_ERROR_CODE;

const named = (name: string, reason: keyof typeof A2A_ERROR_CODE, http = 400): ErrorMapping => {
  return { name, reason, rpc: A2A_ERROR_CODE[reason], http };
};
const unnamed = (http: number, status: string, rpc: number = INVALID_REQUEST): ErrorMapping => {
  return { name: 'RequestMalformedError', rpc, http, status };
};
const malformed = named('RequestMalformedError', 'INVALID_PARAMS');
const internal = unnamed(500, 'INTERNAL', INTERNAL_ERROR);
const unavailable = unnamed(503, 'UNAVAILABLE', INTERNAL_ERROR);

const mapAll = <Code extends ErrorCode>(mapping: ErrorMapping, ...codes: Code[]) =>
  Object.fromEntries(codes.map((code) => [code, mapping])) as Record<Code, ErrorMapping>;

/** Closed: a new error code without a mapping fails the type check. */
const ERRORS: Record<ErrorCode, ErrorMapping> = {
  ...mapAll(malformed, 'INPUT_INVALID', 'CONFLICT'),
  ...mapAll(internal, 'CONFIG_INVALID', 'CHAIN_REVERTED', 'ATTESTATION_MISMATCH', 'DATA_DIR_DAMAGED', 'ILLEGAL_TRANSITION'),
  ...mapAll(internal, 'VENUE_REJECTED', 'INTERNAL'),
  ...mapAll(unavailable, 'FEED_INVALID', 'FEED_UNAVAILABLE', 'PRICE_UNAVAILABLE', 'HISTORY_TOO_SHORT', 'CHAIN_UNREACHABLE'),
  ...mapAll(unavailable, 'TRANSACTION_UNCONFIRMED', 'DATABASE_UNAVAILABLE', 'DATA_DIR_IN_USE', 'STEP_WAITING', 'TARGET_UNREACHABLE'),
  ...mapAll(unavailable, 'SERVICE_UNREACHABLE', 'SHUTTING_DOWN', 'OVERLOADED', 'SIGNER_UNAVAILABLE'),
  UNAUTHENTICATED: unnamed(401, 'UNAUTHENTICATED'),
  ...mapAll(unnamed(403, 'PERMISSION_DENIED'), 'TIER_REQUIRED', 'ORIGIN_REFUSED'),
  ...mapAll(unnamed(402, 'FAILED_PRECONDITION'), 'PAYMENT_REQUIRED', 'TRANSFER_UNCONFIRMED'),
  RATE_LIMITED: unnamed(429, 'RESOURCE_EXHAUSTED'),
  NOT_FOUND: named('TaskNotFoundError', 'TASK_NOT_FOUND', 404),
  METHOD_NOT_ALLOWED: unnamed(405, 'UNIMPLEMENTED'),
  NOT_IMPLEMENTED: unnamed(501, 'UNIMPLEMENTED'),
  NOT_ACCEPTABLE: unnamed(406, 'INVALID_ARGUMENT'),
  UPGRADE_REQUIRED: unnamed(426, 'UNIMPLEMENTED'),
  PAYLOAD_TOO_LARGE: unnamed(413, 'INVALID_ARGUMENT'),
  URL_TOO_LONG: unnamed(414, 'INVALID_ARGUMENT'),
  UNSUPPORTED_MEDIA_TYPE: named('ContentTypeNotSupportedError', 'CONTENT_TYPE_NOT_SUPPORTED'),
};

/** What the protocol names otherwise than the codes of this service. */
const REJECTIONS = {
  TaskNotCancelableError: named('TaskNotCancelableError', 'TASK_NOT_CANCELABLE'),
  UnsupportedOperationError: named('UnsupportedOperationError', 'UNSUPPORTED_OPERATION'),
  VersionNotSupportedError: named('VersionNotSupportedError', 'VERSION_NOT_SUPPORTED'),
  RequestMalformedError: malformed,
  InvalidRequest: { ...malformed, rpc: INVALID_REQUEST },
  MethodNotFound: { ...malformed, rpc: METHOD_NOT_FOUND },
} satisfies Record<string, ErrorMapping>;

const CONFLICTS: readonly string[] = ['TaskNotCancelableError', 'UnsupportedOperationError'];

export class ProtocolRejection extends OracleError {
  readonly mapping: ErrorMapping;

  constructor(name: keyof typeof REJECTIONS, message: string, options: { field?: string; suggestedAction: string }) {
    super(CONFLICTS.includes(name) ? 'CONFLICT' : 'INPUT_INVALID', message, options);
    this.mapping = REJECTIONS[name];
  }
}

/** Serialized alike by the handlers of both bindings and versions, which read name, reason, codes and data. */
class ProtocolError extends A2AError {
  override readonly reason: string;
  readonly transport: 'jsonrpc' | 'rest';
  readonly statusCode: number;
  readonly envelopeCode: number;
  readonly data: object[];

  constructor(error: ClientError, mapping: ErrorMapping, transport: 'jsonrpc' | 'rest') {
    const { code, message, retryable, suggestedAction, field, retryAfterSeconds } = error;
    const optional = { ...(field !== undefined && { field }), ...(retryAfterSeconds && { retryAfterSeconds: String(retryAfterSeconds) }) };
    super({ message, metadata: { code, retryable: String(retryable), suggestedAction, ...optional } });
    this.name = mapping.name;
    this.reason = mapping.reason ?? code;
    this.transport = transport;
    this.statusCode = mapping.http;
    this.envelopeCode = mapping.rpc;
    this.data = [this.toErrorInfo()];
  }
}

/** Converts an error of a call; those of the SDK get the members that ours have. */
export function toProtocolError(error: unknown, context: ServerCallContext): A2AError {
  const serviceError = error instanceof A2AError ? fromSdkError(error) : toDatabaseError(error);
  if (serviceError instanceof A2AError) return serviceError;
  const { rejectedToken } = getUser(context).requestContext.caller;
  // A missing task may belong to the wallet whose token was rejected, so an anonymous caller learns about the token first.
  const isHidden = rejectedToken !== undefined && isOracleError(serviceError, 'NOT_FOUND');
  const known = isHidden ? unauthenticated(rejectedToken, serviceError) : serviceError;
  const clientError = toClientError(known);
  const isOld = context.requestedVersion === A2A_LEGACY_VERSION;
  if (isOld) clientError.suggestedAction = toLegacyMethods(clientError.suggestedAction);
  const mapping = known instanceof ProtocolRejection ? known.mapping : ERRORS[clientError.code];
  return new ProtocolError(clientError, mapping, isOld ? 'jsonrpc' : getUser(context).binding);
}

function fromSdkError(error: A2AError): OracleError | A2AError {
  if (error.name === 'TaskNotFoundError') return taskNotFound();
  if (error instanceof ProtocolError || !Object.hasOwn(REJECTIONS, error.name)) return error;
  const isUnsupported = error.name === 'UnsupportedOperationError';
  const suggestedAction = isUnsupported ? `GET ${ENDPOINTS.agentCard} says what is served.` : 'Correct the parameters and send them again.';
  return new ProtocolRejection(error.name as keyof typeof REJECTIONS, error.message, { suggestedAction });
}

/** Error of the HTTP server, e.g. of limits and of the body parser; its NOT_FOUND is a path, which 0.3 reports as an unknown method. */
function toServerError(error: AdapterError): ProtocolError {
  const mapping = error.code === 'NOT_FOUND' ? unnamed(404, 'NOT_FOUND', METHOD_NOT_FOUND) : ERRORS[error.code];
  // The request id identifies the log line.
  const message = error.requestId === undefined ? error.message : `${error.message} (request ${error.requestId})`;
  return new ProtocolError({ ...error, message }, { ...mapping, http: error.status }, 'jsonrpc');
}
