import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { answerRpc, parseRpcBody } from './answer.ts';
import { respondHttp } from './http-endpoint.ts';
import type { NodeSocket, NodeSocketOptions } from './node-socket.ts';
import { findOriginRejection, MAX_BODY_BYTES, type RequestRejection } from './request-check.ts';

/** An allow-list: anvil rewrites the chain under more names than `anvil_`, `evm_` and `hardhat_`, e.g. `eth_sendUnsignedTransaction`. */
const SAFE_METHODS = [
  'web3_clientVersion web3_sha3 net_version net_listening txpool_status txpool_inspect txpool_content',
  'eth_chainId eth_networkId eth_protocolVersion eth_syncing eth_accounts eth_blockNumber eth_config',
  'eth_gasPrice eth_maxPriorityFeePerGas eth_blobBaseFee eth_feeHistory eth_estimateGas eth_fillTransaction',
  'eth_call eth_simulateV1 eth_createAccessList eth_getBalance eth_getCode eth_getStorageAt eth_getProof eth_getTransactionCount',
  'eth_getBlockByHash eth_getBlockByNumber eth_getBlockReceipts eth_getHeaderByHash eth_getHeaderByNumber',
  'eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getUncleCountByBlockHash eth_getUncleCountByBlockNumber',
  'eth_getUncleByBlockHashAndIndex eth_getUncleByBlockNumberAndIndex eth_getTransactionByHash eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex eth_getRawTransactionByHash eth_getTransactionReceipt eth_getTransactionBySenderAndNonce',
  'eth_getLogs eth_newFilter eth_newBlockFilter eth_newPendingTransactionFilter eth_getFilterChanges eth_getFilterLogs',
  'eth_uninstallFilter eth_sendRawTransaction eth_sendRawTransactionSync',
].flatMap((line) => line.split(' '));

const SUBSCRIPTIONS = ['eth_subscribe', 'eth_unsubscribe'];

type RpcTransport = 'http' | 'websocket';

const PUBLIC_METHODS: Readonly<Record<RpcTransport, ReadonlySet<string>>> = {
  http: new Set(SAFE_METHODS),
  websocket: new Set([...SAFE_METHODS, ...SUBSCRIPTIONS]),
};

export interface RpcEndpoint {
  /** For all programs on this machine: reads and signed transactions. */
  publicUrl: string;
  /** For the owner of the chain: all methods. Its path is a secret; requests of browser pages are rejected here too. */
  ownerUrl: string;
  close(): Promise<void>;
}

type ConnectNode = (options?: Omit<NodeSocketOptions, 'path'>) => NodeSocket;

/** Serves JSON-RPC over HTTP and WebSocket on 127.0.0.1, in front of a node. @param port 0: any free port */
export async function serveRpcEndpoint(connect: ConnectNode, port: number): Promise<RpcEndpoint> {
  const ownerPath = `/${randomBytes(32).toString('hex')}`;
  const node = connect();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES, perMessageDeflate: false });
  const methodCheck = ({ url = '' }: IncomingMessage, transport: RpcTransport) =>
    isEqual(url, ownerPath) ? () => true : (method: string) => isPublicMethod(method, transport);

  const server = createServer((request, response) => {
    void respondHttp({ request, response, node, isAllowed: methodCheck(request, 'http') });
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const rejection = findOriginRejection(request.headers, (server.address() as AddressInfo).port);
    if (rejection !== null) return rejectUpgrade(socket, rejection);
    sockets.handleUpgrade(request, socket, head, (client) => serveRpcWebSocket(client, connect, methodCheck(request, 'websocket')));
  });
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(port, '127.0.0.1', listening));

  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    publicUrl,
    ownerUrl: publicUrl + ownerPath,
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      node.close();
      await closed;
    },
  };
}

function isEqual(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function rejectUpgrade(socket: Duplex, { status, message }: RequestRejection): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\n`;
  socket.end(`${head}Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
}

function isPublicMethod(method: string, transport: RpcTransport): boolean {
  return PUBLIC_METHODS[transport].has(method);
}

/** Serves JSON-RPC and subscriptions on a WebSocket, over its own connection to the node. */
function serveRpcWebSocket(client: WebSocket, connect: ConnectNode, isAllowed: (method: string) => boolean): void {
  const node = connect({ onNotification: (line) => client.send(line), onClose: () => client.close() });
  client.on('error', () => client.terminate());
  client.on('close', () => node.close());
  client.on('message', async (data) => {
    const parsed = parseRpcBody(String(data));
    const reply = 'error' in parsed ? parsed.error : await answerRpc(node, parsed.body, isAllowed);
    if (reply !== undefined && client.readyState === client.OPEN) client.send(JSON.stringify(reply));
  });
}
