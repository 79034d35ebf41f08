import { type CapacityLimits, SharedCapacity, toCapacityClient } from '../../../../auth/rate-limit/shared-capacity.ts';
import { MAX_LOG_BLOCKS } from '../../../../chain/rpc-proxy/log-range.ts';
import { MAX_CALLS_PER_BATCH, MAX_LOG_CALLS, NODE_CONCURRENCY } from '../../../../chain/rpc-proxy/read-only-rpc.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { RPC_REPLY, RPC_REQUEST, type RpcResponseBody } from './schemas.ts';

export const RPC_PATH = '/rpc';

const DESCRIPTION = `
The local chain itself listens on this machine only, and not to pages of a browser. This way everybody can check the record of a
demonstration against its chain: JSON-RPC 2.0, one call or up to ${MAX_CALLS_PER_BATCH} of them, ${MAX_LOG_CALLS} of them at most \`eth_getLogs\`, each over
at most ${MAX_LOG_BLOCKS} blocks. Nothing that changes the chain is passed on. What goes wrong with a call is told in its answer, under status 200.

Where the record is on a real chain nothing is served here: \`chain.rpcUrl\` of \`/api/svc/info\` names an endpoint.
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
    units: 'reads of the chain',
    limits: MAX_READS,
    suggestedAction: 'Wait for the answers to earlier requests, or send several calls in one request.',
    retryAfterSeconds: 5,
  });
  return [
    route({
      method: 'post',
      path: RPC_PATH,
      name: 'readLocalChain',
      tag: 'service',
      summary: 'Reads the local chain by JSON-RPC, to check the record against it',
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
    rpcUrl === null
      ? 'Read it by any endpoint of chain.id in /api/svc/info.'
      : `Read it by ${rpcUrl}, which is chain.rpcUrl in /api/svc/info.`;
  return new OracleError('NOT_FOUND', 'The record is on a real chain, which this service does not read for others', { suggestedAction });
}
