import { createClient, http } from 'viem';
import { buildForecastReport, parseForecastQuery, verifyForecast } from '../../../src/audit/audit.ts';
import { type AuditChain, connectChain, OP_STACK_CHAIN_IDS } from '../../../src/audit/chain-record.ts';
import { createForecastClaims } from '../../../src/audit/service-claims.ts';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../../src/chain/addresses.ts';
import { OracleError } from './errors.ts';
import type { Horizon, Info } from './types.ts';

interface VerifierDeps {
  url: string;
  /** JSON of a path below the service. @throws OracleError with the code of the response */
  request(path: string): Promise<unknown>;
}

const TIMEOUT_MS = 30_000;
const RETRY_DELAY_MS = 250;

/**
 * Checks a forecast against the chain, read by the endpoint of the caller: all checks of `svc verify` (docs/VERIFY.md). The service is asked for
 * what the options do not name, and for the distributions that the chain has digests of.
 * @param id `latest`, a prediction id such as `2026-11-14:7d`, or the uid of an attestation
 * @throws OracleError INPUT_INVALID for the id, CHAIN_UNREACHABLE, CONFIG_INVALID for an endpoint of another chain
 */
export async function verifyForecastOnChain(deps: VerifierDeps, id: string, options: VerifyOptions): Promise<ForecastVerification> {
  const query = parseQuery(id, options.horizon ?? '7d');
  const info = (await deps.request('api/svc/info')) as Info;
  const attester = options.attester ?? (info.chain.attester as `0x${string}`);
  const chain = await openChain(options, info);
  const search = { chain, attester, prices: null, now: new Date(), signal: options.signal, onProgress: options.onProgress ?? ignore };
  const verification = await verifyForecast(search, query, createForecastClaims(deps.url, deps.request));
  const takenFromService = options.attester === undefined ? ['attester' as const] : [];
  return buildForecastReport(verification, { chain, attester, endpoint: new URL(options.rpcUrl).host, takenFromService });
}

function ignore(): void {}

function parseQuery(id: string, horizon: Horizon): ReturnType<typeof parseForecastQuery> {
  try {
    return parseForecastQuery(id, horizon);
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    throw new OracleError('INPUT_INVALID', error.message, {
      field: 'id',
      suggestedAction: "Pass 'latest', or the predictionId of a forecast.",
    });
  }
}

async function openChain({ rpcUrl, eas = EAS_ADDRESS, signal }: VerifyOptions, info: Info): Promise<AuditChain> {
  const createReader = ({ batchSize, retries }: { batchSize?: number; retries: boolean }) =>
    createClient({
      transport: http(rpcUrl, {
        timeout: TIMEOUT_MS,
        retryCount: retries ? 3 : 0,
        retryDelay: RETRY_DELAY_MS,
        batch: batchSize === undefined ? false : { batchSize },
        fetchOptions: signal === undefined ? {} : { signal },
      }),
    });
  const chain = await connectChain(createReader, { eas, schemaRegistry: SCHEMA_REGISTRY_ADDRESS });
  if (chain.chainId !== info.chain.id) {
    throw new OracleError(
      'CONFIG_INVALID',
      `rpcUrl is an endpoint of chain ${chain.chainId}, and the record is on chain ${info.chain.id}`,
      {
        field: 'rpcUrl',
      },
    );
  }
  requireKnownContract(eas, chain.chainId, info);
  return chain;
}

/** A contract that only the service names could return anything. @throws OracleError CONFIG_INVALID */
function requireKnownContract(eas: string, chainId: number, { contracts }: Info): void {
  if (contracts.eas.toLowerCase() === eas.toLowerCase() || OP_STACK_CHAIN_IDS.includes(chainId)) return;
  throw new OracleError('CONFIG_INVALID', `The service names ${contracts.eas} as its attestation contract on chain ${chainId}`, {
    field: 'eas',
    suggestedAction: 'Name the contract that you trust in eas.',
  });
}

type Hex = `0x${string}`;

export interface VerifyOptions {
  /** JSON-RPC endpoint of the chain of the record: one that you trust, not one that the service names. */
  rpcUrl: string;
  /** Wallet of the record. Default: as the service names it; keep it, and name it the next time. */
  attester?: Hex | undefined;
  /** Attestation contract. Default: the predeploy of Base and other OP chains. */
  eas?: Hex | undefined;
  /** Of `latest`; default `7d`. */
  horizon?: Horizon | undefined;
  signal?: AbortSignal | undefined;
  onProgress?(stage: string, done: number, total: number): void;
}

/** One check of the catalogue in docs/VERIFY.md. */
export interface VerifiedCheck {
  check: string;
  what: string;
  ok: boolean;
  /** What of it could not be checked, and why; null: nothing. */
  open: string | null;
  /** The comparisons that fail. */
  differences: {
    attestation: string;
    field: string;
    expected: string | number | boolean | null;
    actual: string | number | boolean | null;
  }[];
}

/** What the chain shows about one forecast. Times are ISO 8601. */
export interface ForecastVerification {
  /** `incomplete`: no check fails, and one that is due could not be made. */
  verdict: 'verified' | 'differs' | 'incomplete';
  /** The verdict in one line. */
  words: string;
  where: { chainId: number; attester: string; eas: string; endpoint: string; takenFromService: string[] };
  prediction: {
    predictionId: string;
    uid: Hex;
    date: string;
    horizon: string;
    sequence: number;
    attestedAt: string;
    windowOpensAt: string;
    resolvesAt: string;
    commitment: Hex;
    status: string;
    late: boolean;
    missed: boolean;
  } | null;
  /** As revealed on chain; null before its window has ended. */
  resolution: {
    uid: Hex;
    attestedAt: string;
    signal: string;
    direction: string;
    pUpBps: number;
    btcAtSignalCents: number;
    btcAtResolutionCents: number;
    returnBps: number;
    outcome: string;
    salt: Hex;
  } | null;
  /** Checks that hold, of `total`: the number of `checks` and `unchecked`. */
  agreeing: number;
  total: number;
  checks: VerifiedCheck[];
  /** Checks that were not made, and why. */
  unchecked: { check: string; what: string; reason: string }[];
  differences: { check: string; message: string }[];
  notes: readonly string[];
  /** Checks that are due and could not be made, and why. */
  incomplete: readonly string[];
}
