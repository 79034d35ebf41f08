import { isJSONRPCErrorResponse, isJSONRPCRequest, type McpServer, ProtocolErrorCode, type Transport } from '@modelcontextprotocol/server';
import { findParamsFault } from '../validation/params.ts';
import { toRpcError } from './rpc-error.ts';
import { completeSdkError } from './sdk-errors.ts';

/** Has a server refuse in our words what the SDK refuses before any handler sees it, whatever carries its messages. */
export function wrapConnect({ server }: McpServer): void {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    await connect(completeSentErrors(transport));
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      const fault = isJSONRPCRequest(message) ? findParamsFault(message) : undefined;
      if (fault === undefined || !isJSONRPCRequest(message)) return deliver?.(message, extra);
      const error = toRpcError(ProtocolErrorCode.InvalidParams, fault);
      transport.send({ jsonrpc: '2.0', id: message.id, error }).catch((cause: Error) => transport.onerror?.(cause));
    };
  };
}

/** Has every error that a transport sends say what to do. */
export function completeSentErrors<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(isJSONRPCErrorResponse(message) ? { ...message, error: completeSdkError(message.error) } : message, options);
  return transport;
}
