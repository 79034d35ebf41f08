import { type Fields, isFields, readFields, readText } from '../../views/mcp-app/fields.ts';

export interface HostConnection {
  /** Sends a request (JSON-RPC 2.0). Rejects with the host's error. */
  request(method: string, params: Fields): Promise<Fields>;
  notify(method: string, params: Fields): void;
}

/** Requests of a host that a view has to answer, each with an empty result (SEP-1865; MCP, `ping`). */
const ACKNOWLEDGED = ['ping', 'ui/resource-teardown'];

const METHOD_NOT_FOUND = -32_601;

/**
 * The messages of SEP-1865 between a view and the page that frames it, by `postMessage`. The library for them is twenty times as large as
 * this view. @param notified by method; other notifications are ignored
 */
export function openHostConnection(notified: Readonly<Record<string, (params: Fields) => void>>): HostConnection {
  const pending = new Map<unknown, PromiseWithResolvers<Fields>>();
  // The origin of a host is not known, and no message has a secret.
  const send = (message: Fields) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || !isFields(data) || data.jsonrpc !== '2.0') return;
    if (typeof data.method !== 'string') settle(pending, data);
    else if ('id' in data) send(answerRequest(data));
    else if (Object.hasOwn(notified, data.method)) notified[data.method](readFields(data.params));
  });
  let lastId = 0;
  return {
    request(method, params) {
      lastId += 1;
      const answer = Promise.withResolvers<Fields>();
      pending.set(lastId, answer);
      send({ id: lastId, method, params });
      return answer.promise;
    },
    notify: (method, params) => send({ method, params }),
  };
}

function settle(pending: Map<unknown, PromiseWithResolvers<Fields>>, { id, result, error }: Fields): void {
  const answer = pending.get(id);
  pending.delete(id);
  if (isFields(error)) answer?.reject(new Error(readText(error.message) || 'The host rejected the request'));
  else answer?.resolve(readFields(result));
}

function answerRequest({ id, method }: Fields): Fields {
  if (ACKNOWLEDGED.includes(String(method))) return { id, result: {} };
  return { id, error: { code: METHOD_NOT_FOUND, message: 'This view has no such method' } };
}
