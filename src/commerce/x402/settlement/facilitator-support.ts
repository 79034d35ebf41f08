import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { readJson } from '../../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../../platform/outbound/operator-fetch.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;
const SUPPORTED = z.looseObject({ kinds: z.array(z.looseObject({ scheme: z.string(), network: z.string() })) });

/** Requires a remote facilitator that settles `exact` on the chain, by its `/supported`. @throws OracleError CONFIG_INVALID */
export async function requireFacilitatorSupport(url: string, chainId: number): Promise<void> {
  const base = url.replace(/\/+$/, '');
  const network = `eip155:${chainId}`;
  const { kinds } = await readSupported(base);
  if (kinds.some((kind) => kind.scheme === 'exact' && kind.network === network)) return;
  throw facilitatorError(`does not settle "exact" on ${network}`);
}

async function readSupported(base: string): Promise<z.output<typeof SUPPORTED>> {
  const fetchFacilitator = createOperatorFetch({ base, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  try {
    const response = await fetchFacilitator(`${base}/supported`);
    if (!response.ok) throw facilitatorError(`answers ${response.status} at /supported`);
    return SUPPORTED.parse(await readJson(response, MAX_BYTES));
  } catch (cause) {
    throw cause instanceof OracleError ? cause : facilitatorError('gives no valid answer at /supported', cause);
  }
}

function facilitatorError(problem: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `The facilitator of X402_FACILITATOR_URL ${problem}`, {
    field: 'X402_FACILITATOR_URL',
    suggestedAction: 'Set X402_FACILITATOR_URL to one that settles on this chain, or unset it to settle here.',
    cause,
  });
}
