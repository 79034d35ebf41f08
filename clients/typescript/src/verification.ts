import type { Horizon } from './types.ts';

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
  checks: VerifiedCheck[];
  differences: { check: string; message: string }[];
  notes: readonly string[];
  /** Checks that are due and could not be made, and why. */
  incomplete: readonly string[];
  /** Why checks were not made that are not due. */
  unchecked: readonly string[];
}
