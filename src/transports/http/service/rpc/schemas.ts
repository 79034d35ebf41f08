import { z } from 'zod';
import { READ_METHOD_NAMES } from '../../../../chain/rpc-proxy/methods.ts';
import { MAX_CALLS_PER_BATCH } from '../../../../chain/rpc-proxy/read-only-rpc.ts';

const ID = z.union([z.string().max(128), z.number(), z.null()]);
const VERSION = z.literal('2.0').describe('JSON-RPC version');

const CALL = z.object({
  jsonrpc: VERSION,
  id: ID.describe('Echoed in the response'),
  method: z.enum(READ_METHOD_NAMES).describe('Method; others answer -32601'),
  params: z.array(z.unknown()).optional().describe('Parameters as in any node; state overrides are rejected'),
});

/** For documentation: JSON-RPC has its own errors for invalid requests. */
export const RPC_REQUEST = z.union([CALL, z.array(CALL).min(1).max(MAX_CALLS_PER_BATCH)]);

const ANSWER = z.object({
  jsonrpc: VERSION,
  id: ID.describe('Id of the call; null where unreadable'),
  result: z.unknown().optional().describe('Result; absent with an error'),
  error: z
    .object({
      code: z
        .int()
        .describe(
          '-32600 invalid request, -32601 method not served, -32602 invalid params, -32603 no response, -32005 limit exceeded, 3 reverted',
        ),
      message: z.string().describe('As text'),
      data: z.string().optional().describe('Revert data of a contract, as hex'),
    })
    .optional()
    .describe('Error'),
});

export const RPC_REPLY = z.union([ANSWER, z.array(ANSWER)]);

export type RpcResponseBody = z.input<typeof RPC_REPLY>;
