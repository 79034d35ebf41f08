import { z } from 'zod';
import { READ_METHOD_NAMES } from '../../../../chain/rpc-proxy/methods.ts';
import { MAX_CALLS_PER_BATCH } from '../../../../chain/rpc-proxy/read-only-rpc.ts';

const ID = z.union([z.string().max(128), z.number(), z.null()]);
const VERSION = z.literal('2.0').describe('Version of JSON-RPC');

const CALL = z.object({
  jsonrpc: VERSION,
  id: ID.describe('Comes back with the answer'),
  method: z.enum(READ_METHOD_NAMES).describe('What to read; anything else is refused with -32601'),
  params: z.array(z.unknown()).optional().describe('Its parameters as every node takes them; overrides of the state are refused'),
});

/** What is documented of a request; the protocol itself says what is wrong with one. */
export const RPC_REQUEST = z.union([CALL, z.array(CALL).min(1).max(MAX_CALLS_PER_BATCH)]);

const ANSWER = z.object({
  jsonrpc: VERSION,
  id: ID.describe('That of the call; null where it could not be read'),
  result: z.unknown().optional().describe('What the chain says; with an error there is none'),
  error: z
    .object({
      code: z
        .int()
        .describe('-32600 no call, -32601 not served here, -32602 wrong parameters, -32603 no answer, -32005 too much at once, 3 reverted'),
      message: z.string().describe('In words'),
      data: z.string().optional().describe('What a contract gave as its reason, as hex'),
    })
    .optional()
    .describe('Why there is no result'),
});

export const RPC_REPLY = z.union([ANSWER, z.array(ANSWER)]);

export type RpcResponseBody = z.input<typeof RPC_REPLY>;
