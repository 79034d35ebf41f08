import { decodeAbiParameters, encodeAbiParameters, keccak256, parseAbi, parseAbiParameters } from 'viem';
import type { Agent } from './agent.ts';
import { beginStep, check, narrate } from './narrate.ts';
import type { SoldForecast } from './pay-requests.ts';
import { short } from './receipt.ts';

const eas = parseAbi([
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
]);
const OPENING = parseAbiParameters(
  'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents',
);
const PREDICTION = parseAbiParameters('uint64, uint32, uint16, uint64, uint64, bytes32 commitment, bytes32, bytes32');

/** Compares the bought forecast with the commitment on chain, made before the outcome was known. */
export async function checkForecast({ chain, contracts }: Agent, sold: SoldForecast): Promise<void> {
  beginStep('Check on chain that this is what was committed');
  const { attestationUid, opening, receipt } = sold;
  if (attestationUid === null) return narrate('It is minutes old and not on chain yet: forecasts are committed at 21:38 UTC.');
  check(receipt.message.attestationUid === attestationUid, `the receipt names the attestation ${short(attestationUid)}`);
  const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = opening;
  narrate(
    `sold: ${sold.signal} (${signal}), ${sold.direction} (${direction}), confidence ${confidenceBps / 100} %, BTC at ${btcPriceCents / 100} USD`,
  );
  const opened = keccak256(encodeAbiParameters(OPENING, [salt, signal, direction, confidenceBps, pUpBps, BigInt(btcPriceCents)]));
  const { time, data } = await chain.readContract({
    address: contracts.eas,
    abi: eas,
    functionName: 'getAttestation',
    args: [attestationUid],
  });
  const [, , , windowOpensAt, , commitment] = decodeAbiParameters(PREDICTION, data);
  check(commitment === opened, `the sold values and salt hash to the commitment on chain, ${short(commitment)}`);
  check(time < windowOpensAt, `which was there at ${isoOf(time)}, before its window opened at ${isoOf(windowOpensAt)}`);
}

function isoOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString().slice(0, 16).replace('T', ' ');
}
