import { type Hex, keccak256, stringToHex } from 'viem';

/** Message of a signed receipt; integers as decimal text. */
export interface ReceiptMessage {
  payer: Hex;
  payee: Hex;
  asset: Hex;
  amount: string;
  resource: string;
  answerHash: Hex;
  forecastId: string;
  attestationUid: Hex;
  txHash: Hex;
  settledAt: string;
}

const RECEIPT_TYPE =
  'Receipt(address payer,address payee,address asset,uint256 amount,string resource,bytes32 answerHash,string forecastId,bytes32 attestationUid,bytes32 txHash,uint64 settledAt)';
const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId)';
const DOMAIN_NAME = 'Bitcoin Signal Oracle receipt';

const hashText = (text: string) => keccak256(stringToHex(text));

/** The EIP-712 hash that the seller signs. */
export function hashReceipt(message: ReceiptMessage, chainId: number): Hex {
  const { payer, payee, asset, amount, resource, answerHash, forecastId, attestationUid, txHash, settledAt } = message;
  const domain = encodeWords([hashText(DOMAIN_TYPE), hashText(DOMAIN_NAME), hashText('1'), BigInt(chainId)]);
  const parties = [hashText(RECEIPT_TYPE), payer, payee, asset, BigInt(amount)];
  const receipt = encodeWords([
    ...parties,
    ...[hashText(resource), answerHash, hashText(forecastId), attestationUid, txHash, BigInt(settledAt)],
  ]);
  return keccak256(`0x1901${[domain, receipt].map((part) => keccak256(part).slice(2)).join('')}`);
}

/** `abi.encode` of static values, each in 32 bytes. */
function encodeWords(values: readonly (Hex | bigint)[]): Hex {
  const words = values.map((value) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0'));
  return `0x${words.join('')}`;
}

/** keccak256 of the RFC 8785 form of a JSON document, in UTF-8. */
export function hashDocument(document: unknown): Hex {
  return hashText(canonicalizeJson(document));
}

/** RFC 8785 serializes strings and numbers as ECMAScript does, and sorts members by UTF-16 code units. */
function canonicalizeJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalizeJson).join()}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalizeJson(member)}`).join()}}`;
}
