import { z } from 'zod';

const BLOCK_MESSAGE = 'must be the number of a block in hexadecimal, or one of latest, earliest, pending, safe, finalized';
/** Block number of at most 64 bits, or block tag. */
const BLOCK = z.string(BLOCK_MESSAGE).regex(/^(?:latest|earliest|pending|safe|finalized|0x[0-9a-fA-F]{1,16})$/, BLOCK_MESSAGE);
const HASH = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters');
const ADDRESS = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex characters');
const DATA = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/, 'must be 0x and whole bytes in hexadecimal');
const AMOUNT = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be a number in hexadecimal');
const INCLUDE_TRANSACTIONS = z.boolean('must be true or false');

/** Fees of the client are dropped: they do not affect a read. */
const CALL_PARAMETER = z.object({
  from: ADDRESS.optional(),
  to: ADDRESS,
  data: DATA.optional(),
  input: DATA.optional(),
  value: AMOUNT.optional(),
  gas: AMOUNT.optional(),
});

export type CallParameter = z.output<typeof CALL_PARAMETER>;

const TOPICS = z.array(z.union([z.null(), HASH, z.array(HASH).max(20)])).max(4);
const LOG_FILTER = z.object({
  address: z.union([ADDRESS, z.array(ADDRESS).max(20)]).optional(),
  topics: TOPICS.optional(),
  fromBlock: BLOCK.optional(),
  toBlock: BLOCK.optional(),
  blockHash: HASH.optional(),
});

export type LogFilter = z.output<typeof LOG_FILTER>;

/** Allow-list of methods and parameters. Nothing else is forwarded, so that a client cannot change state. */
export const READ_METHODS = {
  eth_chainId: z.tuple([]),
  eth_blockNumber: z.tuple([]),
  // No third parameter: it would hold state overrides.
  eth_call: z.tuple([CALL_PARAMETER, BLOCK.optional()]),
  eth_getCode: z.tuple([ADDRESS, BLOCK.optional()]),
  eth_getBalance: z.tuple([ADDRESS, BLOCK.optional()]),
  eth_getBlockByNumber: z.tuple([BLOCK, INCLUDE_TRANSACTIONS.optional()]),
  eth_getBlockByHash: z.tuple([HASH, INCLUDE_TRANSACTIONS.optional()]),
  eth_getLogs: z.tuple([LOG_FILTER]),
  eth_getTransactionByHash: z.tuple([HASH]),
  eth_getTransactionReceipt: z.tuple([HASH]),
} as const satisfies Record<string, z.ZodTuple>;

export type ReadMethod = keyof typeof READ_METHODS;

export const READ_METHOD_NAMES = Object.keys(READ_METHODS) as ReadMethod[];
