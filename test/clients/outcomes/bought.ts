import { type Address, formatUnits, type Hex, isAddressEqual, keccak256, stringToBytes } from 'viem';
import { checkReceipt, checkX402Receipt } from '../../../src/payer.ts';
import { findPaidExchange } from '../rows/replays.ts';
import type { Cell, Row } from '../rows/row.ts';
import { readPayment, readSettlementHeader } from '../wire/payments.ts';
import type { World } from '../world/world.ts';
import { type Attempt, attempt } from './attempt.ts';

/** A call is paid once, with a receipt of the seller for exactly this answer. */
export async function buyCall(row: Row, world: World): Promise<{ cell: Cell; purchase: Attempt }> {
  const purchase = await world.withSignal('BUY', () => attempt(row, world));
  return { cell: await checkSale(world, purchase), purchase };
}

/** A HOLD is charged and has a receipt like any signal. */
export async function buyHold(row: Row, world: World): Promise<Cell> {
  const purchase = await world.withSignal('HOLD', () => attempt(row, world));
  const { answer } = getBought(purchase);
  if (answer.signal !== 'HOLD') throw new Error(`the answer is ${answer.signal}`);
  return checkSale(world, purchase);
}

/** Both kinds of receipt, and the feedback file that the answer names, are for the same sale. */
async function checkSale(world: World, purchase: Attempt): Promise<Cell> {
  const { seller, demo, sales } = world;
  const { answer, settlement } = getBought(purchase);
  const payment = readPayment(findPaidExchange(purchase.exchanges)) as Parameters<typeof checkReceipt>[1]['payment'];
  const sale = answer.payment as { txHash: Hex; resource: string; payer: Address; feedbackPath: string };
  const settled = readSettlementHeader(findPaidExchange(purchase.exchanges)) ?? settlement;
  const x402Receipt = await checkX402Receipt(settled, { payer: purchase.payer.address, payment: sale, seller, chainId: demo.chainId });
  if (x402Receipt.length === 0) throw new Error('the settlement has no receipt of the x402 extension');
  const checks = [...(await checkReceipt(answer, { payment, seller, chainId: demo.chainId })), ...x402Receipt];
  const failed = checks.filter(({ ok }) => !ok).map(({ what }) => what);
  if (failed.length > 0) throw new Error(`does not hold: ${failed.join('; ')}`);
  const { amount, txHash } = (answer.receipt as { message: { amount: string; txHash: Hex } }).message;
  if (settlement?.success !== true || settlement.transaction !== txHash) throw new Error('the protocol receipt names another transaction');
  if (purchase.spent !== BigInt(amount)) throw new Error(`the receipt is for ${amount} units, the wallet paid ${purchase.spent}`);
  await checkFeedbackFile(world, sale, purchase);
  sales.push({ txHash, units: BigInt(amount) });
  return { text: formatUnits(BigInt(amount), 6), ok: true };
}

/** The file names the payer and the transfer to the payee, and its hash is the one that the payer would put on chain. */
async function checkFeedbackFile({ wire, seller }: World, sale: { txHash: Hex; feedbackPath: string }, { payer }: Attempt): Promise<void> {
  const response = await fetch(`${wire.url}${sale.feedbackPath}?value=90`);
  const json = await response.text();
  const { proofOfPayment, clientAddress } = JSON.parse(json) as FeedbackFile;
  const { fromAddress, toAddress, txHash } = proofOfPayment;
  const isSameSale =
    isAddressEqual(fromAddress, payer.address) &&
    isAddressEqual(toAddress, seller) &&
    txHash === sale.txHash &&
    clientAddress.toLowerCase().endsWith(payer.address.toLowerCase());
  const call = (await (await fetch(`${wire.url}${sale.feedbackPath}/transaction?value=90`)).json()) as { feedbackHash: Hex };
  if (!isSameSale || call.feedbackHash !== keccak256(stringToBytes(json))) throw new Error('the feedback file is of another sale');
}

interface FeedbackFile {
  clientAddress: string;
  proofOfPayment: { fromAddress: Address; toAddress: Address; txHash: Hex };
}

/** @throws what the client has thrown */
function getBought({ bought, error }: Attempt) {
  if (bought === null) throw error;
  return bought;
}
