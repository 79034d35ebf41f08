import type { WebSocket } from 'ws';
import { answerRpc, parseRpcBody } from './answer.ts';
import { connectNode } from './node-socket.ts';

/** Serves JSON-RPC and subscriptions on a WebSocket, over its own connection to the node. */
export function serveRpcWebSocket(client: WebSocket, nodePath: string, isAllowed: (method: string) => boolean): void {
  const node = connectNode({ path: nodePath, onNotification: (line) => client.send(line), onClose: () => client.close() });
  client.on('error', () => client.terminate());
  client.on('close', () => node.close());
  client.on('message', async (data) => {
    const parsed = parseRpcBody(String(data));
    const reply = 'error' in parsed ? parsed.error : await answerRpc(node, parsed.body, isAllowed);
    if (reply !== undefined && client.readyState === client.OPEN) client.send(JSON.stringify(reply));
  });
}
