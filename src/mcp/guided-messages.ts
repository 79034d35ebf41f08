import { isJSONRPCErrorResponse, isJSONRPCRequest, type McpServer, ProtocolErrorCode, type Transport } from '@modelcontextprotocol/server';
import { paramsFault } from './check-params.ts';
import { completedError } from './library-words.ts';
import { rpcError } from './rpc-error.ts';

/** Has a server refuse in our words what the SDK refuses before any handler sees it, whatever carries its messages. */
export function guideMessages({ server }: McpServer): void {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    await connect(completeErrors(transport));
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      const fault = isJSONRPCRequest(message) ? paramsFault(message) : undefined;
      if (fault === undefined || !isJSONRPCRequest(message)) return deliver?.(message, extra);
      const error = rpcError(ProtocolErrorCode.InvalidParams, fault);
      transport.send({ jsonrpc: '2.0', id: message.id, error }).catch((cause: Error) => transport.onerror?.(cause));
    };
  };
}

/** Has every error that a transport sends say what to do. */
export function completeErrors<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(isJSONRPCErrorResponse(message) ? { ...message, error: completedError(message.error) } : message, options);
  return transport;
}
