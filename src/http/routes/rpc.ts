import { z } from 'zod';
import { type CapacityLimits, SharedCapacity, toCapacityClient } from '../../auth/rate-limits.ts';
import { MAX_CALLS_PER_BATCH, MAX_LOG_BLOCKS, MAX_LOG_CALLS, NODE_CONCURRENCY, READ_METHOD_NAMES } from '../../chain/rpc-proxy.ts';
import { OracleError } from '../../errors.ts';
import { namedObject } from '../../platform/validation.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

export const RPC_PATH = '/rpc';

const PRICES =
  'an `eth_getLogs` 0.5; an `eth_call` 1 for each 2 million of gas that it may use (`gas`, by default 2 and at most 10 million), or for each ' +
  '20 million where it calls contracts of the record only, also by `aggregate3` of Multicall3; most others 0.02.';

const DESCRIPTION = `
Read-only proxy to the local chain of a demonstration, which itself accepts local connections only. JSON-RPC 2.0, one call or a batch of up
to ${MAX_CALLS_PER_BATCH}, of which at most ${MAX_LOG_CALLS} \`eth_getLogs\` over at most ${MAX_LOG_BLOCKS} blocks each. Each call has its price in units of
the rate limit, and a request at least a tenth: ${PRICES} Errors of a call are in its response, with status 200.

On a real chain it answers 404: \`chain.rpcUrl\` of \`/api/svc/info\` has an endpoint.
`.trim();

/** Taken before the body is read; the calls of it cost more. */
const REQUEST_UNITS = 0.1;

/** Pending requests per process; a page that verifies the record sends several in parallel. */
export const MAX_READS: CapacityLimits = {
  perClient: 12,
  per56: 16,
  per48: 20,
  anonymous: 24,
  anonymousAndPayers: 24,
  overall: NODE_CONCURRENCY.atOnce + NODE_CONCURRENCY.waiting,
};

/** Read-only JSON-RPC of the local chain. */
export function rpcRoutes({ chainReading }: Services): Route[] {
  const reads = new SharedCapacity({
    units: 'chain reads',
    limits: MAX_READS,
    suggestedAction: 'Wait for responses to earlier requests, or batch several calls in one request.',
    retryAfterSeconds: 5,
  });
  return [
    route(`POST ${RPC_PATH}`, 'readLocalChain', {
      tag: 'service',
      summary: 'Read-only JSON-RPC of the local chain, to verify the record',
      description: DESCRIPTION,
      json: RPC_REQUEST,
      units: REQUEST_UNITS,
      reply: RPC_REPLY,
      errors: ['NOT_FOUND'],
      async handle({ json, context }) {
        const { rpc, rpcUrl } = chainReading;
        if (rpc === null) {
          const suggestedAction =
            rpcUrl === null ? 'Use any endpoint of chain.id in /api/svc/info.' : `Use ${rpcUrl}, which is chain.rpcUrl in /api/svc/info.`;
          throw new OracleError('NOT_FOUND', 'The record is on a real chain, which this service does not proxy', { suggestedAction });
        }
        const request = rpc.read(json);
        if (request.units > REQUEST_UNITS) {
          await context.countCall(request.units - REQUEST_UNITS).catch(async (error) => {
            // A batch beyond the limit costs a unit: its body was read and parsed.
            await context.countCall(1).catch(() => undefined);
            throw error;
          });
        }
        const client = toCapacityClient(context);
        const release = reads.acquire(client);
        try {
          return { body: await request.answer(client.class === 'holder') };
        } finally {
          release();
        }
      },
    }),
  ];
}

const ID = z.union([z.string().max(128), z.number(), z.null()]);
const VERSION = z.literal('2.0').describe('JSON-RPC version');

const CALL = namedObject('RpcCall', {
  jsonrpc: VERSION,
  id: ID.describe('Echoed in the response'),
  method: z.enum(READ_METHOD_NAMES).describe('Method; others answer -32601'),
  params: z.array(z.unknown()).optional().describe('Parameters as in any node; state overrides are rejected'),
});

/** For documentation: JSON-RPC has its own errors for invalid requests. */
const RPC_REQUEST = z.union([CALL, z.array(CALL).min(1).max(MAX_CALLS_PER_BATCH)]);

const ANSWER = namedObject('RpcAnswer', {
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

const RPC_REPLY = z.union([ANSWER, z.array(ANSWER)]);
