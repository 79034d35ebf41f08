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

export type RpcTransport = 'http' | 'websocket';

const PUBLIC_METHODS: Readonly<Record<RpcTransport, ReadonlySet<string>>> = {
  http: new Set(SAFE_METHODS),
  websocket: new Set([...SAFE_METHODS, ...SUBSCRIPTIONS]),
};

export function isPublicMethod(method: string, transport: RpcTransport): boolean {
  return PUBLIC_METHODS[transport].has(method);
}
