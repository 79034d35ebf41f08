import { type CapacityLimits, SharedCapacity, toCapacityClient } from '../../../../auth/rate-limit/shared-capacity.ts';
import { MAX_LOG_BLOCKS } from '../../../../chain/rpc-proxy/log-range.ts';
import { MAX_CALLS_PER_BATCH, MAX_LOG_CALLS, NODE_CONCURRENCY } from '../../../../chain/rpc-proxy/read-only-rpc.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { RPC_REPLY, RPC_REQUEST, type RpcResponseBody } from './schemas.ts';

export const RPC_PATH = '/rpc';

const DESCRIPTION = `
Read-only proxy to the local chain of a demonstration, which itself accepts local connections only. JSON-RPC 2.0, one call or a batch of up
to ${MAX_CALLS_PER_BATCH}, of which at most ${MAX_LOG_CALLS} \`eth_getLogs\` over at most ${MAX_LOG_BLOCKS} blocks each. Errors of a call are in its response, with status 200.

On a real chain it answers 404: \`chain.rpcUrl\` of \`/api/svc/info\` has an endpoint.
`.trim();

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
export function rpcRoutes({ chainReading }: Pick<HttpDeps, 'chainReading'>): Route[] {
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
      reply: RPC_REPLY,
      errors: ['NOT_FOUND'],
      async handle({ json, context }): Promise<Reply<RpcResponseBody>> {
        if (chainReading.rpc === null) throw buildRpcNotServedError(chainReading.rpcUrl);
        const client = toCapacityClient(context);
        const release = reads.acquire(client);
        try {
          return { body: await chainReading.rpc.answer(json, client.class === 'holder') };
        } finally {
          release();
        }
      },
    }),
  ];
}

function buildRpcNotServedError(rpcUrl: string | null): OracleError {
  const suggestedAction =
    rpcUrl === null ? 'Use any endpoint of chain.id in /api/svc/info.' : `Use ${rpcUrl}, which is chain.rpcUrl in /api/svc/info.`;
  return new OracleError('NOT_FOUND', 'The record is on a real chain, which this service does not proxy', { suggestedAction });
}
