// Checks a resolved forecast against the chain alone: npx node examples/verify/verify.ts [uid of a resolution attestation]
// Without a uid the service is asked for its newest one, and believed in nothing else. RPC_URL: a node that you trust.
import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodePacked,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  zeroAddress,
} from 'viem';
import { ask } from '../common/service.ts';
import { openChain } from '../common/wallet.ts';

/** The Ethereum Attestation Service, where it stands on Base and chains like it. */
const EAS = '0x4200000000000000000000000000000000000021';
const abi = parseAbi([
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
]);
const OPENING = 'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents';
/** What is attested before the window opens, and what after it is over. The text of a schema decides its uid. */
const PREDICTION =
  'uint64 sequence, uint32 day, uint16 horizonDays, uint64 windowOpensAt, uint64 resolvesAt, bytes32 commitment, bytes32 inputsDigest, bytes32 metadata';
const RESOLUTION = `${OPENING}, uint64 btcAtSignalCents, uint64 btcAtResolutionCents, int32 returnBps, uint8 outcome` as const;
const SIGNALS = ['HOLD', 'BUY', 'SELL'];
const DIRECTIONS = ['', 'UP', 'DOWN'];
const OUTCOMES = ['HOLD', 'WIN', 'LOSS'];

const chain = openChain();
const resolution = await read((process.argv[2] as Hex) ?? (await newestResolution()), RESOLUTION);
const prediction = await read(resolution.refUID, PREDICTION);

const predicted = decodeAbiParameters(parseAbiParameters(PREDICTION), prediction.data);
const [sequence, day, horizonDays, windowOpensAt, resolvesAt, commitment] = predicted;
const revealed = decodeAbiParameters(parseAbiParameters(RESOLUTION), resolution.data);
const [salt, signal, direction, confidenceBps, pUpBps, btcPriceCents, before, after, returnBps, outcome] = revealed;
const opening = [salt, signal, direction, confidenceBps, pUpBps, btcPriceCents] as const;

const date = new Date(day * 86_400_000).toISOString().slice(0, 10);
console.log(`Forecast ${sequence}, ${horizonDays}d of ${date}, by ${prediction.attester}: is that the address you know?`);
console.log(`It said ${SIGNALS[signal]}: ${DIRECTIONS[direction]} with ${confidenceBps / 10_000}; BTC/USD then moved ${returnBps / 100} %`);
check('one attester has made both attestations', prediction.attester === resolution.attester);
check(
  'what was revealed hashes to what was committed',
  keccak256(encodeAbiParameters(parseAbiParameters(OPENING), opening)) === commitment,
);
check('its window is that of its day and horizon', windowOpensAt === opensAt(day) && resolvesAt === opensAt(day + horizonDays));
check('it was on chain before its window opened', prediction.time < windowOpensAt);
check('it was revealed after its window was over', resolution.time >= resolvesAt);
const scored = signal === 0 ? 'HOLD' : (direction === 1) === after > before ? 'WIN' : 'LOSS';
// Whether these closes are those of the market, `npm run -s audit` holds against prices from elsewhere.
check(`its outcome follows from its closes: ${scored}`, OUTCOMES[outcome] === scored);

/** In seconds: 00:00 UTC after a day. */
function opensAt(day: number): bigint {
  return BigInt(day + 1) * 86_400n;
}

/** An attestation of a schema. */
async function read(uid: Hex, schema: string) {
  const attestation = await chain.readContract({ address: EAS, abi, functionName: 'getAttestation', args: [uid] });
  const expected = keccak256(encodePacked(['string', 'address', 'bool'], [schema, zeroAddress, false]));
  if (attestation.schema === expected) return attestation;
  throw new Error(`${uid} is no such attestation: name that of a resolution, which leads to its forecast`);
}

async function newestResolution(): Promise<Hex> {
  const { data } = await ask<{ data: { uid: Hex; type: string }[] }>('/api/svc/onchain-oracle/history?horizons=all&limit=100');
  const newest = data.find(({ type }) => type === 'resolution');
  if (newest === undefined) throw new Error('No forecast is resolved yet');
  return newest.uid;
}

function check(what: string, holds: boolean): void {
  console.log(`${holds ? '✓' : '✗'} ${what}`);
  if (!holds) process.exitCode = 1;
}
