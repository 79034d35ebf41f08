import { type Hex, hexToBigInt, parseTransaction, type TransactionSerializableEIP1559 } from 'viem';
import { SignerRefusal } from './role-signer.ts';
import type { EcdsaSignature } from './wallet-signature.ts';

const COMPARED_FIELDS = ['chainId', 'nonce', 'to', 'value', 'data', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const;

/** The signature of a serialized transaction. @throws SignerRefusal naming the field unless it is the one that was asked for */
export function readSignature(raw: Hex, asked: TransactionSerializableEIP1559): EcdsaSignature {
  const signed = parse(raw);
  for (const field of COMPARED_FIELDS) {
    if (toText(signed[field]) !== toText(asked[field])) throw new SignerRefusal(`it signed a transaction with another ${field}`);
  }
  if ((signed.accessList ?? []).length > 0) throw new SignerRefusal('it signed a transaction with an access list');
  const { r, s } = signed;
  if (r === undefined || s === undefined) throw new SignerRefusal('its transaction is not signed');
  return { r: hexToBigInt(r), s: hexToBigInt(s) };
}

function parse(raw: Hex) {
  let parsed: ReturnType<typeof parseTransaction>;
  try {
    parsed = parseTransaction(raw);
  } catch (cause) {
    throw new SignerRefusal('its transaction cannot be read', { cause });
  }
  if (parsed.type !== 'eip1559') throw new SignerRefusal('it signed no EIP-1559 transaction');
  return parsed;
}

/** Absent fields are zero or empty in the encoding. */
function toText(value: string | number | bigint | null | undefined): string {
  const text = String(value ?? '').toLowerCase();
  return text === '0' || text === '0x' ? '' : text;
}
