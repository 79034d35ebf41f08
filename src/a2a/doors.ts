import { restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, ServerCallContext, type ServerCallContextBuilder } from '@a2a-js/sdk/server';
import { restHandler } from '@a2a-js/sdk/server/express';
import type { Request, RequestHandler, Response } from 'express';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../agent-card/protocols.ts';
import type { Asker } from '../access/asker.ts';
import type { Door } from '../access/door.ts';
import { OracleError, toldError } from '../errors.ts';
import { isNestedDeeper } from '../nesting.ts';
import { callContext } from './call-context.ts';
import { sendJsonRpcError, tellJsonRpc, tellRest } from './door-words.ts';
import { jsonRpcBinding } from './json-rpc-binding.ts';
import { brokenCall } from './json-rpc-call.ts';
import { sendCompleted } from './library-words.ts';
import { AgentUser } from './owner.ts';
import { protocolError } from './protocol-error.ts';
import { completeLegacyConfig } from './push/legacy-config.ts';
import { requireTexts } from './push/raw-config.ts';
import { unknownVersion } from './refusal.ts';
import { isLegacyRest, isSpoken, LEGACY_REST, versionOf } from './versions.ts';

const JSON_TYPE = 'application/json';
const A2A_TYPE = 'application/a2a+json';
const BODY = { bodyTypes: [JSON_TYPE, A2A_TYPE], bodyLimitBytes: 64 * 1024 } as const;

/** Deeper ones are nothing that the protocol knows. */
const DEEPEST_BODY = 40;

/** Both bindings, protocols 1.0 and 0.3. */
export function createA2aDoors(handler: A2ARequestHandler): Door[] {
  return [jsonRpcDoor(handler), restDoor(handler)];
}

/** Also at `/`, where older clients post. */
function jsonRpcDoor(requestHandler: A2ARequestHandler): Door {
  const binding = jsonRpcBinding(requestHandler);
  return {
    mounts: [{ path: ENDPOINTS.a2a }, { path: '/', methods: ['post'] }],
    ...BODY,
    async handle(request, response, asker) {
      requirePost(request, response);
      requireReadable(request);
      const broken = brokenCall(request.body, versionOf(request));
      if (broken !== null) return sendJsonRpcError(response, broken.rpc, { ...toldError(broken.error), status: 200 });
      await binding(request, response, new AgentUser(asker, 'jsonrpc', goneSignal(response)));
    },
    tell: tellJsonRpc,
  };
}

function restDoor(requestHandler: A2ARequestHandler): Door {
  const binding = restBinding(requestHandler);
  return {
    mounts: [{ path: ENDPOINTS.a2aRest, below: true }],
    ...BODY,
    async handle(request, response, asker) {
      if (!isSpoken(versionOf(request))) return refuseVersion(response, asker);
      if (isLegacyRest(request)) completeLegacyConfig(request);
      requireReadable(request);
      await binding(request, response, asker);
    },
    tell: tellRest,
  };
}

/** Here and not by the library, which has no advice. */
function refuseVersion(response: Response, asker: Asker): void {
  const context = new ServerCallContext({ user: new AgentUser(asker, 'rest'), requestedVersion: A2A_VERSION });
  const error = protocolError(unknownVersion(), context);
  response.status(restStatusFor(error)).json(toRestErrorBody(error, restStatusFor(error)));
}

/** The library's handler behind this service's own guard: who asks is known already. */
function restBinding(requestHandler: A2ARequestHandler) {
  const users = new WeakMap<Request, AgentUser>();
  const handler: RequestHandler = restHandler({
    requestHandler,
    userBuilder: async (request) => userFrom(users, request),
    contextBuilder,
    legacyCompat: { enabled: true },
  });
  return (request: Request, response: Response, asker: Asker): Promise<void> => {
    users.set(request, new AgentUser(asker, 'rest', goneSignal(response)));
    return new Promise((resolve, reject) => {
      response.once('close', resolve);
      const send = response.json.bind(response);
      response.json = (body) => sendCompleted(response, send, body);
      handler(request, response, (error?: unknown) => reject(error ?? notServed(isLegacyRest(request))));
    });
  };
}

/** Aborted when the connection is closed: nobody waits any more. */
function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

function userFrom(users: WeakMap<Request, AgentUser>, request: Request): AgentUser {
  const user = users.get(request);
  if (user === undefined) throw new OracleError('INTERNAL', 'A request came in without its asker');
  return user;
}

/** Without a tenant: whatever a caller names, he sees what is his. */
const contextBuilder: ServerCallContextBuilder = ({ headers = {}, user, requestedVersion }) =>
  callContext({ headers, user, requestedVersion });

function requirePost(request: Request, response: Response): void {
  if (request.method === 'POST') return;
  response.set('Allow', 'POST');
  throw new OracleError('METHOD_NOT_ALLOWED', 'JSON-RPC is sent by POST', {
    suggestedAction: `POST a JSON-RPC request here; GET ${ENDPOINTS.agentCard} says what is served.`,
  });
}

/** @throws OracleError UNSUPPORTED_MEDIA_TYPE, INPUT_INVALID */
function requireReadable(request: Request): void {
  if (request.body === undefined && request.get('content-type') !== undefined && request.is([...BODY.bodyTypes]) === false) {
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The body is of a type that is not read', {
      field: 'Content-Type',
      suggestedAction: `Send ${JSON_TYPE} or ${A2A_TYPE}.`,
    });
  }
  if (isNestedDeeper(request.body, DEEPEST_BODY)) {
    throw new OracleError('INPUT_INVALID', 'The message is nested too deeply', {
      field: 'params',
      suggestedAction: 'Send a flatter message.',
    });
  }
  requireTexts(request.body);
}

/** @param isLegacy whether the path is one of 0.3 */
function notServed(isLegacy: boolean): OracleError {
  const [version, base] = isLegacy ? [A2A_LEGACY_VERSION, LEGACY_REST] : [A2A_VERSION, ENDPOINTS.a2aRest];
  return new OracleError('NOT_FOUND', 'Nothing is served at this path', {
    suggestedAction: `Use the paths of A2A ${version} below ${base}, e.g. POST ${base}/message:send.`,
  });
}
